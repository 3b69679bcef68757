package object

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// crowd is bodies at places, all alive, player i in team i%2.
func crowd(at ...geom.Vec3) Bodies {
	var b Bodies
	for i, p := range at {
		b.ID, b.Pos = append(b.ID, player(i)), append(b.Pos, p)
		b.Team, b.Alive = append(b.Team, uint8(i%2)), append(b.Alive, true)
	}
	return b
}

func TestRow55AreaInterval(t *testing.T) {
	for i, c := range []struct {
		rate      tick.Rate
		perSecond float32
		want      tick.Tick
	}{{60, 3, 20}, {64, 3, 21}, {128, 3, 42}, {20, 3, 6}, {60, 7, 8}, {60, 100, 1}, {60, 0, 1 << 31},
		{60, nan, 1 << 31}, {60, 0.5, 120}} {
		if got := (AreaKind{PerSecond: c.perSecond}).Interval(c.rate); got != c.want {
			t.Errorf("%d: %v times a second at %d Hz: every %d ticks, want %d", i, c.perSecond, c.rate, got,
				c.want)
		}
	}
}

// TestRow55DamageArea lets one stand in it, one run in and out, one stay outside, and one lie dead
// in it.
func TestRow55DamageArea(t *testing.T) {
	s := newStage(plain(t), 4)
	areas := []Area{{geom.AABB{Min: v3(0, 0, 0), Max: v3(4, 2, 4)}, AreaKind{Points: 25, PerSecond: 3}}}
	again := NewAreaHits(len(areas), 4)
	all := crowd(v3(1, 0, 1), v3(2, 0, 2), v3(9, 0, 9), v3(3, 0, 3))
	all.Alive[3] = false
	var hits [4][]tick.Tick
	for range 70 {
		s.next()
		all.Pos[1].X = 2 + 40*float32(s.Now/2%2) // every second pair of ticks
		s.StepAreas(areas, all, &again, nil)
		for _, w := range s.settle() {
			if hits[w.Victim.Index()] = append(hits[w.Victim.Index()], s.Now); w.Points != 25 ||
				w.Cause != CauseArea || w.Instigator != 0 {
				t.Errorf("%+v", w)
			}
		}
	}
	if h := hits[0]; len(h) != 4 || h[0] != 1 || h[1] != 21 || h[2] != 41 || h[3] != 61 || s.health[0] != 0 {
		t.Errorf("who stands in it: %v, %d left", h, s.health[0])
	}
	for i, at := range hits[1] {
		if i > 0 && at-hits[1][i-1] < 20 {
			t.Errorf("who runs in and out: %v", hits[1])
		}
	}
	if len(hits[1]) < 3 || len(hits[2])+len(hits[3]) != 0 {
		t.Errorf("%v", hits)
	}
	again.Forget(0)
	s.health[0] = 100
	s.next()
	s.StepAreas(areas, all, &again, nil)
	if w := find(s.settle(), player(0)); w.Taken != 25 {
		t.Errorf("a new life: %+v", w)
	}
}

func TestRow55InstantKill(t *testing.T) {
	s := newStage(plain(t), 1)
	areas := []Area{{geom.AABB{Min: v3(0, 0, 0), Max: v3(4, 2, 4)}, AreaKind{Instant: true}}}
	again := NewAreaHits(len(areas), 1)
	s.next()
	s.StepAreas(areas, crowd(v3(4, 0, 0)), &again, nil)
	if w := find(s.settle(), player(0)); !w.Killed || w.Points != 100000 || w.Taken != 100 {
		t.Errorf("%+v", w)
	}
}

// TestRow55Teleporter goes in at one place and comes out in the next tick at another, as fast, but
// forward.
func TestRow55Teleporter(t *testing.T) {
	s := newStage(plain(t), 3)
	ports := []Teleporter{
		{Box: geom.AABB{Min: v3(0, 0, 0), Max: v3(2, 2, 2)}, Target: v3(20, 0, 0), Yaw: 0x4000},
		{Box: geom.AABB{Min: v3(1, 0, 1), Max: v3(5, 2, 5)}, Target: v3(-20, 1, 0.0001), Yaw: 0x8000},
	}
	all := crowd(v3(1, 0, 1), v3(4, 1, 4), v3(30, 0, 0), v3(1, 0, 1))
	all.Alive[3] = false
	s.next()
	jumps := s.StepTeleporters(ports, all, nil)
	want := []TeleportRequest{{player(0), 2, v3(20, 0, 0), 0x4000}, {player(1), 2, v3(-20, 1, 0), 0x8000}}
	if len(jumps) != 2 || jumps[0] != want[0] || jumps[1] != want[1] {
		t.Fatalf("%+v", jumps)
	}
	if ports[0].Effect != 1 || ports[1].Effect != 1 {
		t.Errorf("%+v", ports)
	}
	if v := jumps[0].ExitVelocity(v3(0, -3, -4)); v != v3(5, 0, 0) {
		t.Errorf("lands with %v", v)
	}
	if v := jumps[1].ExitVelocity(geom.Vec3{}); v != (geom.Vec3{}) {
		t.Errorf("stood still, lands with %v", v)
	}
	for i := range jumps {
		all.Pos[i] = jumps[i].Pos
	}
	s.next()
	if again := s.StepTeleporters(ports, all, nil); len(again) != 0 || ports[0].Effect != 1 {
		t.Errorf("again: %+v", again)
	}
}

func TestRow55CaptureZone(t *testing.T) {
	zones := []Zone{DefaultZone(v3(0, 0, 0)), DefaultZone(v3(8, 2, 0))}
	all := crowd(v3(0, 0, 0), v3(4.9, 0, 0), v3(5.1, 0, 0), v3(3, 4.9, 4), v3(0, 5.1, 0), v3(3.6, 0, 3.6),
		v3(0, -0.01, 0), v3(4, 2, 0), v3(1, -1, 0))
	all.Alive[6] = false
	var out [2]Occupancy
	CountOccupants(zones, all, out[:])
	if want := [2]Occupancy{{1, 3}, {0, 1}}; out != want {
		t.Errorf("%v, want %v", out, want)
	}
	all.Alive[6] = true
	all.Team[0] = 9
	if CountOccupants(zones, all, out[:]); out[0] != (Occupancy{1, 3}) {
		t.Errorf("%v", out)
	}
}
