package netstate

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// Kind is a class of objects.
type Kind uint8

// The classes. Zero is no object. A row tells eight apart: the last one stands for all of
// declareClass, which its Type tells apart.
const (
	Projectile Kind = 1 + iota
	Grenade
	Barrel
	Cube
	Teleporter
	Zone
	firstDeclared
	Kinds = firstDeclared + 16 // how many a row can tell apart by Kind and Type, none included
)

// Class is the class of an object.
func (o *ObjectState) Class() Kind {
	if o.Kind == firstDeclared {
		return firstDeclared + Kind(o.Type)
	}
	return o.Kind
}

// declared is an object of a class of declareClass.
func declared(k Kind) ObjectState {
	return ObjectState{Kind: firstDeclared, Type: uint8(k - firstDeclared), Team: NoTeam}
}

var kindNames = [Kinds]string{"none", "projectile", "grenade", "barrel", "cube", "teleporter", "zone"}

// String names the class.
func (k Kind) String() string {
	if k.Known() {
		return kindNames[k]
	}
	return "invalid"
}

// Known reports whether there is such a class.
func (k Kind) Known() bool { return k < Kinds && kindNames[k] != "" }

// Flies reports whether objects of the class are launched by a player and move by a formula of
// their launch.
func (k Kind) Flies() bool { return k == Projectile || k == Grenade }

// ObjectState is the state of an object. Its tags are the whole description of a row:
// ObjectStateSchema, and the code that captures and restores it, are generated from them. Pos is
// on the grid of package move, so both ends compute the same bits of a trajectory.
//
//	class       Born      Span      Pos                    Aim               Phase        Level
//	projectile  fired     to end    start; end, once over  yaw, pitch        HitKind
//	grenade     thrown    to blast  start; end, once over  1/1024 m/s        1: exploded
//	barrel      broken    0         foot                   0                 1: broken    health
//	cube        0         0         centre                 rotation          0
//	teleporter  last use  0         middle of its box      0                 1: was used
//	zone        0         0         centre                 players of teams  mode.Status  progress
//	turret      0         0         foot                   last bolt         1: owned
//	item        pickup    to back   foot                   0                 1: taken     kind
//
// The Aim of a grenade is its velocity; the Level of a zone is its progress in 1/1023.
type ObjectState struct {
	_     struct{}  `net:"thing"`
	Kind  Kind      `net:"what,bits=3,spawn=kind"`
	Type  uint8     `net:"what,bits=4"` // of the game's ProjectileKinds or GrenadeKinds; see Class
	Team  uint8     `net:"what,bits=2"` // 3: none
	Index uint8     `net:"what,bits=3"` // of the owner's launches of this class and tick, at most 7
	Owner uint32    `net:",min=0,max=1048575,often=2"`
	Born  uint16    `net:",wrap=65536,often=2,spawn=tick"` // a tick, modulo 65536; see Tick
	Span  uint16    `net:",min=0,max=4095,often=5"`
	Pos   geom.Vec3 `net:",inline,quant=4096,min=-2048,max=2048,often=10"`
	Aim   [3]int32  `net:",min=-131072,max=131071,often=5"`
	Phase uint8     `net:"state,bits=3,often=5"`
	Rests bool      `net:"state,bits=1"` // of a cube
	Turn  uint8     `net:"state,bits=2"` // of a cube: which part of its rotation is omitted
	Level uint16    `net:",min=0,max=1023,often=3"`
}

// Objects describes a row of an object.
var Objects = ObjectStateSchema

// MaxObjects is the most objects sent at a time, MaxStanding the most of them that do not fly.
const (
	MaxObjects  = 127 * snapshot.GroupRows
	MaxStanding = 240
)

// ObjectSlots is the most objects that a lobby of players sends at a time: standing objects and two
// projectiles or grenades a player, at most MaxObjects. Both ends compute it.
func ObjectSlots(players int) int {
	return min((256+2*players)/snapshot.GroupRows*snapshot.GroupRows, MaxObjects)
}

// NoTeam is the Team of an object without one.
const NoTeam = 3

// maxEvent is for how many ticks a barrel or a teleporter sends when it was broken or used: Born
// must stay unambiguous.
const maxEvent = 1 << 15

// Tick is the tick that Born stands for, in a row of a snapshot of tick now: the newest that is
// not later.
func (o *ObjectState) Tick(now tick.Tick) tick.Tick { return now - tick.Tick(uint16(now)-o.Born) }

// Over reports whether a launched object has ended; Pos is where.
func (o *ObjectState) Over() bool { return o.Phase != 0 }

// Ended is the tick in which a launched object ended, 0 while it has not.
func (o *ObjectState) Ended(now tick.Tick) tick.Tick {
	if o.Phase == 0 {
		return 0
	}
	return o.Tick(now) + tick.Tick(o.Span)
}

// OfProjectile describes a projectile; index counts its owner's projectiles of that tick.
func (o *ObjectState) OfProjectile(p *object.Projectile, index int) {
	// and field by field: a literal would be built aside and copied, as in PlayerState.Gather
	*o = ObjectState{}
	o.Kind, o.Type, o.Team, o.Index, o.Owner = Projectile, p.Type, min(p.Team, NoTeam),
		uint8(min(index, 7)), uint32(p.Owner)
	o.Born, o.Pos, o.Aim[0], o.Aim[1] = uint16(p.Tick), p.Start, int32(p.Yaw), int32(p.Pitch.Signed())
	if p.Hit != object.Flying {
		o.Phase, o.Span, o.Pos = uint8(p.Hit), uint16(p.Ended-p.Tick), p.Point
	}
}

// Flight is the trajectory of a projectile that has not ended, in a row of a snapshot of tick now.
func (o *ObjectState) Flight(now tick.Tick) object.Trajectory {
	return object.Trajectory{Start: o.Pos, Yaw: geom.Angle(o.Aim[0]), Pitch: geom.Angle(o.Aim[1]),
		Tick: o.Tick(now), Owner: netID(o.Owner),
		Type: o.Type, Team: o.Team}
}

// velUnits is the grid of velocities in 1/(m/s), as in package move.
const velUnits = 1024

// OfGrenade describes a grenade; Pos, Vel and Thrown of launch are those of the throw.
func (o *ObjectState) OfGrenade(g, launch *object.Grenade, index int) {
	*o = ObjectState{}
	o.Kind, o.Type, o.Team, o.Index, o.Owner = Grenade, g.Type, min(g.Team, NoTeam), uint8(min(index, 7)),
		uint32(g.Owner)
	o.Born, o.Pos = uint16(launch.Thrown), launch.Pos
	o.Aim[0], o.Aim[1], o.Aim[2] = int32(launch.Vel.X*velUnits), int32(launch.Vel.Y*velUnits),
		int32(launch.Vel.Z*velUnits)
	if g.Exploded != 0 {
		o.Phase, o.Span, o.Pos = 1, uint16(g.Exploded-launch.Thrown), g.Pos
	}
}

// Launch is the grenade as it was thrown, if it has not exploded, in a row of a snapshot of tick
// now.
func (o *ObjectState) Launch(now tick.Tick) object.Grenade {
	return object.Grenade{Pos: o.Pos, Vel: geom.Vec3{X: float32(o.Aim[0]) / velUnits,
		Y: float32(o.Aim[1]) / velUnits, Z: float32(o.Aim[2]) / velUnits},
		Thrown: o.Tick(now), Owner: netID(o.Owner), Type: o.Type, Team: o.Team}
}

// OfBarrel describes a barrel at the end of tick now.
func (o *ObjectState) OfBarrel(b *object.Barrel, now tick.Tick) {
	*o = ObjectState{Kind: Barrel, Team: NoTeam, Pos: b.Pos, Level: uint16(max(b.Health, 0))}
	if b.Health <= 0 {
		o.Phase = 1
	}
	if b.Broken != 0 && now-b.Broken < maxEvent {
		o.Born = uint16(b.Broken)
	}
}

// OfTeleporter describes a teleporter at the end of tick now.
func (o *ObjectState) OfTeleporter(p *object.Teleporter, now tick.Tick) {
	*o = ObjectState{Kind: Teleporter, Team: NoTeam, Pos: p.Box.Min.Add(p.Box.Max).Scale(0.5)}
	if p.Effect != 0 && now-p.Effect < maxEvent {
		o.Phase, o.Born = 1, uint16(p.Effect)
	}
}

// OfZone describes capture point i of a mode whose state is s.
func (o *ObjectState) OfZone(i int, z *object.Zone, in *mode.Occupancy, s *mode.State, r *mode.Rules) {
	*o = ObjectState{Kind: Zone, Team: NoTeam, Pos: z.Center, Aim: [3]int32{int32(in[0]), int32(in[1])}}
	if i < int(s.Point) {
		o.Level = 1023
	}
	if full := r.CaptureTotal(); i == int(s.Point) && full > 0 {
		o.Phase, o.Level = uint8(s.Status), uint16(min(uint64(s.Progress)*1023/uint64(full), 1023))
	}
}

// OfCube describes a cube. Its rotation is sent as the three smallest parts of its quaternion, in
// 1/turnUnits; the largest is positive.
func (o *ObjectState) OfCube(c *object.Cube) {
	*o = ObjectState{Kind: Cube, Team: NoTeam, Pos: c.Pos, Rests: c.Resting}
	for i, v := range c.Rot {
		if size(v) > size(c.Rot[o.Turn]) {
			o.Turn = uint8(i)
		}
	}
	sign := int32(1)
	if c.Rot[o.Turn] < 0 {
		sign = -1
	}
	n := 0
	for i, v := range c.Rot {
		if i != int(o.Turn) {
			o.Aim[n] = (sign*int32(v)*turnUnits + sign*half(v)) / rotationOne
			n++
		}
	}
}

// Rotation is what OfCube wrote, to 1/turnUnits.
func (o *ObjectState) Rotation() object.Rotation {
	var r object.Rotation
	n, sum := 0, int64(0)
	for i := range r {
		if i == int(o.Turn) {
			continue
		}
		v := int64(min(max(o.Aim[n], -turnUnits), turnUnits)) * rotationOne / turnUnits
		r[i] = int16(v)
		sum += v * v
		n++
	}
	r[o.Turn] = int16(geom.Sqrt(float32(max(rotationOne*rotationOne-sum, 0))))
	return r
}

// Units of rotations: on the wire, and of object.Rotation.
const (
	turnUnits   = 1 << 11
	rotationOne = 32767
)

func size(v int16) int32 { return max(int32(v), -int32(v)) }

// half rounds v to the nearest, away from 0.
func half(v int16) int32 {
	if v < 0 {
		return -rotationOne / 2
	}
	return rotationOne / 2
}

func netID(owner uint32) netid.ID { return netid.ID(owner) }
