package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
)

// maxPhases is the number of instants in a period at which lobbies play. The lobbies of a phase read
// the socket once, and their datagrams leave together.
const maxPhases = 8

// idleWake is how often a host without lobbies reads its socket.
const idleWake = 10 * time.Millisecond

// loop plays the lobbies of a host. All but lobbies belongs to the goroutine of Run.
type loop struct {
	lobbies []*hosted       // by ID
	due     []time.Duration // when each plays next
	turns   []turn          // of the phase in hand
	batch   []server.Due
	load    loopLoad
}

// turn is what a lobby has to play now.
type turn struct {
	*hosted
	steps int
	late  time.Duration
}

// loopLoad is how busy the loop is.
type loopLoad struct {
	busy  time.Duration // in this second
	share float64       // of the last second, 0 to 1
	spare spareTime
}

// crowded is the share of the processor from which a lobby may take no more than its part.
const crowded = 0.75

// slice is the time that a lobby may take for a tick: the whole period while the loop has time to
// spare, else its part of the period. A lobby that needs more is the one that has to leave
// something out, before its neighbours are late.
func (l *loop) slice(period time.Duration) time.Duration {
	if l.load.share < crowded {
		return period
	}
	return period / time.Duration(max(1, len(l.lobbies)))
}

// insert gives a lobby to the loop. now is the clock of the loop.
func (l *loop) insert(now time.Duration, x *hosted) {
	x.pace.phase = l.freePhase()
	offset := time.Duration(x.pace.phase) * x.rates.Simulation.Period() / maxPhases
	x.pace.ticks = newClockAt(x.rates, offset, now)
	x.pace.second = now + time.Second + time.Duration(len(l.lobbies))*10*time.Millisecond%time.Second
	i, _ := slices.BinarySearchFunc(l.lobbies, x.id(), func(y *hosted, id uint32) int {
		return int(y.id()) - int(id)
	})
	l.lobbies = slices.Insert(slices.Clone(l.lobbies), i, x)
	l.due = slices.Insert(l.due, i, x.pace.ticks.Due())
}

// remove takes a lobby from the loop.
func (l *loop) remove(x *hosted) {
	if i := slices.Index(l.lobbies, x); i >= 0 {
		l.lobbies = slices.Delete(slices.Clone(l.lobbies), i, i+1)
		l.due = slices.Delete(l.due, i, i+1)
	}
}

// freePhase returns the phase with the fewest slots to play. Few lobbies share few phases: each
// phase costs a wake-up.
func (l *loop) freePhase() int {
	var work [maxPhases]int
	for _, x := range l.lobbies {
		work[x.pace.phase] += x.lobby.Config().Players * int(x.rates.Simulation)
	}
	phases := min(maxPhases, 1+len(l.lobbies)/4)
	best := 0
	for phase := range phases {
		if work[phase] < work[best] {
			best = phase
		}
	}
	return best
}

// next is when the loop has to wake.
func (l *loop) next(now time.Duration) time.Duration {
	if len(l.due) == 0 {
		return now + idleWake
	}
	return slices.Min(l.due)
}

// collect gathers the turns of the lobbies that are due.
func (h *Host) collect(now time.Duration) {
	l := &h.loop
	l.turns = l.turns[:0]
	for i, due := range l.due {
		if due > now {
			continue
		}
		x := l.lobbies[i]
		steps, late, skipped := x.pace.ticks.Frame(now)
		x.schedule.Frame(x.pace.ticks.Period(), late, steps, skipped)
		h.logStall(x, late, skipped)
		x.schedule.Begin(h.since())
		l.due[i] = x.pace.ticks.Due()
		l.turns = append(l.turns, turn{x, steps, late})
	}
}

// play plays the lobbies until ctx ends, the operator quits, or an error.
func (h *Host) play(ctx context.Context, pacer *clock.Pacer) (err error) {
	l := &h.loop
	for now, second := pacer.Now(), pacer.Now()+time.Second; ctx.Err() == nil && err == nil &&
		!h.console.quit; {
		now = pacer.Until(l.next(now))
		wall := time.Now()
		h.collect(now)
		if err = h.playTurns(pacer, wall.Unix()); err == nil {
			err = h.endLeaving(pacer.Now())
		}
		ended := pacer.Now()
		l.load.busy += ended - now
		l.load.spare.add(ended, ended-now, h.netcode())
		for _, t := range l.turns {
			if now >= t.pace.second {
				t.pace.second += time.Second
				h.contained(now, t.hosted, func() { h.publish(t.hosted) })
			}
		}
		clear(l.turns[:cap(l.turns)]) // they keep no lobby that has ended
		clear(l.batch[:cap(l.batch)])
		if now >= second {
			second += time.Second
			l.load.share, l.load.busy = l.load.busy.Seconds(), 0
			h.everySecond(now, wall)
		}
	}
	return err
}

// playTurns plays the turns of a phase. Lobbies that are behind play several rounds.
func (h *Host) playTurns(pacer *clock.Pacer, unix int64) error {
	l := &h.loop
	for first := true; !h.console.quit; first = false {
		l.batch = l.batch[:0]
		for i := range l.turns {
			if t := &l.turns[i]; t.steps > 0 && t.pace.leaving == 0 {
				n := min(t.steps, t.rates.MaxBatch)
				l.batch = append(l.batch, server.Due{Lobby: t.lobby, Ticks: n})
			}
		}
		if len(l.batch) == 0 && (!first || h.port == nil) {
			return nil
		}
		began := pacer.Now()
		if h.port == nil {
			err := h.playAlone(began, unix, l.batch[0].Ticks)
			l.batch[0].Took = pacer.Now() - began
			if err != nil {
				return err
			}
		} else if err := h.playShared(began, unix); err != nil {
			return err
		}
		h.measure(began)
	}
	return nil
}

// playShared plays the lobbies of the batch.
func (h *Host) playShared(now time.Duration, unix int64) error {
	h.runConsole(now)
	err := h.port.Ticks(now, unix, h.sock, h.loop.batch)
	h.endFaulty()
	h.encoder.flush()
	for f, ok := h.encoder.fault(); ok; f, ok = h.encoder.fault() {
		h.logFault(f.of, f.value, f.stack)
		if h.find(f.of.id()) == f.of { // else it has ended already
			h.port.Remove(now, f.of.lobby, packet.ReasonFault)
			h.drop(f.of)
		}
	}
	return err
}

// endFaulty ends the lobbies that have panicked.
func (h *Host) endFaulty() {
	for _, fault := range h.port.TakeFaults() {
		if x := h.find(fault.Lobby.ID()); x != nil {
			h.logFault(x, fault.Value, fault.Stack)
			h.drop(x)
		}
	}
}

// measure takes the times of the batch that was played.
func (h *Host) measure(began time.Duration) {
	l, i := &h.loop, 0
	for k := range l.turns {
		t := &l.turns[k]
		if i == len(l.batch) || l.batch[i].Lobby != t.lobby {
			continue
		}
		n := l.batch[i].Ticks
		took, period := l.batch[i].Took/time.Duration(n), t.pace.ticks.Period()
		i++
		t.steps -= n
		t.schedule.Wall.Record(int64(took))
		if took > period {
			t.schedule.Overruns.Inc()
		}
		h.contained(began, t.hosted, func() {
			t.dash.Tick(began, t.late, took)
			if level, changed := t.pace.load.Tick(took, l.slice(period)); changed {
				h.setLevel(t.hosted, level)
			}
		})
	}
}

// endLeaving ends the lobbies that are to end, once their players are told: some players of each at
// a time, since the buffer of the socket is small.
func (h *Host) endLeaving(now time.Duration) error {
	for _, x := range h.loop.lobbies {
		if x.pace.leaving == 0 {
			continue
		}
		var more bool
		var err error
		if !h.port.Do(now, x.lobby, func() { more, err = x.lobby.CloseSome(now, h.sock, x.pace.leaving) }) {
			h.endFaulty()
			continue
		}
		if err != nil {
			return err
		}
		if !more {
			h.port.Remove(now, x.lobby, x.pace.leaving)
			fmt.Fprintf(h.log, "lobby %s ended\n", x.name())
			h.drop(x)
		}
	}
	return nil
}

// drop forgets a lobby that the port has forgotten.
func (h *Host) drop(x *hosted) {
	h.loop.remove(x)
	if h.publishList(); x == h.first {
		h.first = nil
	}
	h.finish(x)
}

// find returns a lobby by its ID, nil if there is none.
func (h *Host) find(id uint32) *hosted {
	for _, x := range h.loop.lobbies {
		if x.id() == id {
			return x
		}
	}
	return nil
}

// disconnectAll tells every player that the lobbies end, some at a time: the buffer of the socket is
// small. After a fault of a lobby this may fault too.
func (h *Host) disconnectAll(pacer *clock.Pacer, ended error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("not every player was told: %v", fault)
		}
	}()
	reason := packet.ReasonClosing
	if errors.Is(ended, errFault) {
		reason = packet.ReasonFault
	}
	for _, x := range h.loop.lobbies {
		for more := true; more && err == nil; pacer.Until(pacer.Now() + time.Millisecond) {
			more, err = x.lobby.CloseSome(pacer.Now(), h.sock, reason)
		}
	}
	return err
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
