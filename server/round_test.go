package server

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// The end of a phase or the capture of a point is sent in its tick. Values that may change in
// every tick are sent a few times a second.
func TestRoundStatusIsDue(t *testing.T) {
	const second = 60
	was := sim.RoundStatus{Phase: mode.Active, Winner: mode.NoWinner, Points: 3, Tick: 1000, Left: 5000}
	for i, c := range []struct {
		change func(*sim.RoundStatus)
		after  tick.Tick // it is due then, and not before
	}{
		{func(s *sim.RoundStatus) { s.Phase = mode.Ended }, 1},
		{func(s *sim.RoundStatus) { s.Winner = 1 }, 1},
		{func(s *sim.RoundStatus) { s.Point = 1 }, 1},
		{func(s *sim.RoundStatus) { s.Round = 1 }, 1},
		{func(s *sim.RoundStatus) { s.Waiting = true }, 1},
		{func(s *sim.RoundStatus) { s.Score[1]++ }, second / 4},
		{func(s *sim.RoundStatus) { s.Status = mode.Contested }, second / 4},
		{func(s *sim.RoundStatus) { s.Progress++ }, second},
		{func(s *sim.RoundStatus) { s.Players[0]++ }, second},
		{func(s *sim.RoundStatus) { s.Left-- }, 5 * second},
	} {
		r := roundNews{core: &core{cfg: Config{Rules: sim.Rules{Rate: second}}}, sent: was}
		for since := tick.Tick(1); since <= 6*second; since++ {
			s := was
			c.change(&s)
			s.Tick += since
			if due := r.due(&s); due != (since >= c.after) {
				t.Errorf("%d: after %d ticks due: %v, want it from %d on", i, since, due, c.after)
				break
			}
		}
	}
}

// Sending the state of a round allocates nothing.
func TestRoundAllocatesNothing(t *testing.T) {
	l := newTestLobby(t, Config{})
	l.joinedClient()
	r := &l.lobby.outbound.round
	r.sent = sim.RoundStatus{}
	if s := l.lobby.match.RoundStatus(); !l.lobby.outbound.round.due(&s) {
		t.Fatal("nothing to tell")
	}
	if n := alloctest.In(40, func() {
		r.sent = sim.RoundStatus{}
		r.send(0, l.lobby.chat.room)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
