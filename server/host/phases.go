package host

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
)

// maxPhases is the number of instants in a period at which lobbies play. The lobbies of a phase read
// the socket once, and their datagrams leave together.
const maxPhases = 8

// longTick is the part of the grid's period from which a tick is long: other lobbies would be late
// behind it. Such a lobby has phases for itself, as many as its ticks take, and the others play in the
// rest.
const longTick = 1. / 12

// fullPhases is the part of the free phases that short ticks may take before they all begin in the
// first of these: in phases that are nearly full each would be late behind the one before.
const fullPhases = 0.4

// longShare is the part of the time left by short ticks that a long one may take, before its lobby
// sheds load.
const longShare = 0.75

// tickTime is how long the ticks of a lobby take: a mean, and its mean deviation.
type tickTime struct{ mean, deviation time.Duration }

// add takes the time of a tick. A stall of the machine in one tick does not make the lobby's ticks
// long.
func (t *tickTime) add(took time.Duration) {
	if t.mean == 0 {
		t.mean = took
	}
	took = min(took, 3*t.most())
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
	full  bool  // short ticks have the first free phase only
}

// closed is the phases without short ticks.
func (p *phasePlan) closed() uint8 {
	if p.full {
		return ^(1 << bits.Len8(p.taken))
	}
	return p.taken
}

// window is when a long tick may begin that has phases of another rate. The zero value means at any
// time.
type window struct {
	rate   tick.Rate
	from   time.Duration // of each period
	length time.Duration // up to the end of the phases, less what hardly a tick takes longer than
	until  time.Duration // start that a tick waits for; 0: none does
}

// next is when a tick that is due may begin: now, or the start of the window that it has to wait for.
// Then it begins even if the worker comes late.
func (w *window) next(now time.Duration) time.Duration {
	if w.rate == 0 || w.until > 0 && now >= w.until {
		w.until = 0
		return now
	}
	if w.until = w.from; now >= w.from {
		n, _ := w.rate.Since(now - w.from)
		if now-w.from-w.rate.At(n) <= w.length {
			w.until = 0
			return now
		}
		w.until += w.rate.At(n + 1)
	}
	return w.until
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
	x.pace.phases, x.pace.window, x.pace.limit = 0, window{}, 0
	if phase, better := l.betterPhase(x, l.work()); better {
		l.changePhase(x, phase)
	}
	l.add(x)
}

// betterPhase returns a phase for a lobby that is not taken and has less work.
func (l *loop) betterPhase(x *hosted, work [maxPhases]int) (phase int, better bool) {
	phase = l.freePhase(work, x.rates.Simulation)
	own := x.work()
	return phase, l.closed(x.rates.Simulation)>>x.pace.phase&1 != 0 || work[x.pace.phase] > work[phase]+own
}

// setPhase gives a lobby a clock of a phase, first due within two periods of an instant.
func (l *loop) setPhase(x *hosted, phase int, from time.Duration) {
	x.pace.phase = phase
	offset := time.Duration(phase) * x.rates.Simulation.Period() / maxPhases
	x.pace.ticks = newClockAt(x.rates, offset, from)
}

// setSoonest gives a lobby that has stood still the phase that begins next.
func (l *loop) setSoonest(x *hosted, now time.Duration) {
	period, closed := x.rates.Simulation.Period(), l.closed(x.rates.Simulation)
	best, phase := 2*period, x.pace.phase
	for p := range maxPhases {
		if closed>>p&1 != 0 {
			continue
		}
		offset := time.Duration(p) * period / maxPhases
		if wait := newClockAt(x.rates, offset, max(0, now-period)).Due() - now; wait >= 0 && wait < best {
			best, phase = wait, p
		}
	}
	l.setPhase(x, phase, max(0, now-period))
	_ = x.pace.ticks.Resume(now)
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

// freePhase returns the phase with the least work that is not closed. Few lobbies share few phases:
// each phase costs a wake-up.
func (l *loop) freePhase(work [maxPhases]int, rate tick.Rate) int {
	closed, best := l.closed(rate), -1
	left := min(maxPhases, 1+len(l.lobbies)/4)
	for phase := 0; phase < maxPhases && left > 0; phase++ {
		if closed>>phase&1 != 0 {
			continue
		}
		if left--; best < 0 || work[phase] < work[best] {
			best = phase
		}
	}
	return best
}

// Phases returns the phase, 0 to 7, of each of n equal lobbies with short ticks that a worker gets one
// after another: an eighth of a tick's period lies between two phases.
func Phases(n int) (phases []int) {
	l := loop{}
	for range n {
		x := &hosted{slots: 1, rates: ClockConfig{Simulation: 1}}
		x.pace.phase = l.freePhase(l.work(), 1)
		l.lobbies = append(l.lobbies, x)
		phases = append(phases, x.pace.phase)
	}
	return phases
}

// closed is the phases of a rate without short ticks; never all.
func (l *loop) closed(rate tick.Rate) uint8 {
	for i := range l.plans {
		if l.plans[i].rate == rate {
			return l.plans[i].closed()
		}
	}
	return 0
}

// grid is the rate of most of the work in short ticks, which long ones must not make late. 0: there
// is none.
func (l *loop) grid() (rate tick.Rate) {
	var work [tick.MaxRate + 1]int
	for _, x := range l.lobbies {
		if !x.pace.long && !x.pace.asleep {
			r := x.rates.Simulation
			if work[r] += x.work(); work[r] > work[rate] {
				rate = r
			}
		}
	}
	return rate
}

// arrange gives phases to the lobbies whose ticks are long, and moves the others out of these. It runs
// once a second, between ticks. Long ticks of another rate than the grid's, or of a match whose time
// is dilated, wait for their phases; short ones drift through all of them.
func (l *loop) arrange() {
	full := slices.ContainsFunc(l.plans, func(p phasePlan) bool { return p.full })
	before := l.allClosed()
	l.plans = l.plans[:0]
	grid := l.grid()
	for i, x := range l.lobbies {
		rate := cmp.Or(grid, x.rates.Simulation)
		n := x.phasesNeeded(rate.Period())
		x.pace.long, x.pace.phases, x.pace.window, x.pace.limit = n > 0, 0, window{}, 0
		if n == 0 || len(l.lobbies) == 1 || x.pace.asleep {
			continue
		}
		phase, ok := l.take(rate, n)
		if !ok {
			continue
		}
		x.pace.phases = n
		if own := rate == x.rates.Simulation && x.onGrid(); !own {
			part := rate.Period() / maxPhases
			x.pace.window = window{rate: rate, from: time.Duration(phase) * part,
				length: max(time.Duration(n)*part-x.pace.took.most(), part/2)}
		} else if phase != x.pace.phase {
			l.changePhase(x, phase)
			l.due[i] = x.pace.ticks.Due()
		}
	}
	if len(l.plans) == 0 && before == 0 {
		return
	}
	if share, work := l.shortTicks(grid); grid != 0 {
		l.fill(grid, share, full)
		l.limit(grid, share, work)
	}
	l.spread(l.allClosed() != before)
}

// shortTicks is the share of the processor and the work of the short ticks of the grid.
func (l *loop) shortTicks(grid tick.Rate) (share float64, work int) {
	for _, x := range l.lobbies {
		if !x.pace.long && !x.pace.asleep && x.rates.Simulation == grid {
			share += x.pace.share
			work += x.work()
		}
	}
	return share, work
}

// fill says whether the short ticks of the grid, which take a share of the processor, have one phase
// only. full: they had.
func (l *loop) fill(grid tick.Rate, share float64, full bool) {
	i := slices.IndexFunc(l.plans, func(p phasePlan) bool { return p.rate == grid })
	if i < 0 {
		return
	}
	limit := fullPhases * (1 - float64(bits.OnesCount8(l.plans[i].taken))/maxPhases)
	if full {
		limit *= 0.8
	}
	l.plans[i].full = share > limit
}

// limit bounds the long ticks of lobbies with less work than the short ticks of the grid have
// together: they have to fit into a period of it beside these. Several long ones have parts by their
// length.
func (l *loop) limit(grid tick.Rate, share float64, work int) {
	var all time.Duration
	for _, x := range l.lobbies {
		if x.pace.long && !x.pace.asleep {
			all += x.pace.took.mean
		}
	}
	for _, x := range l.lobbies {
		if x.pace.long && !x.pace.asleep && x.work() < work && all > 0 {
			part := float64(x.pace.took.mean) / float64(all)
			x.pace.limit = time.Duration(longShare * max(1-share, 0.1) * part * float64(grid.Period()))
		}
	}
}

// spread moves the lobbies of short ticks out of closed phases, or, if phases have changed, to those
// with the least work.
func (l *loop) spread(changed bool) {
	work := l.work()
	for i, x := range l.lobbies {
		if x.pace.phases > 0 || !x.onGrid() || !changed && l.closed(x.rates.Simulation)>>x.pace.phase&1 == 0 {
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

// allClosed sums the closed phases of all rates up.
func (l *loop) allClosed() (n int) {
	for i := range l.plans {
		n += bits.OnesCount8(l.plans[i].closed())
	}
	return n
}

// onGrid reports whether the lobby keeps to its phase.
func (x *hosted) onGrid() bool {
	return !x.pace.asleep && x.pace.ticks.timescale == protocol.FullTimescale
}

// phasesNeeded is how many phases of the grid's period the ticks of a lobby take; 0 if they are
// short. It falls late: a lobby that changes its phase plays one tick late.
func (x *hosted) phasesNeeded(period time.Duration) int {
	most := float64(x.pace.took.most()) / float64(period)
	long := longTick
	if x.pace.long {
		long /= 2
	}
	if most < long {
		return 0
	}
	n := int(1.25*most*maxPhases) + 1
	if mean := float64(x.pace.took.mean) / float64(period); n >= maxPhases && 1.25*mean*maxPhases < maxPhases-1 {
		return maxPhases - 1 // most of its ticks end in time
	}
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
