package interpolate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/netstate"
)

// The view shows the first snapshot until the render clock has passed it: an older one that arrives
// late does not move it backwards.
func TestFirstSnapshotsOutOfOrder(t *testing.T) {
	var p Interpolator
	var clocks clock.Clocks
	clocks.Start(60, 3)
	p.Start(nil, 3)
	p.Arrived(693)
	clocks.Render.At = clocks.Rate.At(688)
	step := func() tick.View {
		clocks.Render.At += clocks.Rate.Period()
		p.FollowRender(&clocks)
		return p.View
	}
	first := tick.View{From: 693, To: 693}
	if v := step(); v != first {
		t.Fatalf("with one snapshot: %v", v)
	}
	p.Arrived(690)
	p.Arrived(696)
	for clocks.Render.At < clocks.Rate.At(692) {
		if v := step(); v != first {
			t.Fatalf("at %v: %v after %v", clocks.Render.At, v, first)
		}
	}
	clocks.Render.At = clocks.Rate.At(694) + time.Microsecond
	if p.FollowRender(&clocks); p.View.From != 693 || p.View.To != 696 {
		t.Errorf("behind the first: %v", p.View)
	}
}

// tell decodes a snapshot with one player in slot 3, at x.
func tell(p *Interpolator, at tick.Tick, x int32) rig.Pose {
	models := netstate.Trained()
	ring, e, k := snapshot.NewRing(netstate.Public, 16, 256, 1),
		snapshot.NewEncoder(models.Public, 16), snapshot.NewTracker(16, 3)
	frame, id := ring.Begin(at), netid.Make(3, 1)
	row := []int32{x, 0, 0, 0, 0, 1, 100, 0, 0, 0, 0, 0}
	frame.Set(3, id, row)
	e.Begin(frame, ring)
	k.Advance(at)
	var pack snapshot.Packer
	pack.BeginRows(e, k, []uint64{1 << 3})
	out, _, _, _ := pack.Next(nil, 1000)
	if err := p.Decoder.Section(at, out); err != nil {
		panic(err)
	}
	return netstate.PoseOf(id, row)
}

// A gap longer than MaxGap is not interpolated across, even if the row that hides the player was
// lost; a shorter one is, and a player without an older snapshot appears when the view reaches it.
func TestNoInterpolationAcrossLongGaps(t *testing.T) {
	for i, c := range []struct {
		every    tick.Tick
		from, to tick.Tick // snapshots that know of it; 0 none
		view     tick.View
		want     int // 0 nowhere, 1 at from, 2 at to, 3 between
	}{
		{1, 30, 36, tick.View{From: 30, To: 36, Frac: 128}, 3},
		{1, 30, 39, tick.View{From: 33, To: 36, Frac: 128}, 3},
		{1, 30, 54, tick.View{From: 48, To: 51, Frac: 1}, 3},
		{1, 30, 57, tick.View{From: 51, To: 54, Frac: 1}, 1},
		{1, 30, 120, tick.View{From: 117, To: 120, Frac: 200}, 1},
		{1, 30, 120, tick.View{From: 120, To: 120}, 2},
		{1, 30, 120, tick.View{From: 120, To: 123, Frac: 100}, 2},
		{2, 30, 57, tick.View{From: 51, To: 54, Frac: 1}, 3},
		{1, 0, 60, tick.View{From: 51, To: 54, Frac: 1}, 0},
		{1, 0, 60, tick.View{From: 57, To: 60, Frac: 255}, 0},
		{1, 0, 60, tick.View{From: 60, To: 63, Frac: 1}, 2},
		{1, 30, 0, tick.View{From: 60, To: 63, Frac: 1}, 1},
		{1, 30, 330, tick.View{From: 324, To: 327, Frac: 1}, 0}, // the old one has left the window
	} {
		var p Interpolator
		p.Start(snapshot.NewDecoder(netstate.Trained().Public, 16, 3), 3*c.every)
		p.View = c.view
		var ends [2]rig.Pose
		for n, at := range [2]tick.Tick{c.from, c.to} {
			if at != 0 {
				ends[n] = tell(&p, at, int32(1280*n))
			}
		}
		got, ok := p.Pose(3)
		switch {
		case ok != (c.want != 0):
			t.Errorf("%d: shown %v", i, ok)
		case c.want == 3:
			if got.Pos.X <= 0 || got.Pos.X >= 10 {
				t.Errorf("%d: at %v, not between", i, got.Pos)
			}
		case c.want != 0 && c.want != 3 && got != ends[c.want-1]:
			t.Errorf("%d: at %v, want %v", i, got.Pos, ends[c.want-1].Pos)
		}
	}
}

// TestHalfRateIsBridged: a player that is in every second snapshot moves evenly in a view that is two
// send intervals behind the newest snapshot, as it is without loss. Views of other ends agree with
// lagcomp.BracketingTicks, so the server judges it there.
func TestHalfRateIsBridged(t *testing.T) {
	const interval = 3
	var p Interpolator
	p.Start(snapshot.NewDecoder(netstate.Trained().Public, 16, interval), interval)
	x := func(at float32) float32 { return at * 16 / 128 } // metres; rows have 128ths
	for n := range 20 {
		newest := tick.Tick(30 + n*interval)
		if p.Arrived(newest); n%2 == 0 {
			tell(&p, newest, int32(newest)*16)
		}
		if n < 4 {
			continue
		}
		for part := range interval * 8 {
			instant := int64(newest-2*interval)<<8 + int64(part)*32
			p.View = p.ticks.viewAt(instant)
			got, ok := p.Pose(3)
			if want := x(float32(instant) / 256); !ok || got.Pos.X < want-0.05 || got.Pos.X > want+0.05 {
				t.Fatalf("snapshot %d, instant %v: at %v, want %v", newest, float32(instant)/256, got.Pos.X, want)
			}
		}
	}
}

// TestPosesEqualTheirFrames: cached poses equal those of the frames, for any order of queries.
func TestPosesEqualTheirFrames(t *testing.T) {
	const slots = 16
	rng := rand.New(rand.NewPCG(5, 40))
	s := netstate.Trained().Public.Schema()
	frames := make([]*snapshot.Frame, 6)
	for i := range frames {
		frames[i] = snapshot.NewRing(s, slots, 1, 1).Begin(tick.Tick(30 + 3*i))
		for slot := range slots {
			row := make([]int32, len(s.Fields))
			for f := range row {
				lo, hi := s.Fields[f].Range()
				row[f] = lo + int32(rng.Int64N(int64(hi)-int64(lo)+1))
			}
			if rng.IntN(4) > 0 {
				frames[i].Set(slot, netid.Make(slot, uint8(1+i%2)), row)
			}
		}
	}
	p := make(poses, slots)
	for range 20000 {
		f, slot := frames[rng.IntN(len(frames))], rng.IntN(slots)
		got, is := p.at(f, slot)
		if want, ok := poseIn(f, slot); got != want || is != ok {
			t.Fatalf("slot %d of tick %d: %+v %v, want %+v %v", slot, f.Tick, got, is, want, ok)
		}
	}
}
