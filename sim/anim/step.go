package anim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/move"
)

// levelVelocity is the level part of a velocity.
type levelVelocity struct {
	speed   uint32     // move.VelUnit
	bearing geom.Angle // 0 for no speed
}

// StepColumns takes every state through one tick; in[i] is the input of body i. It panics if in is
// the shorter.
func StepColumns(states []State, in []Input, t *Table) {
	in = in[:len(states)]
	for i := range states {
		step(&states[i], &in[i], measure(in[i].Vel.X, in[i].Vel.Z), t)
	}
}

// step is one body's tick: the stance, the phase, the hips, the fall, the weights, the bank. It is
// one function because calls would take as long as the work.
func step(s *State, in *Input, w levelVelocity, t *Table) {
	r := &t[heroOrFirst(s.Hero)]
	turned := int32(int16(in.Yaw - s.Yaw))
	travel := s.Move
	moves := w.speed > r.still
	if moves {
		travel = w.bearing - in.Yaw
	}
	s.Yaw, s.Move = in.Yaw, travel

	was := s.Stance
	now := s.next(in, r, moves)
	s.Stance = now
	row := &r.stances[now]
	s.Phase += w.speed*row.perUnit + row.perTick

	off := int32(int16(s.Hips - in.Yaw))
	goal := off
	m := int32(int16(travel))
	if moves {
		goal = hipsGoal(m)
	} else if now != rig.Stand {
		goal = 0
	}
	if now != rig.Dead {
		off += min(max(int32(int16(goal-off)), -r.hips), r.hips)
	}
	s.Hips = in.Yaw + geom.Angle(min(max(int32(int16(off)), -0x4000), 0x4000))

	if !grounded(now) {
		s.Fall = uint8(min(max(int32(cleanVelocity(in.Vel.Y)*-fallsPerMetre), 0), 255))
	} else if !grounded(was) {
		s.land(r)
	}

	moveTowards(&s.Gait, int32(min(uint64(w.speed)*uint64(row.gaitPerUnit)>>8, full))+row.gait, r.gaitStep)
	if squat := max(int32(s.Cushion)*257, row.squat); int32(s.Squat) < squat {
		moveTowards(&s.Squat, squat, row.squatStep)
	} else if s.Squat != 0 {
		moveTowards(&s.Squat, squat, r.riseStep)
		s.Cushion = 0
	}

	// The bank that this turn deserves: the acceleration to the side of a run straight ahead, none
	// of one sideways, the opposite of one backwards.
	if turned != 0 || s.Bank != 0 {
		ahead := int64(0x4000 - max(m, -m))
		lean := int32(min(max(int64(w.speed)*int64(turned)*ahead*row.bank>>32, -32767), 32767))
		s.Bank += int16(min(max(lean-int32(s.Bank), -r.bankStep), r.bankStep))
	}
}

// heroOrFirst is the hero, or the first one if it has no rates.
func heroOrFirst(h rig.Hero) rig.Hero {
	if h >= rig.Heroes {
		return rig.Terraformer
	}
	return h
}

// cleanVelocity replaces a velocity that move cannot have produced by 0.
func cleanVelocity(v float32) float32 {
	if !(geom.Abs(v) <= move.TopSpeed) { // NaN as well
		return 0
	}
	return v
}

// measure splits a level velocity into speed and bearing, the latter within a quarter of a degree:
// a parabola over each eighth of a turn in integers, since the library's arc tangents may differ
// between machines.
func measure(vx, vz float32) levelVelocity {
	vx, vz = cleanVelocity(vx), cleanVelocity(vz)
	x, z := int32(vx*(1/move.VelUnit)), int32(vz*(1/move.VelUnit))
	speed := uint32(geom.Sqrt(float32(vx*vx)+float32(vz*vz)) * (1 / move.VelUnit))

	// No branches, as the eighth cannot be predicted. A mask of ones negates: (a ^ ones) - ones.
	left, behind := x>>31, z>>31
	ax, az := (x^left)-left, (z^behind)-behind
	q := int32(uint32(min(ax, az)) << 12 / uint32(max(ax, az, 1))) // 0 to 4096
	a := (q*8192 + q*(4096-q)>>12*2847) >> 12                      // 2847 = 0.273 radians
	aside := (az - ax) >> 31
	a = (a ^ aside) - aside + aside&0x4000
	a = (a ^ behind) - behind + behind&0x8000
	return levelVelocity{speed, geom.Angle((a ^ left) - left)}
}

// next is the stance of this tick.
func (s *State) next(in *Input, r *Rates, moves bool) rig.Stance {
	switch in.Loco {
	case move.Stand, move.GroundMove:
		switch off := angleBetween(s.Hips, in.Yaw); {
		case moves && in.Flags&(Sprinting|Shooting) == Sprinting:
			return rig.Sprint
		case moves:
			return rig.Run
		case off > r.turnAfter, s.Stance == rig.Turn && off > r.turnWithin:
			return rig.Turn
		}
		return rig.Stand
	case move.Jumping, move.DoubleJump, move.Launched:
		return rig.Jump
	case move.InAir:
		if in.Flags&NearGround != 0 && in.Vel.Y < 0 {
			return rig.Land
		}
		return rig.InAir
	}
	return rig.Dead
}

// angleBetween is the angle between a and b, never negative.
func angleBetween(a, b geom.Angle) int32 {
	d := int32(int16(a - b))
	return max(d, -d)
}

func grounded(s rig.Stance) bool { return s <= rig.Sprint }

// sideways is the widest angle from straight ahead at which legs run forwards; beyond, they run
// backwards. It is past a quarter turn, so that running sideways does not flicker between the two.
const sideways = 0x4800

// hipsGoal is where the hips turn to, relative to the view, for a direction of travel likewise:
// two thirds of the way to it, or to its opposite.
func hipsGoal(m int32) int32 {
	backwards := (sideways - max(m, -m)) >> 31 // ones or none
	return int32(int16(m^backwards&0x8000)) * 2 / 3
}

// land remembers how hard a fall ended until the knees have bent as far.
func (s *State) land(r *Rates) {
	fall := min(max(int32(s.Fall), r.soft), r.hard) - r.soft
	s.Cushion = uint8(fall * 255 / (r.hard - r.soft))
	s.Fall = 0
}

// moveTowards moves a weight towards its goal by at most step. Most have arrived.
func moveTowards(x *uint16, goal, step int32) {
	if d := goal - int32(*x); d != 0 {
		*x += uint16(min(max(d, -step), step))
	}
}
