package move

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// gym is the ground of the goldens. Along +x from the origin: a step of half a metre, a ramp of 27
// degrees to a deck of 2 m, a drop, a wall of a quarter metre. Along -x a slope of 53 degrees,
// along +z stairs, along -z a step too high.
func gym(t testing.TB) *arena.Arena {
	box := func(x0, y0, z0, x1, y1, z1 float32) arena.Solid {
		return arena.Solid{Min: geom.Vec3{X: x0, Y: y0, Z: z0}, Max: geom.Vec3{X: x1, Y: y1, Z: z1}}
	}
	ramp := func(s arena.Solid, rises arena.Shape) arena.Solid {
		s.Shape = rises
		return s
	}
	solids := []arena.Solid{
		box(-50, -1, -50, 50, 0, 50),
		box(4, 0, -2, 6, 0.5, 2),
		box(10, 0, -2, 12, 2, 2),
		box(16, 0, -8, 16.25, 3, 8),
		box(0, 2.5, 20, 4, 3, 24),       // a ceiling to bump into
		box(-30, 0, 30, -20, 40, 40),    // a tower to fall from
		box(-1, 0, -5, 1, 0.515625, -3), // a step 1/64 m too high
		box(-1, 0, 4, 1, 0.5, 5), box(-1, 0, 5, 1, 1, 6), box(-1, 0, 6, 1, 1.5, 8),
		ramp(box(6, 0, -2, 10, 2, 2), arena.RampPosX),
		ramp(box(-7, 0, -2, -4, 4, 2), arena.RampNegX),
	}
	a, err := arena.New("gym", geom.AABB{Min: geom.Vec3{X: -50, Y: -1, Z: -50}, Max: geom.Vec3{X: 50, Y: 60,
		Z: 50}}, solids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const (
	towardsX    geom.Angle = 0x4000
	towardsNegX geom.Angle = 0xc000
	towardsZ    geom.Angle = 0
	towardsNegZ geom.Angle = 0x8000
)

func run(yaw geom.Angle, buttons uint16) func(int) Input {
	return func(int) Input { return Input{Yaw: yaw, MoveMag: 255, Buttons: buttons} }
}

var trajectories = []struct {
	name  string
	start Motion
	rate  uint16
	ticks int
	input func(tick int) Input
}{
	{"walk", Motion{Pos: geom.Vec3{X: 20}}, 60, 48, func(i int) Input {
		return Input{Yaw: towardsX,
			MoveMag: uint8(255 * (1 - i/24))}
	}},
	{"sprint", Motion{Pos: geom.Vec3{X: 20}}, 60, 32, run(towardsX, Sprint)},
	{"backwards", Motion{Pos: geom.Vec3{X: 20}}, 60, 16, func(int) Input {
		return Input{Yaw: towardsNegX,
			MoveYaw: 128, MoveMag: 255, Buttons: Sprint}
	}},
	{"jump", Motion{Pos: geom.Vec3{X: 20}}, 60, 56, func(i int) Input {
		return Input{Yaw: towardsX,
			MoveMag: 255, Buttons: Jump}
	}},
	{"double-jump", Motion{Pos: geom.Vec3{X: 20}}, 60, 100,
		func(i int) Input { return Input{Buttons: uint16(i/10) & 1 * Jump} }},
	{"step-and-slope-up-and-drop", Motion{Pos: geom.Vec3{X: 2.5}}, 60, 124, run(towardsX, 0)},
	{"slope-down", Motion{Pos: geom.Vec3{X: 11, Y: 2}}, 128, 96, run(towardsNegX, Sprint)},
	{"slope-too-steep", Motion{Pos: geom.Vec3{X: -2}}, 60, 48, run(towardsNegX, 0)},
	{"slope-slide", Motion{Pos: geom.Vec3{X: -5.5, Y: 3}, Loco: InAir}, 60, 60,
		func(int) Input { return Input{} }},
	{"stairs", Motion{Pos: geom.Vec3{Z: 2.5}}, 30, 36, run(towardsZ, 0)},
	{"step-too-high", Motion{Pos: geom.Vec3{Z: -1}}, 60, 32, run(towardsNegZ, 0)},
	{"wall-slide", Motion{Pos: geom.Vec3{X: 14.5, Z: -6}}, 60, 60, run(towardsX-0x1000, 0)},
	{"ceiling", Motion{Pos: geom.Vec3{X: 2, Z: 22}}, 60, 40,
		func(i int) Input { return Input{Buttons: Jump} }},
	{"fall", Motion{Pos: geom.Vec3{X: -20.5, Y: 40, Z: 35}}, 20, 60, run(towardsX, 0)},
}

// TestTrajectories compares walks with testdata, every fourth tick of each.
func TestTrajectories(t *testing.T) {
	a := gym(t)
	for _, c := range trajectories {
		var got bytes.Buffer
		fmt.Fprintf(&got, "# %s at %d Hz: tick, position, velocity, state, jumps, ticks in the state\n",
			c.name, c.rate)
		m := c.start
		for i := range c.ticks {
			m = Step(m, c.input(i), a, c.rate)
			if d := depth(a, m.Pos); d > 1./1024 {
				t.Errorf("%s: %v deep at tick %d", c.name, d, i)
			}
			if (i+1)%4 == 0 {
				fmt.Fprintf(&got, "%3d  %v %v %v  %v %v %v  %v %d %d\n", i+1, m.Pos.X, m.Pos.Y, m.Pos.Z,
					m.Vel.X, m.Vel.Y, m.Vel.Z, m.Loco, m.Jumps, m.Since)
			}
		}
		golden(t, c.name, got.Bytes())
	}
}

// golden holds a walk to the one in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: not the golden trajectory; run with -update and look at what changed", name)
	}
}

// walk takes m through ticks of one input.
func walk(a *arena.Arena, m Motion, in Input, rate uint16, ticks int) Motion {
	for range ticks {
		m = Step(m, in, a, rate)
	}
	return m
}

func near(t *testing.T, what string, got, want, within float32) {
	t.Helper()
	if !(geom.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestNumbers checks FPSSample's numbers one by one, at several rates.
func TestNumbers(t *testing.T) {
	a := gym(t)
	ahead := Input{Yaw: towardsX, MoveMag: 255}
	sprint := Input{Yaw: towardsX, MoveMag: 255, Buttons: Sprint}
	at := Motion{Pos: geom.Vec3{X: 20}}
	for _, rate := range []uint16{20, 30, 60, 64, 128} {
		second := int(rate)
		m := walk(a, at, ahead, rate, second)
		near(t, "walking speed", m.Vel.X, 6, 0)
		near(t, "two seconds' way", walk(a, m, ahead, rate, second).Pos.X-m.Pos.X, 6, 0.015)
		m = walk(a, at, sprint, rate, second)
		near(t, "sprinting speed", m.Vel.X, 8, 0)
		near(t, "speed at half the stick", walk(a, at, Input{MoveMag: 128}, rate, second).Vel.Z, 6*128./255,
			VelUnit)
		m = walk(a, m, Input{}, rate, second)
		if m.Vel != (geom.Vec3{}) || m.Loco != Stand {
			t.Errorf("at %d Hz: a second after letting go it still moves: %+v", rate, m)
		}

		m = walk(a, at, Input{Buttons: Jump}, rate, 1)
		if m.Loco != Jumping || m.Jumps != 1 || m.Vel.Y != 3.3330078125 {
			t.Errorf("at %d Hz: a jump begins as %+v", rate, m)
		}
		rising := int(math.Ceil(0.3*float64(rate) - 1e-9))
		m = walk(a, m, Input{Buttons: Jump}, rate, rising-1)
		near(t, "height of the ascent", m.Pos.Y, float32(rising)/float32(rate)/0.3, 0.005)
		if m.Loco != Jumping {
			t.Errorf("at %d Hz: in the last tick of the ascent it is in state %v", rate, m.Loco)
		}
		before := m.Vel.Y
		m = walk(a, m, Input{Buttons: Jump}, rate, 1)
		near(t, "gravity", (before-m.Vel.Y)*float32(rate), 18, VelUnit*float32(rate))
		if m.Loco != InAir {
			t.Errorf("at %d Hz: after the ascent it is in state %v", rate, m.Loco)
		}
	}
}

func TestJumps(t *testing.T) {
	a := gym(t)
	m := Motion{Pos: geom.Vec3{X: 20}}
	var presses []Loco
	for i := range 120 { // a fresh press every fourth tick
		before := m
		m = Step(m, Input{Buttons: uint16(1-min(i%4, 1)) * Jump}, a, 60)
		if m.Loco != before.Loco {
			presses = append(presses, m.Loco)
		}
	}
	want := []Loco{Jumping, InAir, DoubleJump, InAir, Stand, Jumping}
	for i := range want {
		if len(presses) <= i || presses[i] != want[i] {
			t.Fatalf("states %v, want them to begin with %v", presses, want)
		}
	}
	m = Motion{Pos: geom.Vec3{X: 20}}
	for i := range 120 { // held: one jump only
		if m = Step(m, Input{Buttons: Jump}, a, 60); i > 60 && m.Loco != Stand {
			t.Fatalf("tick %d: a held button jumps again: %+v", i, m)
		}
	}
}

// TestFall drops a body 39 m at every rate: it reaches 50 m/s and no more where there is room, and
// stops on the floor.
func TestFall(t *testing.T) {
	a := gym(t)
	for _, rate := range []uint16{20, 60, 128} {
		m := Motion{Pos: geom.Vec3{X: -10, Y: 39, Z: 20}, Vel: geom.Vec3{Y: -45}, Loco: InAir}
		fastest := float32(0)
		for m.Loco == InAir {
			m = Step(m, Input{}, a, rate)
			fastest = max(fastest, -m.Vel.Y)
		}
		if fastest != 50 || m.Pos.Y != 0 {
			t.Errorf("at %d Hz: fell at %v m/s, ended at %+v", rate, fastest, m)
		}
	}
}

// knocked is m after a tick with one blow.
func knocked(m Motion, impulse geom.Vec3) Motion {
	var p Push
	p.Add(impulse)
	return ApplyPush(m, p)
}

func TestKnock(t *testing.T) {
	a := gym(t)
	m := knocked(Motion{Pos: geom.Vec3{X: 20}, Vel: geom.Vec3{X: 3}}, geom.Vec3{X: 4, Y: 3})
	if m.Loco != InAir || m.Vel != (geom.Vec3{X: 7, Y: 3}) {
		t.Errorf("knocked: %+v", m)
	}
	if m = Step(m, Input{}, a, 60); m.Pos.Y <= 0 || m.Vel.X < 6.9 {
		t.Errorf("a tick later: %+v", m)
	}
	if d := knocked(Motion{Loco: Dead}, geom.Vec3{Y: 9}); d.Loco != Dead {
		t.Errorf("a knock woke the dead: %+v", d)
	}
}

func TestDead(t *testing.T) {
	a := gym(t)
	m := walk(a, Motion{Pos: geom.Vec3{X: 20, Y: 3}, Vel: geom.Vec3{X: 6}, Loco: Dead, Since: 65530},
		Input{Yaw: towardsX, MoveMag: 255, Buttons: Jump}, 60, 120)
	if m.Loco != Dead || m.Pos.Y != 0 || m.Vel.X != 0 || m.Vel.Z != 0 || m.Since != 65535 {
		t.Errorf("the dead end as %+v", m)
	}
}

// TestSprints is FPSSample's rule: moving, and less than a quarter turn from straight ahead.
func TestSprints(t *testing.T) {
	for _, c := range []struct {
		in   Input
		want bool
	}{
		{Input{MoveMag: 255, Buttons: Sprint}, true},
		{Input{MoveMag: 1, Buttons: Sprint, MoveYaw: 63}, true},
		{Input{MoveMag: 1, Buttons: Sprint, MoveYaw: 193}, true},
		{Input{MoveMag: 1, Buttons: Sprint, MoveYaw: 64}, false},
		{Input{MoveMag: 1, Buttons: Sprint, MoveYaw: 192}, false},
		{Input{MoveMag: 1, Buttons: Sprint, MoveYaw: 128}, false},
		{Input{MoveMag: 0, Buttons: Sprint}, false},
		{Input{MoveMag: 255, Buttons: Jump}, false},
	} {
		if got := c.in.Sprints(); got != c.want {
			t.Errorf("%+v sprints: %v", c.in, got)
		}
	}
}

// TestSpawns drops a body on every spawn of the committed maps: it stands there, and can walk away
// some metres whichever of eight ways it takes first.
func TestSpawns(t *testing.T) {
	for _, name := range arena.Names() {
		a, err := arena.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range a.Spawns {
			m := Step(Motion{Pos: s.Pos}, Input{Yaw: s.Yaw}, a, 60)
			if m.Pos != s.Pos || m.Loco != Stand || m.Vel != (geom.Vec3{}) {
				t.Fatalf("%s: spawned at %v it is at %+v", name, s.Pos, m)
			}
			farthest := float32(0)
			for way := range geom.Angle(8) {
				to := walk(a, m, Input{Yaw: way << 13, MoveMag: 255}, 60, 60)
				farthest = max(farthest, to.Pos.Sub(s.Pos).Len())
			}
			if farthest < 4 {
				t.Errorf("%s: from spawn %d at %v one gets no further than %v m", name, i, s.Pos, farthest)
			}
		}
	}
}
