package host

import (
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// sleepTurn is how often a lobby that is asleep has a turn, so that its figures stay those of a live
// lobby.
const sleepTurn = time.Second

// sleep puts the lobbies to sleep that were played now and are empty: each has a turn a second, until
// a client or an operator wakes it.
func (l *loop) sleep(now time.Duration) {
	for _, t := range l.turns {
		if t.pace.asleep || !t.lobby.Asleep() || t.dash.Watched() {
			continue
		}
		if i := slices.Index(l.lobbies, t.hosted); i >= 0 { // else it has ended
			t.pace.asleep, l.due[i] = true, now+sleepTurn
			l.asleep++
			t.lobby.Publish()
		}
	}
}

// rouse ends the sleep of a lobby.
func (l *loop) rouse(x *hosted) {
	if x.pace.asleep {
		x.pace.asleep = false
		l.asleep--
	}
}

// wake gives a lobby that is asleep its turns again. The ticks since count as slept, and none is
// played for them.
func (l *loop) wake(now time.Duration, x *hosted) {
	if i := slices.Index(l.lobbies, x); i >= 0 && x.pace.asleep {
		l.rouse(x)
		x.slept(x.pace.ticks.Resume(now))
		l.due[i] = x.pace.ticks.Due()
	}
}

// slept counts ticks as slept.
func (x *hosted) slept(n tick.Tick) { x.lobby.Stats.Count[metrics.TicksSlept].Add(uint64(n)) }

// visit gives a lobby that is asleep its turn of one tick.
func (l *loop) visit(now time.Duration, i int) {
	x := l.lobbies[i]
	l.rouse(x)
	x.slept(max(x.pace.ticks.Resume(now), 1) - 1) // the lobby counts the one that it plays
	l.due[i] = x.pace.ticks.Due()
	l.turns = append(l.turns, turn{hosted: x, steps: 1, due: now})
}

// wakeAll wakes the lobbies that have got sessions.
func (w *worker) wakeAll(now time.Duration, woken []*server.Lobby) {
	for _, l := range woken {
		if x := w.find(l.ID()); x != nil {
			w.loop.wake(now, x)
		}
	}
}
