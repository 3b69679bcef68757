package capture

import (
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
)

// A ring has the newest marks, oldest first, as they were made.
func TestRingKeepsTheNewest(t *testing.T) {
	r, want := new(ring), []mark(nil)
	for i := range 3*maxMarks + 7 {
		m := mark{at: time.Duration(i) * 1e12, lobby: uint32(i) ^ Port, arg: uint32(i), kind: kind(i % 7)}
		if m.kind == kindWith {
			m.kind = kindStage
		}
		r.add(m)
		if want = append(want, m); i == 9 && !slices.Equal(r.all(), want) {
			t.Errorf("got %v", r.all())
		}
	}
	if !slices.Equal(r.all(), want[len(want)-maxMarks:]) {
		t.Error("the marks are others")
	}
}

// In a large lobby connections share a reading of the clock, and the report names them together.
func TestConnectionsShareReadings(t *testing.T) {
	const lowest = 4096 - 9 // the last slots of the largest lobby
	for _, c := range []struct{ players, want int }{{1, 1}, {127, 1}, {128, 2}, {500, 4}, {1000, 8}} {
		r := &Recorder{begin: time.Now()}
		th := r.NewThread()
		l := th.Lobby(3)
		for n := range tick.Tick(2) { // the first tick says how many there are
			l.Enter(metrics.StageReceive)
			l.Enter(metrics.StageSnapshot)
			for slot := range 9 {
				l.Conn(slot + lowest)
			}
			l.Enter(metrics.StageIdle)
			th.Tick(&Tick{Lobby: l, Last: n, Ticks: 1, Players: c.players})
		}
		all := playedOf(th.ring.all(), 3)
		if len(all) != 2 || len(all[0].conns) != 9 {
			t.Fatalf("%d players: %+v", c.players, all)
		}
		next := uint32(lowest)
		for i, conns := range all[1].conns {
			if last := i == len(all[1].conns)-1; len(conns.slots) != c.want && !last {
				t.Errorf("%d players: %v", c.players, conns.slots)
			}
			for _, slot := range conns.slots {
				if slot != next {
					t.Errorf("%d players: slot %d, want %d", c.players, slot, next)
				}
				next++
			}
		}
		if e := (evidence{}); next != lowest+9 || len(e.slowest(&all[1], 1)[0].With) > c.want-1 {
			t.Errorf("%d players: %d connections", c.players, next)
		}
	}
}
