package host

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// A clock that resumes is due within a period, on its grid, and neither plays nor skips what was due
// in the pause.
func TestClockResumes(t *testing.T) {
	cfg, _, err := ClockConfig{Simulation: 60}.Check()
	if err != nil {
		t.Fatal(err)
	}
	c, still := NewClock(cfg, 0), NewClock(cfg, 0)
	for _, now := range []time.Duration{time.Second, time.Hour, 100 * time.Hour, 1000 * time.Hour} {
		c.Resume(now)
		if due := c.Due(); due <= now || due > now+c.Period()+time.Nanosecond {
			t.Errorf("at %v the next tick is due in %v", now, due-now)
		}
		if steps, _, skipped := c.Frame(now); steps != 0 || skipped != 0 {
			t.Errorf("%d steps and %d skipped at %v", steps, skipped, now)
		}
	}
	if n := still.Resume(10 * time.Second); n != 600 || c.Skipped != 0 || c.Stalls != 0 {
		t.Errorf("%d ticks left out, %d skipped", n, c.Skipped)
	}
}

// A lobby plays on without a burst of ticks, however long it has slept and wherever in a period it wakes.
func TestNoBurstAfterSleep(t *testing.T) {
	s, all := newLoopSim(1, simtest.New(t, server.Config{Players: 2}, 0).Lobby)
	x := all[0]
	for i := range 100 {
		s.play(time.Second, nil)
		x.pace.asleep, s.asleep = true, 1
		s.now += time.Duration(i) * 777 * time.Millisecond
		s.wake(s.now, x)
	}
	if c := x.pace.ticks; c.Skipped+c.Caught > 0 || x.pace.asleep || s.asleep != 0 {
		t.Errorf("%d ticks skipped, %d caught up", c.Skipped, c.Caught)
	}
	const want = 4950 * 777 * 128 / 1000 // 0 to 99 times 777 ms
	if n := int(x.lobby.Stats.Count[metrics.TicksSlept].Load()); n < want-100 || n > want+100 {
		t.Errorf("%d ticks slept, want %d", n, want)
	}
}

// Empty lobbies of a host have a turn a second. A client wakes its own, which plays on, while the others
// sleep on.
func TestEmptyLobbiesSleep(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 3, 3)
	cfg.Lobby.SleepWhenEmpty = true
	h, stop := running(t, cfg)
	defer stop()
	slept := func(l *server.Lobby) uint64 { return l.Stats.Count[metrics.TicksSlept].Load() }
	eventually(t, "lobbies sleep", func() bool {
		for _, x := range *h.list.Load() {
			if slept(x.lobby) < 60 {
				return false
			}
		}
		return true
	})
	x := (*h.list.Load())[0]
	if n := x.schedule.Wall.Count(); uint64(n) > slept(x.lobby)/10 {
		t.Errorf("%d turns for %d ticks that were slept", n, slept(x.lobby))
	}
	y := (*h.list.Load())[2]
	began := y.schedule.Wall.Count()
	c := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: y.id()}))
	defer c.Close()
	c.until("a welcome", c.welcomed)
	c.until("ticks are played", func() bool { return y.schedule.Wall.Count() > began+30 })
	if n := x.schedule.Wall.Count(); uint64(n) > slept(x.lobby)/10 {
		t.Errorf("%d turns for %d ticks that were slept", n, slept(x.lobby))
	}
}
