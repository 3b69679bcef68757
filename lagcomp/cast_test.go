package lagcomp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// MinTickReach is MinTicks as a tick.
const MinTickReach = tick.Tick(MinTicks)

// TestRow49CastIsTheTwinsToTheBit is row 49 of docs/features.md: it judges over 2*10^5
// shots by both, in small and large maps, near the middle and far out.
func TestRow49CastIsTheTwinsToTheBit(t *testing.T) {
	for seed, extent := range []float32{6, 30, 200, 2000} {
		t.Run(fmt.Sprintf("extent=%v", extent), func(t *testing.T) {
			t.Parallel()
			const slots, batchSize = 48, 256
			hits, parts := compare(t, uint64(seed), slots, extent, 200, batchSize)
			if hits < 2000 || min(parts[rig.PartHead], parts[rig.PartTorso], parts[rig.PartArms],
				parts[rig.PartLegs]) < 100 {
				t.Fatalf("only %d hits, %v: the shots prove little", hits, parts)
			}
		})
	}
}

func compare(t *testing.T, seed uint64, slots int, extent float32, rounds, n int) (count int, parts [5]int) {
	c, fast, slow := newCrowd(seed, slots, extent), NewHistory(slots, 0), newSlowHistory(MinTicks)
	sweeper := NewSweeper(fast)
	shots, got, want := make([]Sweep, n), make([]Hit, n), make([]Hit, n)
	now := tick.Tick(1)
	for range rounds {
		for range 1 + c.rng.IntN(40) {
			poses := c.step(1.0 / 60)
			poses = poses[:len(poses)-c.rng.IntN(2)]
			fast.Record(now, poses)
			slow.Record(now, poses)
			now += 1 + tick.Tick(c.rng.IntN(30)/29) // now and then a tick is skipped
		}
		for i := range shots {
			shots[i] = c.shot(fast.At, max(fast.Oldest(), 1), fast.Newest())
			if i > 0 && c.rng.IntN(2) == 0 {
				shots[i].View = shots[i-1].View
			}
		}
		sweeper.Cast(shots, got)
		slow.Cast(shots, want)
		for i := range shots {
			if got[i] != want[i] {
				t.Fatalf("shot %+v:\n got %+v\nwant %+v", shots[i], got[i], want[i])
			}
			alone := Hit{}
			for slot := range slots { // as shots at targets with views of their own
				alone, _ = fast.CastSlot(&shots[i], slot, shots[i].View, alone)
			}
			if alone.ID != want[i].ID || alone.ID != 0 && alone != want[i] {
				t.Fatalf("shot %+v:\n slot by slot %+v\nwant %+v", shots[i], alone, want[i])
			}
			parts[got[i].Part]++
			if got[i].ID != 0 {
				count++
			}
		}
	}
	return count, parts
}

// FuzzCast looks for a seed and a size of map in which the two differ.
func FuzzCast(f *testing.F) {
	f.Add(uint64(1), uint8(3), float32(10))
	f.Add(uint64(2), uint8(70), float32(1500))
	f.Add(uint64(3), uint8(0), float32(0))
	f.Fuzz(func(t *testing.T, seed uint64, slots uint8, extent float32) {
		if !(extent >= 0 && extent <= 8000) {
			t.Skip()
		}
		compare(t, seed, int(slots)+1, extent, 4, 64)
	})
}

// TestRow48HistoryIsTheTwinsToTheBit is row 48 of docs/features.md: the pose of a tick is
// the one recorded, and between ticks rig.Lerp of two.
func TestRow48HistoryIsTheTwinsToTheBit(t *testing.T) {
	c, fast, slow := newCrowd(9, 20, 50), NewHistory(20, 0), newSlowHistory(MinTicks)
	held := 0
	for now := tick.Tick(1); now < 1000; now++ {
		poses := c.step(1.0 / 60)
		fast.Record(now, poses)
		slow.Record(now, poses)
		for range 40 {
			v, slot := c.view(fast.Oldest(), now), c.rng.IntN(22)
			got, ok := fast.At(v, slot)
			want, wantOK := slow.At(v, slot)
			if got != want || ok != wantOK {
				t.Fatalf("tick %d: At(%+v, %d) = %+v %v, want %+v %v", now, v, slot, got, ok, want, wantOK)
			}
			if ok {
				held++
			}
		}
	}
	if held < 20000 {
		t.Fatalf("only %d views had history", held)
	}
}

// A view between two ticks never mixes two lives: no place between a death and a spawn, no
// half-dead player, no mixed hero.
func TestRow48NobodyIsBetweenTwoLives(t *testing.T) {
	a := rig.Pose{ID: 7, Flags: rig.Flags(true, 1, 3), Form: rig.FormOf(rig.Robot, rig.Run), Phase: 60000}
	far := a
	far.Pos.X, far.Phase = 2, 1000
	edit := func(f func(*rig.Pose)) rig.Pose { p := far; f(&p); return p }
	for i, c := range []struct {
		b     rig.Pose
		moves bool
	}{
		{far, true},
		{edit(func(p *rig.Pose) { p.Flags = rig.Flags(true, 2, 3) }), true},          // another team
		{edit(func(p *rig.Pose) { p.Form = rig.FormOf(rig.Robot, rig.Jump) }), true}, // another stance
		// spawned or teleported
		{edit(func(p *rig.Pose) { p.Flags = rig.Flags(true, 1, 4) }), false},
		{edit(func(p *rig.Pose) { p.Flags = rig.Flags(false, 1, 3) }), false},              // dead
		{edit(func(p *rig.Pose) { p.ID = 9 }), false},                                      // another player
		{edit(func(p *rig.Pose) { p.Form = rig.FormOf(rig.Terraformer, rig.Run) }), false}, // another hero
	} {
		h := NewHistory(1, 0)
		h.Record(1, []rig.Pose{a})
		h.Record(2, []rig.Pose{c.b})
		got, ok := h.At(tick.View{From: 1, To: 2, Frac: 128}, 0)
		if !ok || (got != a) != c.moves || c.moves && (got.Pos.X != 1 || got.Flags != a.Flags ||
			got.Form != a.Form) {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

// The ring of a lobby of 1000 stays within 8 MiB: one second at 128 Hz, and the second and a
// quarter that a match keeps.
func TestRingFits(t *testing.T) {
	for _, ticks := range []int{128, 160} {
		h := NewHistory(1000, ticks)
		bytes := 0
		for i := range h.frames {
			f := &h.frames[i]
			bytes += 4*(cap(f.x)+cap(f.y)+cap(f.z)+cap(f.nr2)) + 32*cap(f.rows) + int(unsafe.Sizeof(*f))
		}
		if bytes > 8<<20 || bytes < len(h.frames)*1000*int(RowBytes) {
			t.Errorf("%d ticks: %d bytes", ticks, bytes)
		}
	}
}

func TestViewsOutsideTheRingHitNobody(t *testing.T) {
	h := NewHistory(1, 128)
	p := rig.Pose{ID: 7, Flags: rig.Flags(true, 1, 0)}
	for now := tick.Tick(1); now <= 400; now++ {
		h.Record(now, []rig.Pose{p})
	}
	shot := Sweep{Except: 1}
	shot.Ray.Origin.Z, shot.Ray.Origin.Y, shot.Ray.Dir.Z, shot.Ray.Max = -10, 1, 1, 100
	s, hit := NewSweeper(h), make([]Hit, 1)
	for i, c := range []struct {
		v    tick.View
		want bool
	}{
		{tick.View{From: 400, To: 400}, true},
		{tick.View{From: 399, To: 400, Frac: 255}, true},
		{tick.View{From: 272, To: 272}, true},  // 128 ticks back: one second at 128 Hz
		{tick.View{From: 271, To: 272}, false}, // its first tick is gone
		{tick.View{From: 143, To: 143}, false}, // shared the slot of 272
		{tick.View{From: 400, To: 401}, false},
		{tick.View{From: 400, To: 399}, false},
		{tick.View{From: 0, To: 0}, false},
		{tick.View{From: 300, To: 4e9}, false},
	} {
		shot.View = c.v
		s.Cast([]Sweep{shot}, hit)
		refused := map[bool]Refusal{false: RefusedView}[c.want]
		if (hit[0].ID == 7) != c.want || hit[0].Refused != refused || h.Holds(c.v) != c.want {
			t.Errorf("%d: %+v hit %+v, want a hit %v", i, c.v, hit[0], c.want)
		}
	}
}

// TestZeroValues: a pose with an id and a place is alive, a sweep or an overlap with a view, a ray
// and no more hits every team, and a zero sweep says what it lacks.
func TestZeroValues(t *testing.T) {
	for slots := range 70 { // from 64 slots on there are indices; kernels take 8 and 16 rows at once
		h := NewHistory(slots+1, 0)
		poses := make([]rig.Pose, slots+1)
		for i := range poses {
			poses[i].Pos.X = float32(3 * i)
			if poses[i].ID = uint32(i + 1); i%5 == 4 {
				poses[i].Flags = rig.Flags(true, uint8(i), 0)
			}
		}
		h.Record(1, poses)
		now, s := tick.View{From: 1, To: 1}, NewSweeper(h)
		sweeps, hits := make([]Sweep, slots+1), make([]Hit, slots+1)
		zones := make([]OverlapQuery, slots+1)
		for i := range sweeps {
			at := poses[i].Pos.Add(geom.Vec3{Y: 1})
			sweeps[i] = Sweep{Ray: geom.Ray{Origin: at.Add(geom.Vec3{Z: -5}), Dir: geom.Vec3{Z: 1}, Max: 9}, View: now}
			zones[i] = OverlapQuery{Capsule: geom.Capsule{A: at, B: at, Radius: 0.1}, View: now}
		}
		s.Cast(sweeps, hits)
		touched := s.Overlap(zones, nil)
		for i := range hits {
			if hits[i].ID != poses[i].ID || hits[i].Refused != Judged {
				t.Fatalf("slot %d of %d: %+v", i, slots+1, hits[i])
			}
			if len(touched) != len(zones) || touched[i].ID != poses[i].ID {
				t.Fatalf("%d of %d zones touch: %+v", len(touched), len(zones), touched)
			}
		}
		for _, c := range []struct {
			w    Sweep
			want Refusal
		}{
			{Sweep{}, RefusedView}, {Sweep{View: now}, RefusedRay}, {Sweep{View: now, Ray: sweeps[0].Ray, Radius: -1}, RefusedRadius},
		} {
			if s.Cast([]Sweep{c.w}, hits); (hits[0] != Hit{Refused: c.want}) {
				t.Fatalf("%+v: %+v, want %v", c.w, hits[0], c.want)
			}
		}
	}
}

func TestWhoIsHit(t *testing.T) {
	h := NewHistory(5, 0)
	at := func(slot int, z float32, team uint8, alive bool) rig.Pose {
		p := rig.Pose{ID: uint32(slot + 1), Flags: rig.Flags(alive, team, 0)}
		p.Pos.Z = z
		return p
	}
	h.Record(1, []rig.Pose{at(0, 5, 0, true), at(1, 10, 1, true), at(2, 10, 1, true), at(3, 7, 1, false),
		at(4, 30, 2, true)})
	shot := func(shooter uint32, team uint8, height, limit float32) Sweep {
		s := Sweep{Except: shooter, Spare: TeamOf(team), View: tick.View{From: 1, To: 1}}
		s.Ray.Origin.Y, s.Ray.Dir.Z, s.Ray.Max = height, 1, limit
		return s
	}
	for i, c := range []struct {
		s    Sweep
		slot int
		part rig.Part
	}{
		// not itself, not the dead; the lower slot of two in one place
		{shot(1, 0, 1, 100), 1, rig.PartTorso},
		{shot(1, 0, 1.7, 100), 1, rig.PartHead},      //
		{shot(1, 0, 1.85, 100), 0, rig.NoPart},       // over the heads
		{shot(1, 0, 1, 9), 0, rig.NoPart},            // a wall before them
		{shot(1, 0, 1, 9.9), 1, rig.PartTorso},       // up to the skin
		{shot(2, 1, 1, 100), 0, rig.PartTorso},       //
		{shot(2, NoTeam, 1, 4), 0, rig.NoPart},       //
		{shot(1, 1, 1, 100), 4, rig.PartTorso},       //
		{shot(9, NoTeam, 1, 100), 0, rig.PartTorso},  //
		{shot(1, NoTeam, 1.7, 100), 1, rig.PartHead}, //
	} {
		hit := make([]Hit, 1)
		NewSweeper(h).Cast([]Sweep{c.s}, hit)
		if hit[0].Slot != c.slot || hit[0].Part != c.part || (hit[0].ID != 0) != (c.part != rig.NoPart) {
			t.Errorf("%d: %+v, want %s in slot %d", i, hit[0], c.part, c.slot)
		}
	}
}

func TestCastAndRecordAllocateNothing(t *testing.T) {
	c, h := newCrowd(1, 200, 60), NewHistory(200, 60)
	for now := tick.Tick(1); now <= 200; now++ {
		h.Record(now, c.step(1.0/60))
	}
	s := NewSweeper(h)
	shots, hits := make([]Sweep, 64), make([]Hit, 64)
	for i := range shots {
		shots[i] = c.shot(h.At, h.Oldest(), h.Newest())
	}
	if n := alloctest.In(50, func() { s.Cast(shots, hits) }); n != 0 {
		t.Errorf("Cast: %v allocations", n)
	}
	if n := alloctest.In(50, func() { h.Record(h.Newest()+1, c.poses) }); n != 0 {
		t.Errorf("Record: %v allocations", n)
	}
}

func TestMisusePanics(t *testing.T) {
	h := NewHistory(2, 0)
	h.Record(5, nil)
	for want, misuse := range map[string]func(){
		"of 0 slots, with bodies: true; want":      func() { NewHistory(0, 10) },
		"of 3 slots, with bodies: false; want":     func() { NewHistoryOf(nil, 3, 10) },
		"of 4 slots, with bodies: false; want":     func() { NewHistoryOf(new(rig.Bodies), 4, 10) },
		"no history, want":                         func() { NewSweeper(nil) },
		"tick 5 after 5, 0 poses in 2 slots: want": func() { h.Record(5, nil) },
		"tick 4 after 5, 0 poses in 2 slots: want": func() { h.Record(4, nil) },
		"tick 6 after 5, 3 poses in 2 slots: want": func() { h.Record(6, make([]rig.Pose, 3)) },
		"Cast of 2 sweeps into 1 hits, want":       func() { NewSweeper(h).Cast(make([]Sweep, 2), make([]Hit, 1)) },
		"CastWithStats of 2 sweeps into 1 stat":    func() { NewSweeper(h).CastWithStats(make([]Sweep, 2), make([]Hit, 2), make([]CastStats, 1)) },
		"Overlap of 3 zones by a fork, want":       func() { NewSweeper(h).Fork().Overlap(make([]OverlapQuery, 3), nil) },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Fatal(said)
				}
			}()
			misuse()
		})
	}
}

// TestNobodyNearIsLeftOut checks the broad phase itself, also for players that move tens of metres
// within one view, all of them or a few: it lists every row that test hits.
func TestNobodyNearIsLeftOut(t *testing.T) {
	const slots = 120
	paths := [3]int{} // views without, with some, and with too many fast movers
	for n, speed := range []float32{0, 1, 20, 60, 200, 3000, 200, 3000} {
		c, h := newCrowd(uint64(n), slots, 50), NewHistory(slots, 0)
		sweeper := NewSweeper(h)
		for i := range c.vel {
			if n < 6 || i%9 == 0 {
				c.vel[i] = c.vel[i].Scale(speed / 8)
			}
		}
		for now := tick.Tick(1); now <= 128; now++ {
			h.Record(now, c.step(1.0/60))
		}
		hits, listed := 0, 0
		for range 2000 {
			s := c.shot(h.At, 1, 128)
			a, b := h.viewFrames(s.View)
			ray, ok := NormalizeRay(s.Ray)
			if a == nil || !ok {
				continue
			}
			near, fastMovers := sweeper.candidatesFor(a, b, &s, &ray)
			listed += len(near)
			paths[min(len(fastMovers), 1)+len(near)/(slots-10)*2]++
			for slot := range slots {
				p, ok := h.At(s.View, slot)
				if !ok || !p.Alive() {
					continue
				}
				if _, hit := testPose(rig.HeroBodies, ray, 0, &p); hit {
					if hits++; !s.Spare.Has(p.Team()) && !slices.Contains(near, int32(slot)) &&
						!slices.Contains(fastMovers, int32(slot)) {
						t.Fatalf("speed %v: %+v hits slot %d, not among %v and %v", speed, s, slot, near,
							fastMovers)
					}
				}
			}
		}
		if hits < 100 || speed < 50 && listed > 10*hits {
			t.Fatalf("speed %v: %d hits among %d listed", speed, hits, listed)
		}
	}
	if min(paths[0], paths[1], paths[2]) < 500 {
		t.Fatalf("the three ways were taken %v times", paths)
	}
}

func TestTiesGoToTheLowerSlotHoweverItWasFound(t *testing.T) {
	for flyer := range 2 {
		h := NewHistory(2, 0)
		a := []rig.Pose{{ID: 1, Flags: rig.Flags(true, 0, 0)}, {ID: 2, Flags: rig.Flags(true, 0, 0)}}
		b := slices.Clone(a)
		a[flyer].Pos.X, b[flyer].Pos.X = -32, 32 // halfway it stands where the other does
		h.Record(1, a)
		h.Record(2, b)
		s := Sweep{View: tick.View{From: 1, To: 2, Frac: 128}}
		s.Ray.Origin.Z, s.Ray.Origin.Y, s.Ray.Dir.Z, s.Ray.Max = -10, 1, 1, 100
		hit := make([]Hit, 1)
		if NewSweeper(h).Cast([]Sweep{s}, hit); hit[0].ID != 1 {
			t.Fatalf("slot %d flew: %+v, want slot 0", flyer, hit[0])
		}
	}
}
