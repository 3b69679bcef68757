package anim

import (
	"math/rand/v2"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/move"
)

// scene is some seconds of one thing.
type scene struct {
	name    string
	seconds float64
	in      Input
	spin    float64 // degrees a second of the view
	gravity float64 // m/s2
}

// script goes through every stance once.
func script() []scene {
	walk, run := move.GroundMove, geom.Vec3{Z: 6}
	return []scene{
		{name: "stands", seconds: 0.5},
		{name: "turns on the spot", seconds: 0.5, spin: 150},
		{name: "is still", seconds: 0.5},
		{name: "runs", seconds: 1, in: Input{Vel: run, Loco: walk}},
		{name: "runs a bend", seconds: 0.5, in: Input{Vel: run, Loco: walk}, spin: 140},
		{name: "sprints", seconds: 1, in: Input{Vel: geom.Vec3{X: 8}, Loco: walk, Flags: Sprinting}},
		{name: "sprints and shoots", seconds: 0.3, in: Input{Vel: geom.Vec3{X: 8}, Loco: walk,
			Flags: Sprinting | Shooting}},
		{name: "jumps", seconds: 0.3, in: Input{Vel: geom.Vec3{X: 6, Y: 3.333}, Loco: move.Jumping}},
		{name: "falls", seconds: 0.6, in: Input{Vel: geom.Vec3{X: 6, Y: 3.333}, Loco: move.InAir},
			gravity: 18},
		{name: "nears the ground", seconds: 0.2, in: Input{Vel: geom.Vec3{X: 6, Y: -8}, Loco: move.InAir,
			Flags: NearGround}, gravity: 18},
		{name: "lands", seconds: 0.7, in: Input{Vel: geom.Vec3{X: 1}, Loco: walk}},
		{name: "strafes", seconds: 0.6, in: Input{Vel: geom.Vec3{X: -6, Z: 1}, Loco: walk}},
		{name: "walks back", seconds: 0.6, in: Input{Vel: geom.Vec3{X: -3, Z: -3}, Loco: walk}},
		{name: "dies", seconds: 1, in: Input{Vel: geom.Vec3{X: 2}, Loco: move.Dead}},
	}
}

// play steps a body through scenes and calls each after every tick.
func play(h rig.Hero, rate tick.Rate, scenes []scene, each func(sc *scene, t int, in Input, s *State)) {
	table := DefaultTable(rate)
	s := Spawn(h, 0)
	yaw, t := 0.0, 0
	for i := range scenes {
		sc := &scenes[i]
		in := sc.in
		for range int(sc.seconds*float64(rate) + 0.5) {
			t++
			yaw += sc.spin / float64(rate)
			in.Yaw = geom.Degrees(yaw)
			s = Step(s, in, table)
			each(sc, t, in, &s)
			in.Vel.Y = max(in.Vel.Y-float32(sc.gravity/float64(rate)), -50)
		}
	}
}

// randomInput is any input that move may produce, and sometimes one that it may not.
func randomInput(r *rand.Rand) Input {
	coord := func() float32 { return float32(r.IntN(131073)-65536) / 1024 }
	in := Input{
		Vel: geom.Vec3{X: coord(), Y: coord(), Z: coord()}, Yaw: geom.Angle(r.Uint32()),
		Loco: move.Loco(r.IntN(7)), Flags: Flags(r.IntN(8)),
	}
	switch r.IntN(10) {
	case 0:
		in.Vel = geom.Vec3{}
	case 1, 2, 3:
		in.Vel = in.Vel.Scale(1. / 16)
	}
	return in
}

// randomState is any state at all.
func randomState(r *rand.Rand) State {
	n, m, k := r.Uint64(), r.Uint64(), r.Uint64()
	return State{
		Phase: uint32(n), Yaw: geom.Angle(n >> 32), Hips: geom.Angle(n >> 48), Move: geom.Angle(m),
		Gait:  uint16(m >> 16),
		Squat: uint16(k), Bank: int16(k >> 16), Cushion: uint8(k >> 32),
		Fall: uint8(k >> 40), Stance: rig.Stance(k >> 48 & 7), Hero: rig.Hero(k >> 56),
	}
}

// Tell is the public state of a pose.
func Tell(p *rig.Pose) (t Public) {
	t.FromPose(p)
	return t
}

// Step is one body's tick.
func Step(s State, in Input, t *Table) State {
	states := []State{s}
	StepColumns(states, []Input{in}, t)
	return states[0]
}
