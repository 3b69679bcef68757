package host

import (
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
)

// maxPhases is the number of instants in a period at which lobbies play. The lobbies of a phase read
// the socket once, and their datagrams leave together.
const maxPhases = 8

// longTick is the part of a period from which a tick is long: other lobbies would be late behind it.
// Such a lobby has phases for itself, as many as its ticks take, and the others play in the rest.
const longTick = 1. / 12

// tickTime is how long the ticks of a lobby take: a mean, and its mean deviation.
type tickTime struct{ mean, deviation time.Duration }

func (t *tickTime) add(took time.Duration) {
	if t.mean == 0 {
		t.mean = took
	}
	d := took - t.mean
	t.mean += d / 16
	t.deviation += (max(d, -d) - t.deviation) / 16
}

// most is what hardly a tick takes longer than.
func (t *tickTime) most() time.Duration { return t.mean + 3*t.deviation }

// phasePlan is which phases of a rate are for one lobby each.
type phasePlan struct {
	rate  tick.Rate
	taken uint8 // bit by phase
}

// insert gives a lobby to the loop that has played in none. now is the clock of the worker.
func (l *loop) insert(now time.Duration, x *hosted) {
	l.setPhase(x, l.freePhase(l.work(), x.rates.Simulation), now)
	x.pace.second = now + time.Second + time.Duration(len(l.lobbies))*10*time.Millisecond%time.Second
	l.add(x)
}

// adopt gives a lobby to the loop that has played in another one. It keeps its clock, unless its
// phase is crowded here.
func (l *loop) adopt(x *hosted) {
	x.pace.phases = 0
	if phase, better := l.betterPhase(x, l.work()); better {
		l.changePhase(x, phase)
	}
	l.add(x)
}

// betterPhase returns a phase for a lobby that is not taken and has less work.
func (l *loop) betterPhase(x *hosted, work [maxPhases]int) (phase int, better bool) {
	phase = l.freePhase(work, x.rates.Simulation)
	own := x.work()
	return phase, l.taken(x.rates.Simulation)>>x.pace.phase&1 != 0 || work[x.pace.phase] > work[phase]+own
}

// setPhase gives a lobby a clock of a phase, first due within two periods of an instant.
func (l *loop) setPhase(x *hosted, phase int, from time.Duration) {
	x.pace.phase = phase
	offset := time.Duration(phase) * x.rates.Simulation.Period() / maxPhases
	x.pace.ticks = newClockAt(x.rates, offset, from)
}

// changePhase puts a lobby that plays on another phase. Its next tick is up to a period later.
func (l *loop) changePhase(x *hosted, phase int) {
	timescale := x.pace.ticks.timescale
	l.setPhase(x, phase, x.pace.ticks.Due()-x.pace.ticks.Period())
	x.pace.ticks.Dilate(timescale)
}

// work is how much a lobby may have to do: slots played in a second. Any goroutine may call it.
func (x *hosted) work() int { return x.slots * int(x.rates.Simulation) }

// work is the work of the lobbies by phase.
func (l *loop) work() (work [maxPhases]int) {
	for _, x := range l.lobbies {
		work[x.pace.phase] += x.work()
	}
	return work
}

// freePhase returns the phase with the least work that is not taken. Few lobbies share few phases:
// each phase costs a wake-up.
func (l *loop) freePhase(work [maxPhases]int, rate tick.Rate) int {
	taken, best := l.taken(rate), -1
	left := min(maxPhases, 1+len(l.lobbies)/4)
	for phase := 0; phase < maxPhases && left > 0; phase++ {
		if taken>>phase&1 != 0 {
			continue
		}
		if left--; best < 0 || work[phase] < work[best] {
			best = phase
		}
	}
	return best
}

// taken is which phases of a rate are for one lobby each; never all.
func (l *loop) taken(rate tick.Rate) uint8 {
	for _, p := range l.plans {
		if p.rate == rate {
			return p.taken
		}
	}
	return 0
}

// arrange gives phases to the lobbies whose ticks are long, and moves the others out of these. It runs
// once a second, between ticks. Lobbies of other rates drift through all phases, as do those whose
// time is dilated.
func (l *loop) arrange() {
	before := l.allTaken()
	l.plans = l.plans[:0]
	for i, x := range l.lobbies {
		n := x.phasesNeeded()
		x.pace.long, x.pace.phases = n > 0, 0
		if n == 0 || len(l.lobbies) == 1 || !x.onGrid() {
			continue
		}
		if phase, ok := l.take(x.rates.Simulation, n); ok {
			x.pace.phases = n
			if phase != x.pace.phase {
				l.changePhase(x, phase)
				l.due[i] = x.pace.ticks.Due()
			}
		}
	}
	if len(l.plans) == 0 && before == 0 {
		return
	}
	work, crowded := l.work(), l.allTaken() != before
	for i, x := range l.lobbies {
		if x.pace.phases > 0 || !x.onGrid() || !crowded && l.taken(x.rates.Simulation)>>x.pace.phase&1 == 0 {
			continue
		}
		if phase, better := l.betterPhase(x, work); better {
			work[x.pace.phase] -= x.work()
			work[phase] += x.work()
			l.changePhase(x, phase)
			l.due[i] = x.pace.ticks.Due()
		}
	}
}

// allTaken sums the taken phases of all rates up.
func (l *loop) allTaken() (n int) {
	for _, p := range l.plans {
		n += bits.OnesCount8(p.taken)
	}
	return n
}

// onGrid reports whether the lobby keeps to its phase.
func (x *hosted) onGrid() bool {
	return !x.pace.asleep && x.pace.ticks.timescale == protocol.FullTimescale
}

// phasesNeeded is how many phases the ticks of a lobby take; 0 if they are short. It falls late: a
// lobby that changes its phase plays one tick late.
func (x *hosted) phasesNeeded() int {
	period := float64(x.rates.Simulation.Period())
	most := float64(x.pace.took.most()) / period
	long := longTick
	if x.pace.long {
		long /= 2
	}
	if most < long {
		return 0
	}
	n := int(1.25*most*maxPhases) + 1
	if slack := int(1.6*most*maxPhases) + 1; slack >= x.pace.phases {
		n = max(n, x.pace.phases)
	}
	return n
}

// take takes the next n phases of a rate for a lobby. One phase is left for the others.
func (l *loop) take(rate tick.Rate, n int) (phase int, ok bool) {
	i := 0
	for i < len(l.plans) && l.plans[i].rate != rate {
		i++
	}
	if i == len(l.plans) {
		l.plans = append(l.plans, phasePlan{rate: rate})
	}
	p := &l.plans[i]
	if phase = bits.Len8(p.taken); phase+n >= maxPhases {
		return 0, false
	}
	p.taken |= uint8(1<<n-1) << phase
	return phase, true
}

// newClockAt returns a clock on the grid of all clocks with the same rate and offset, so that they
// are due at the same instants. Its first tick is due within two periods.
func newClockAt(cfg ClockConfig, offset, now time.Duration) *Clock {
	c := NewClock(cfg, offset)
	if now > offset {
		c.count = 1 + tick.Tick((now-offset)/cfg.Simulation.Period())
	}
	return c
}
