package rig

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Pose is where and how one player stood at one tick. All values of all fields are valid.
//
//	12  Pos     feet, metres
//	 2  Yaw     view direction
//	 2  Pitch   as signed: up is positive
//	 2  Flags   dead, team, life (see Flags); 0: alive, of team 0
//	 2  Phase   1/65536 of two steps; the left leg swings forward in the outer quarters
//	 4  ID      network id; 0 means the slot was empty
//	 1  Form    build and stance (see Form)
//	 1  Move    direction of travel, clockwise from Yaw, 1/256 turn
//	 1  Gait    speed over the ground: 0 stands, 255 sprints
//	 1  Bank    lean of the torso, -127 left to 127 right
//	 1  Hips    where the hips face, clockwise from Yaw, signed 1/256 turn
//	 1  Aim     0 arms hang or swing, 255 they hold a weapon along the view
//	 1  Air     0 on the ground, 255 in the air
//	 1  Squat   0 upright, 255 knees bent
type Pose struct {
	Pos        geom.Vec3
	Yaw, Pitch geom.Angle
	Flags      uint16
	Phase      uint16
	ID         uint32
	Form       Form
	Move, Gait uint8
	Bank, Hips int8
	Aim, Air   uint8
	Squat      uint8
}

// A pose is half a cache line.
var _ [32]byte = [unsafe.Sizeof(Pose{})]byte{}

// Bits of Pose.Flags; bits 3 to 7 are the owner's.
const (
	FlagDead  uint16 = 1 << 0 // cannot be hit
	teamShift        = 1
	teamMask  uint16 = 3 << teamShift
	lifeShift        = 8
	LifeMask  uint16 = 0xFF << lifeShift // which life
)

// Flags packs a pose's flags: team is 0..3 (higher bits are cut off), and life counts placements,
// spawns and teleports, modulo 256: poses of different lives are never mixed.
func Flags(alive bool, team, life uint8) uint16 {
	f := uint16(team)<<teamShift&teamMask | uint16(life)<<lifeShift
	if !alive {
		f |= FlagDead
	}
	return f
}

// Alive reports whether p can be hit: its slot is not empty, and it is not dead.
func (p *Pose) Alive() bool { return p.ID != 0 && p.Flags&FlagDead == 0 }

// Team is 0..3.
func (p *Pose) Team() uint8 { return uint8(p.Flags & teamMask >> teamShift) }

// Form is a build and a stance in one byte: stance in the low three bits, build in the three above.
// The upper two are 0.
type Form uint8

// FormOf packs h and s. For a table of Bodies other than HeroBodies h is the number of the build.
func FormOf(h Hero, s Stance) Form { return Form(h&7)<<3 | Form(s&7) }

// Build is the number of the build in Bodies, below MaxBuilds.
func (f Form) Build() uint8 { return uint8(f >> 3 & (MaxBuilds - 1)) }

// Hero is the build as one of HeroBodies; numbers without a skeleton count as Terraformer.
func (f Form) Hero() Hero {
	if h := Hero(f >> 3 & 7); h < Heroes {
		return h
	}
	return Terraformer
}

// Stance is what the body is doing.
func (f Form) Stance() Stance { return Stance(f & 7) }

// Hero is a build, with a skeleton of its own.
type Hero uint8

// The heroes of FPSSample.
const (
	Terraformer Hero = iota // 1.8 m
	Robot                   // 2.2 m
	Heroes                  // how many there are
)

// String names the hero.
func (h Hero) String() string {
	if h < Heroes {
		return [Heroes]string{"terraformer", "robot"}[h]
	}
	return "hero?"
}

// Stance is the state of the body. The capsules depend only on whether it is Dead; weights carry
// everything that blends. Sounds and pictures may use the rest.
type Stance uint8

// The stances.
const (
	Stand  Stance = iota
	Turn          // standing, feet shuffling after the view
	Run           // on foot at any speed below a sprint
	Sprint        // the weapon is down
	Jump          // pushing off
	InAir         // rising or falling
	Land          // about to touch the ground
	Dead          // collapsed
)

// String names the stance.
func (s Stance) String() string {
	return [8]string{"stand", "turn", "run", "sprint", "jump", "air", "land", "dead"}[s&7]
}

// Lerp is the one interpolation between two snapshots of a player, for the client's picture and
// the server's verdict: frac/256 of the way from a to b, position and weights straight, angles and
// phase along the shorter arc (the hips never through the back of the view), everything else from
// a. It leaves a unchanged, whatever frac, if the two are Discontinuous.
func Lerp(a, b *Pose, frac uint8) Pose {
	p := *a
	if frac == 0 || Discontinuous(a, b) {
		return p
	}
	n := int32(frac)
	p.Pos = a.Pos.Lerp(b.Pos, float32(n)/256)
	p.Yaw += geom.Angle(int32(int16(b.Yaw-a.Yaw)) * n >> 8)
	p.Pitch += geom.Angle(int32(int16(b.Pitch-a.Pitch)) * n >> 8)
	p.Phase += uint16(int32(int16(b.Phase-a.Phase)) * n >> 8)
	p.Move += uint8(int32(int8(b.Move-a.Move)) * n >> 8)
	p.Hips += int8((int32(b.Hips) - int32(a.Hips)) * n >> 8)
	p.Gait, p.Aim = mix(a.Gait, b.Gait, n), mix(a.Aim, b.Aim, n)
	p.Air, p.Squat = mix(a.Air, b.Air, n), mix(a.Squat, b.Squat, n)
	p.Bank += int8((int32(b.Bank) - int32(a.Bank)) * n >> 8)
	return p
}

func mix(a, b uint8, n int32) uint8 { return uint8(int32(a) + (int32(b)-int32(a))*n>>8) }

// Discontinuous reports that two poses of one slot must not be interpolated: another player,
// another life, a change of alive, or another build.
func Discontinuous(a, b *Pose) bool {
	return a.ID != b.ID || (a.Flags^b.Flags)&(FlagDead|LifeMask) != 0 || a.Form.Build() != b.Form.Build()
}
