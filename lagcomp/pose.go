package lagcomp

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Pose is where and how one player stood at one tick: parameters, from which hit shapes are worked out when somebody
// shoots near them.
//
//	12  Pos     feet, metres
//	 2  Yaw     view direction; also the head's
//	 2  Pitch   as signed: up is positive
//	 2  Flags   alive, team, life (see Flags)
//	 2  Phase   1/65536 of the animation cycle
//	 4  ID      network id; 0 means the slot was empty
//	 2  Stance  which cycle Phase runs through, the owner's numbering
//	 6          spare
type Pose struct {
	Pos        geom.Vec3
	Yaw, Pitch geom.Angle
	Flags      uint16
	Phase      uint16
	ID         uint32
	Stance     uint16
	_          [3]uint16
}

// A pose is half a cache line.
var _ [32]byte = [unsafe.Sizeof(Pose{})]byte{}

// Bits of Pose.Flags; bits 3 to 7 are the owner's.
const (
	FlagAlive uint16 = 1 << 0 // can be hit
	teamShift        = 1
	teamMask  uint16 = 3 << teamShift
	lifeShift        = 8
	lifeMask  uint16 = 0xFF << lifeShift
)

// NoTeam in a Shot spares nobody but the shooter.
const NoTeam uint8 = 255

// Flags packs a pose's flags: team is 0..3 (higher bits are cut off), and life counts placements, spawns and teleports,
// modulo 256: poses of different lives are never mixed.
func Flags(alive bool, team, life uint8) uint16 {
	f := uint16(team)<<teamShift&teamMask | uint16(life)<<lifeShift
	if alive {
		f |= FlagAlive
	}
	return f
}

// Alive reports whether p can be hit.
func (p Pose) Alive() bool { return p.Flags&FlagAlive != 0 }

// Team is 0..3.
func (p Pose) Team() uint8 { return uint8(p.Flags & teamMask >> teamShift) }

// Lerp is the one interpolation between two snapshots of a slot, for the client's picture and the server's verdict:
// frac/256 of the way from a to b, position straight, angles and phase along the shorter arc, all else from a. It takes
// a unchanged, whatever frac, where the two are not one unbroken life: another ID, an edge of alive, another life.
func Lerp(a, b Pose, frac uint8) Pose {
	if frac == 0 || broken(a.key(), b.key()) {
		return a
	}
	f := fraction(frac)
	a.Pos = a.Pos.Lerp(b.Pos, f)
	a.Yaw, a.Pitch = a.Yaw.Lerp(b.Yaw, f), a.Pitch.Lerp(b.Pitch, f)
	a.Phase = uint16(geom.Angle(a.Phase).Lerp(geom.Angle(b.Phase), f))
	return a
}

func fraction(frac uint8) float32 { return float32(frac) / 256 }

// key is all of a pose that is compared rather than computed with: ID<<32 | Flags; never 0 for an ID that is not.
func (p Pose) key() uint64 { return uint64(p.ID)<<32 | uint64(p.Flags) }

// broken reports that two keys of one slot must not be mixed.
func broken(a, b uint64) bool {
	const life = 0xFFFFFFFF<<32 | uint64(FlagAlive|lifeMask)
	return (a^b)&life != 0
}
