package host

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/overload"
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
		woke := s.now
		s.turns = s.turns[:0]
		for i, at := range s.due {
			if at <= s.now {
				x := s.lobbies[i]
				if s.due[i] = x.pace.window.next(s.now); s.due[i] > s.now {
					continue
				}
				steps, behind, _ := x.pace.ticks.Frame(s.now)
				s.due[i] = x.pace.ticks.Due()
				s.turns = append(s.turns, turn{hosted: x, steps: steps, late: behind})
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
		s.load.busy += s.now - woke
		if s.now >= s.second {
			s.measureShares(time.Second + s.now - s.second)
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

// Forty lobbies of short ticks are as late beside one with long ticks as without it, whatever its rate
// and its share of the period, and as ever once it has ended. The long tick waits for its phases for a
// period of theirs at most.
func TestQuietLobbiesAreNotLate(t *testing.T) {
	s, quiet := newLoopSim(40, simtest.New(t, server.Config{Players: 10}, 0).Lobby)
	large := simtest.New(t, server.Config{Players: 200}, 0).Lobby
	s.play(3*time.Second, nil)
	without := percentile99(s.play(10*time.Second, quiet))
	for _, rate := range []tick.Rate{128, 64, 60, 45} {
		for _, took := range []time.Duration{time.Millisecond, 2500 * time.Microsecond, 4 * time.Millisecond} {
			x := s.join(large, rate, took)
			s.play(3*time.Second, nil)
			with := percentile99(s.play(10*time.Second, quiet))
			own := percentile99(s.play(3*time.Second, []*hosted{x}))
			t.Logf("ticks of %v at %d Hz in %d phases, full %v: p99 %v, without %v; own %v", took, rate,
				x.pace.phases, s.plans[0].full, with, without, own)
			if 10*with > 11*without {
				t.Errorf("beside ticks of %v at %d Hz: p99 %v late, without them %v", took, rate, with, without)
			}
			if most := tick.Rate(128).Period() + time.Millisecond; own > most || rate == 128 && own > most/4 {
				t.Errorf("ticks of %v at %d Hz were %v late at p99", took, rate, own)
			}
			s.remove(x)
		}
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
	taken := s.closed(128)
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
	if x := long[3]; x.pace.phases != 0 || !x.pace.long || x.pace.window != (window{}) {
		t.Errorf("another rate: phases %d of %d, %+v", x.pace.phase, x.pace.phases, x.pace.window)
	}
	period, at := long[0].pace.ticks.Period(), long[0].pace.ticks.Due()
	s.play(5*time.Second, nil)
	moved := (long[0].pace.ticks.Due() - at) % period
	if moved = min(moved, period-moved); moved > time.Microsecond || s.closed(128) != taken {
		t.Errorf("the phases have moved: %08b, %08b; by %v", taken, s.closed(128), moved)
	}
}

// A lobby whose ticks do not fit beside those of forty others may take the time that these leave, and
// sheds load beyond that. Beside few others it may take its period.
func TestLongTicksAreLimited(t *testing.T) {
	small := simtest.New(t, server.Config{Players: 10}, 0).Lobby
	large := simtest.New(t, server.Config{Players: 200}, 0).Lobby
	for _, c := range []struct {
		quiet  int
		took   time.Duration
		limits bool
		sheds  bool
	}{{40, 2500 * time.Microsecond, true, false}, {40, 6 * time.Millisecond, true, true},
		{5, 6 * time.Millisecond, false, false}} {
		s, _ := newLoopSim(c.quiet, small)
		x := s.join(large, 60, c.took)
		s.play(4*time.Second, nil)
		slice, period := s.slice(x, 0), x.pace.ticks.Period()
		if limits, sheds := slice < period/2, slice < c.took; limits != c.limits || sheds != c.sheds {
			t.Errorf("%d lobbies beside ticks of %v: these may take %v of %v", c.quiet, c.took, slice, period)
		}
		x.pace.load.StartAt(overload.LowDetail)
		if got, want := s.slice(x, c.took), max(slice, c.took); got != want {
			t.Errorf("%d lobbies: on %v ticks of %v may take %v", c.quiet, overload.LowDetail, c.took, got)
		}
		s.remove(x)
		if s.play(2*time.Second, nil); s.slice(s.lobbies[0], 0) != s.lobbies[0].pace.ticks.Period() {
			t.Errorf("a short tick may take %v", s.slice(s.lobbies[0], 0))
		}
	}
}

// A tick of another rate begins in its phases only, while it has the time left, or when the worker comes
// late to their start.
func TestWindow(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ now, next time.Duration }{
		{0, 2 * ms}, {2 * ms, 2 * ms}, {5 * ms, 5 * ms}, {5*ms + 1, 12 * ms}, {11 * ms, 12 * ms},
		{12 * ms, 12 * ms}, {time.Hour + 6*ms, time.Hour + 12*ms},
	} {
		w := window{rate: 100, from: 2 * ms, length: 3 * ms}
		next := w.next(c.now)
		if next != c.next {
			t.Errorf("at %v: next at %v, want %v", c.now, next, c.next)
		}
		if late := next + 4*ms; next > c.now && w.next(late) != late || w.until != 0 {
			t.Errorf("waited until %v, and again at %v", next, late)
		}
	}
	if next := new(window).next(7 * ms); next != 7*ms {
		t.Errorf("without a window: next at %v", next)
	}
}
