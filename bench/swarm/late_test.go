package swarm

import (
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
)

// Slots that are left out are late in both schedules, each by what it would have been, and in the
// swarm's own by no more than the work that it does. Slots that the backup played are not skipped.
func TestGiveUp(t *testing.T) {
	const gone = slots + 4 // slots: more than a tick
	period := (&Swarm{cfg: Config{Rate: 60}}).period()
	for i, c := range []struct {
		taken, work, most, ownMost time.Duration
		played                     int64
	}{
		{0, period / 10, (gone - 1) * period, (gone - 1) * period, 0},
		{gone * period, period / 10, (gone - 1) * period, period / 10, 0},
		// 3, 4, 5 ... of work, until it is what they were late by: gone-1, gone-2 ...
		{gone * period, 2 * period, (gone - 1) * period, (gone + 2) / 2 * period, 0},
		{0, period / 10, (gone - 6) * period, (gone - 6) * period, 6},
		{0, period / 10, 0, 0, gone + 10},
	} {
		s := &Swarm{Figures: newFigures(), cfg: Config{Rate: 60}, driver: driver{slot: 1},
			players: make([]player, 4*slots)}
		s.sender.s = s
		s.passes.queue.begin(c.played, 3)
		f, due := &s.Figures, 1*period
		begun := due + gone*period
		s.driver.corrected.Begin(due, begun, c.taken)
		s.driver.corrected.Work(begun+c.work, 0)
		s.skipSlots(due, begun)
		s.gather(&s.sender)
		left := min(gone, gone+1-c.played)
		passes := uint64(4 * max(left, 0))
		if s.driver.slot != gone+1 || f.Passes != passes || f.Late.Count() != int64(passes) ||
			f.StealCorrected.Count() != int64(passes) || f.Played.Count() != 0 {
			t.Errorf("%d: slot %d, %d passes, %d and %d latenesses",
				i, s.driver.slot, f.Passes, f.Late.Count(), f.StealCorrected.Count())
		}
		if want := uint64(4 * max(left-1-slots/2, 0)); f.LatePasses != want {
			t.Errorf("%d: %d passes were over half a tick late, want %d", i, f.LatePasses, want)
		}
		if f.Late.Max() != int64(c.most) || f.StealCorrected.Max() != int64(c.ownMost) {
			t.Errorf("%d: late by %d at most and by itself by %d, want %d and %d",
				i, f.Late.Max(), f.StealCorrected.Max(), c.most, c.ownMost)
		}
	}
	s := &Swarm{Figures: newFigures(), cfg: Config{Rate: 60}, driver: driver{slot: 1}}
	if s.skipSlots(period, period+slots*period); s.driver.slot != 1 || s.Figures.Passes != 0 {
		t.Errorf("a tick can be made up for: slot %d, %d left out", s.driver.slot, s.Figures.Passes)
	}
}

// A swarm that is late sends for a tick before it receives, and then receives all the same.
func TestLateSwarmStillListens(t *testing.T) {
	f, say := talker(t)
	heard := 0
	s := &Swarm{driver: driver{pacer: clock.New()}, cfg: Config{Rate: 60},
		sockets: sockets{pools: []*netio.ClientPool{f},
			handlers: []func(int, []byte){func(int, []byte) { heard++ }}}}
	defer runtime.UnlockOSThread()
	say()
	tick := s.cfg.Rate.Period()
	for range 3 {
		if s.receiveUntil(0, tick/4); heard != 0 { // the instant is past
			t.Fatalf("received after %v of sending", s.driver.debt)
		}
	}
	for n := 0; heard == 0; n++ {
		if s.receiveUntil(0, tick/4); n == 1000 {
			t.Fatalf("deaf after %v of sending", s.driver.debt)
		}
	}
	for n := 0; s.driver.debt > 0; n++ { // until a look found nothing more
		if s.receiveUntil(0, tick/4); n == 1000 {
			t.Fatalf("owes %v", s.driver.debt)
		}
	}
	if say(); !s.poll(s.driver.pacer.Now()+time.Minute) || heard != 2 {
		t.Errorf("heard %d", heard)
	}
}

// Bursts are run delays of at least Burst; late wake-ups count separately.
func TestRunDelay(t *testing.T) {
	var a RunDelay
	for _, d := range []time.Duration{0, Burst - 1, Burst, 3 * time.Millisecond, 0, 100} {
		a.add(d)
	}
	a.addWake(Burst - 1)
	a.addWake(2 * Burst)
	a.addWake(-Burst)
	want := RunDelay{All: 2*Burst - 1 + 3*time.Millisecond + 100, Bursts: 2,
		InBursts: Burst + 3*time.Millisecond, Longest: 3 * time.Millisecond,
		LateWakes: 1, Overslept: 2 * Burst}
	if a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
}
