package host

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
)

// loopSim plays the schedule of a loop in virtual time, with ticks of given lengths.
type loopSim struct {
	loop
	now    time.Duration
	rng    *rand.Rand
	took   map[*hosted]time.Duration // mean of a tick, without jitter
	second time.Duration
}

// join adds a lobby with ticks of a length.
func (s *loopSim) join(lobby *server.Lobby, rate tick.Rate, took time.Duration) *hosted {
	rates, _, err := ClockConfig{Simulation: rate}.Check()
	if err != nil {
		panic(err)
	}
	x := &hosted{lobby: lobby, rates: rates, slots: lobby.Config().Players}
	s.insert(s.now, x)
	s.took[x] = took
	return x
}

// play plays for a while, and returns how late the ticks of some lobbies were.
func (s *loopSim) play(d time.Duration, of []*hosted) (late []time.Duration) {
	for end := s.now + d; s.now < end; {
		s.now = max(s.now, s.next(s.now)) + time.Duration(s.rng.IntN(60_000))
		s.turns = s.turns[:0]
		for i, at := range s.due {
			if at <= s.now {
				x := s.lobbies[i]
				steps, behind, _ := x.pace.ticks.Frame(s.now)
				s.due[i] = x.pace.ticks.Due()
				s.turns = append(s.turns, turn{x, steps, behind})
				if slices.Contains(of, x) {
					late = append(late, behind)
				}
			}
		}
		for s.nextBatch(); len(s.batch) > 0; s.nextBatch() {
			for i := range s.batch {
				b := &s.batch[i]
				mean := s.took[s.turns[s.order[i]].hosted] * time.Duration(b.Ticks)
				b.Took = mean * time.Duration(80+s.rng.IntN(40)) / 100
				s.now += b.Took
				s.played(i)
			}
		}
		if s.now >= s.second {
			s.arrange()
			s.second = s.now + time.Second
		}
	}
	return late
}

func newLoopSim(quiet int, lobby *server.Lobby) (s *loopSim, all []*hosted) {
	s = &loopSim{rng: rand.New(rand.NewPCG(1, 2)), took: map[*hosted]time.Duration{}}
	for range quiet {
		all = append(all, s.join(lobby, 128, 50*time.Microsecond))
	}
	return s, all
}

func percentile99(late []time.Duration) time.Duration {
	slices.Sort(late)
	return late[len(late)*99/100]
}

// Forty lobbies of short ticks are as late beside one with long ticks as without it, whatever of the
// period that takes, and as ever once it has ended.
func TestQuietLobbiesAreNotLate(t *testing.T) {
	s, quiet := newLoopSim(40, simtest.New(t, server.Config{Players: 10}, 0).Lobby)
	large := simtest.New(t, server.Config{Players: 200}, 0).Lobby
	s.play(3*time.Second, nil)
	without := percentile99(s.play(10*time.Second, quiet))
	for _, took := range []time.Duration{time.Millisecond, 2500 * time.Microsecond, 4 * time.Millisecond} {
		x := s.join(large, 128, took)
		s.play(3*time.Second, nil)
		with := percentile99(s.play(10*time.Second, quiet))
		t.Logf("ticks of %v in %d phases: p99 %v, without %v", took, x.pace.phases, with, without)
		if 10*with > 11*without {
			t.Errorf("beside ticks of %v: p99 %v late, without them %v", took, with, without)
		}
		s.remove(x)
	}
	s.play(3*time.Second, nil)
	var phases [maxPhases]int
	for _, x := range quiet {
		phases[x.pace.phase]++
	}
	if slices.Min(phases[:]) < 4 || slices.Max(phases[:]) > 6 || len(s.plans) != 0 {
		t.Errorf("lobbies by phase afterwards: %v", phases)
	}
}

// Phases are taken for lobbies with long ticks one after another, one is always left, and a lobby that
// finds none shares those of the others. Where they are depends on the lobbies alone.
func TestPhasesOfLongTicks(t *testing.T) {
	s, quiet := newLoopSim(8, simtest.New(t, server.Config{Players: 10}, 0).Lobby)
	var long []*hosted
	for i, of := range []struct {
		rate tick.Rate
		took time.Duration
	}{{128, 2 * time.Millisecond}, {128, 1500 * time.Microsecond}, {128, 1900 * time.Microsecond},
		{60, 3 * time.Millisecond}} {
		lobby := simtest.New(t, server.Config{ID: uint32(1 + i), Players: 10}, 0).Lobby
		long = append(long, s.join(lobby, of.rate, of.took))
	}
	s.play(5*time.Second, nil)
	taken := s.taken(128)
	for _, x := range quiet {
		if taken>>x.pace.phase&1 != 0 || x.pace.long {
			t.Errorf("a short lobby plays in phase %d; taken %08b", x.pace.phase, taken)
		}
	}
	if a, b := long[0], long[1]; a.pace.phase != 0 || a.pace.phases < 3 || b.pace.phase != a.pace.phases ||
		long[2].pace.phases != 0 || !long[2].pace.long || taken == 0xff {
		t.Errorf("phases %d of %d, %d of %d, %d of %d; taken %08b", a.pace.phase, a.pace.phases, b.pace.phase,
			b.pace.phases, long[2].pace.phase, long[2].pace.phases, taken)
	}
	if s.taken(60) == 0 || long[3].pace.phases == 0 {
		t.Errorf("another rate: taken %08b", s.taken(60))
	}
	period, at := long[0].pace.ticks.Period(), long[0].pace.ticks.Due()
	s.play(5*time.Second, nil)
	moved := (long[0].pace.ticks.Due() - at) % period
	if moved = min(moved, period-moved); moved > time.Microsecond || s.taken(128) != taken {
		t.Errorf("the phases have moved: %08b, %08b; by %v", taken, s.taken(128), moved)
	}
}
