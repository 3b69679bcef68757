package rig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// slowLerp says what Lerp should do, one field after the other, in float64.
func slowLerp(a, b Pose, frac uint8) Pose {
	f := float64(frac) / 256
	if a.ID != b.ID || a.Alive() != b.Alive() || a.Flags>>8 != b.Flags>>8 || a.Form.Hero() != b.Form.Hero() {
		return a
	}
	way := func(a, b, turn float64) float64 { // along the shorter arc; half a turn goes backwards
		d := math.Mod(b-a+turn/2+turn, turn) - turn/2
		return a + math.Floor(d*f)
	}
	straight := func(a, b float64) float64 { return a + math.Floor((b-a)*f) }
	p := a
	p.Pos = a.Pos.Lerp(b.Pos, float32(f))
	p.Yaw = geom.Angle(int(way(float64(a.Yaw), float64(b.Yaw), 65536)))
	p.Pitch = geom.Angle(int(way(float64(a.Pitch), float64(b.Pitch), 65536)))
	p.Phase = uint16(int(way(float64(a.Phase), float64(b.Phase), 65536)))
	p.Move = uint8(int(way(float64(a.Move), float64(b.Move), 256)))
	p.Hips = int8(straight(float64(a.Hips), float64(b.Hips)))
	p.Gait = uint8(straight(float64(a.Gait), float64(b.Gait)))
	p.Bank = int8(straight(float64(a.Bank), float64(b.Bank)))
	p.Aim = uint8(straight(float64(a.Aim), float64(b.Aim)))
	p.Air = uint8(straight(float64(a.Air), float64(b.Air)))
	p.Squat = uint8(straight(float64(a.Squat), float64(b.Squat)))
	return p
}

func TestLerpAgreesWithItsSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	mixed := 0
	for i := range 200_000 {
		a, b := random(r, Hero(i%2)), random(r, Hero(i%2))
		b.Pos = geom.Vec3{X: float32(r.IntN(512)) / 128}
		switch i % 16 {
		case 1:
			b.Flags = Flags(true, 0, 1)
		case 2:
			b.Flags = FlagDead
		case 3:
			b.ID = 8
		case 4:
			b.Form = FormOf(Hero(1-i%2), Stand)
		case 5:
			b.Flags = Flags(true, 3, 0) // a team is not a life
		}
		frac := uint8(r.Uint32())
		got, want := Lerp(&a, &b, frac), slowLerp(a, b, frac)
		if got != want {
			t.Fatalf("%d/256 from\n%+v to\n%+v:\n%+v, want\n%+v", frac, a, b, got, want)
		}
		if got != a {
			mixed++
		}
		if broken := i%16 >= 1 && i%16 <= 4; broken != Discontinuous(&a, &b) || broken && got != a {
			t.Fatalf("broken %v: %+v %+v", broken, a, b)
		}
		if Lerp(&a, &b, 0) != a {
			t.Fatal("fraction 0 is not the first")
		}
	}
	if mixed < 100_000 {
		t.Errorf("only %d mixed", mixed)
	}
}

// The phase goes on through the end of the cycle, and yaw through north.
func TestLerpIsCyclic(t *testing.T) {
	a := Pose{Phase: 0xF000, Yaw: 0xFF00, Move: 250, Hips: -10, Bank: -100}
	b := Pose{Phase: 0x1000, Yaw: 0x0100, Move: 6, Hips: 10, Bank: 100}
	if p := Lerp(&a, &b, 128); p.Phase != 0 || p.Yaw != 0 || p.Move != 0 || p.Hips != 0 || p.Bank != 0 {
		t.Errorf("%+v", p)
	}
}

func TestFlags(t *testing.T) {
	for _, alive := range []bool{false, true} {
		for team := range uint8(4) {
			p := Pose{ID: 1, Flags: Flags(alive, team, 201)}
			if p.Alive() != alive || p.Team() != team || p.Flags>>8 != 201 {
				t.Errorf("alive %v, team %d: %#x", alive, team, p.Flags)
			}
		}
	}
}

func TestForm(t *testing.T) {
	for h := range Heroes {
		for s := Stand; s <= Dead; s++ {
			if f := FormOf(h, s); f.Hero() != h || f.Stance() != s {
				t.Errorf("%v %v: %v %v", h, s, f.Hero(), f.Stance())
			}
		}
	}
	for f := range 256 { // any byte from the wire is a build
		if h := Form(f).Hero(); h >= Heroes {
			t.Errorf("form %d is hero %d", f, h)
		}
	}
}
