package anim

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/move"
)

// StepColumns takes every state through one tick; in[i] is what body i did. It panics if in is the shorter.
func StepColumns(states []State, in []Input, t *Table) {
	in = in[:len(states)]
	for i := range states {
		step(&states[i], &in[i], t)
	}
}

// Step is one body's tick.
func Step(s State, in Input, t *Table) State {
	step(&s, &in, t)
	return s
}

func step(s *State, in *Input, t *Table) {
	r := &t[build(s.Hero)]
	x, z := units(in.Vel.X), units(in.Vel.Z)
	speed := uint32(math.Sqrt(float64(int64(x)*int64(x) + int64(z)*int64(z)))) // floor: the root is correctly rounded
	turned := int32(int16(in.Yaw - s.Yaw))
	s.Yaw = in.Yaw
	moves := speed > r.still
	if moves {
		s.Move = bearing(x, z) - in.Yaw
	}
	was := s.Stance
	s.Stance = s.next(in, r, moves)
	s.stride(r, speed)
	s.turn(r, moves)
	s.cushion(in, r, was)
	s.blend(in, r, speed, turned)
}

// build is a hero that has rates.
func build(h rig.Hero) rig.Hero {
	if h >= rig.Heroes {
		return rig.Terraformer
	}
	return h
}

// units is a velocity in move.VelUnit; what move cannot have produced counts as 0.
func units(v float32) int32 {
	if !(v >= -move.TopSpeed && v <= move.TopSpeed) {
		return 0
	}
	return int32(v * (1 / move.VelUnit))
}

// bearing is the yaw that looks along (x, z), not both 0, within a quarter of a degree: a parabola over each eighth of a turn
// in integers, since arc tangents of the library may differ between machines.
func bearing(x, z int32) geom.Angle {
	ax, az := uint32(max(x, -x)), uint32(max(z, -z))
	lo, hi := min(ax, az), max(ax, az)
	q := lo << 12 / hi                        // 0 to 4096; velocities have 17 bits
	a := (q*8192 + q*(4096-q)>>12*2847) >> 12 // 2847 = 0.273 radians
	if ax > az {
		a = 0x4000 - a
	}
	if z < 0 {
		a = 0x8000 - a
	}
	if x < 0 {
		a = -a
	}
	return geom.Angle(a)
}

// next is the stance this tick.
func (s *State) next(in *Input, r *Rates, moves bool) rig.Stance {
	switch in.Loco {
	case move.Stand, move.GroundMove:
		switch off := apart(s.Hips, in.Yaw); {
		case moves && in.Acts&Sprinting != 0:
			return rig.Sprint
		case moves:
			return rig.Run
		case off > r.turnAfter, s.Stance == rig.Turn && off > r.turnWithin:
			return rig.Turn
		}
		return rig.Stand
	case move.Jumping, move.DoubleJump:
		return rig.Jump
	case move.InAir:
		if in.Acts&Near != 0 && in.Vel.Y < 0 {
			return rig.Land
		}
		return rig.InAir
	}
	return rig.Dead
}

// apart is the angle between a and b, never negative.
func apart(a, b geom.Angle) int32 {
	d := int32(int16(a - b))
	return max(d, -d)
}

func grounded(s rig.Stance) bool { return s <= rig.Sprint }

// stride carries the phase on by the way walked. In the air legs go on a quarter as fast.
func (s *State) stride(r *Rates, speed uint32) {
	switch s.Stance {
	case rig.Turn:
		s.Phase += r.shuffle
	case rig.Sprint:
		s.Phase += speed * r.sprint
	case rig.Run:
		s.Phase += speed * r.cycle
	case rig.Jump, rig.InAir, rig.Land:
		s.Phase += speed * (r.cycle / 4)
	}
}

// sideways is the widest angle from straight ahead that is run forwards; beyond, legs run backwards. It is past a quarter turn,
// so that running sideways does not flicker between the two.
const sideways = 0x4800

// turn brings the hips round. They follow two thirds of the travel's angle, and never leave the view by more than a quarter
// turn.
func (s *State) turn(r *Rates, moves bool) {
	goal := s.Hips
	switch {
	case s.Stance == rig.Dead:
	case moves:
		m := int32(int16(s.Move))
		if m > sideways || m < -sideways {
			m = int32(int16(s.Move + 0x8000))
		}
		goal = s.Yaw + geom.Angle(m*2/3)
	case s.Stance != rig.Stand:
		goal = s.Yaw
	}
	way := int32(int16(goal - s.Hips))
	s.Hips += geom.Angle(min(max(way, -r.hips), r.hips))
	off := int32(int16(s.Hips - s.Yaw))
	s.Hips = s.Yaw + geom.Angle(min(max(off, -0x4000), 0x4000))
}

// cushion remembers how hard a fall ends until the knees have bent so far.
func (s *State) cushion(in *Input, r *Rates, was rig.Stance) {
	if grounded(s.Stance) {
		if !grounded(was) {
			fall := min(max(int32(s.Fall), r.soft), r.hard) - r.soft
			s.Cushion = uint8(fall * 255 / (r.hard - r.soft))
		}
		s.Fall = 0
		return
	}
	s.Fall = uint8(min(max(-units(in.Vel.Y), 0)*fallsPerMetre>>10, 255))
}

// blend runs the weights towards their goals.
func (s *State) blend(in *Input, r *Rates, speed uint32, turned int32) {
	gait := int32(min(uint64(speed)*uint64(r.gait)>>8, full))
	air, aim, squat, squatStep := int32(0), int32(full), int32(s.Cushion)*257, r.squatStep
	switch s.Stance {
	case rig.Turn:
		gait = full / 8
	case rig.Sprint:
		if in.Acts&Shooting == 0 {
			aim = 0
		}
	case rig.Jump, rig.InAir:
		air = full
	case rig.Land: // reach for the ground
		air, squat = full/3, full/8
	case rig.Dead:
		gait, aim, squat, squatStep = 0, 0, full, r.collapseStep
	}
	if int32(s.Squat) >= squat {
		squatStep = r.riseStep
		s.Cushion = 0
	}
	s.Gait = toward(s.Gait, gait, r.gaitStep)
	s.Air = toward(s.Air, air, r.airStep)
	s.Aim = toward(s.Aim, aim, r.aimStep)
	s.Squat = toward(s.Squat, squat, squatStep)
	lean := s.lean(r, speed, turned)
	s.Bank += int16(min(max(lean-int32(s.Bank), -r.bankStep), r.bankStep))
}

func toward(x uint16, goal, step int32) uint16 {
	d := goal - int32(x)
	return uint16(int32(x) + min(max(d, -step), step))
}

// lean is the bank that this tick's turn deserves: the acceleration to the side of a run straight ahead, none of one sideways,
// the opposite of one backwards.
func (s *State) lean(r *Rates, speed uint32, turned int32) int32 {
	if !grounded(s.Stance) {
		return 0
	}
	m := int64(int16(s.Move))
	ahead := 0x4000 - max(m, -m)
	return int32(min(max(int64(speed)*int64(turned)*ahead*r.bank>>32, -32767), 32767))
}
