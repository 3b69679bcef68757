package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// First index of each kind of object in net ids. Players' indexes lie below all of them.
const (
	FirstProjectile = pageProjectile * ecs.PageSlots
	FirstGrenade    = pageGrenade * ecs.PageSlots
	FirstBarrel     = pageBarrel * ecs.PageSlots
	FirstCube       = pageCube * ecs.PageSlots
)

// Objects is the resource of the columns of objects: arche's own memory, which is valid until the
// next tick ends. Rows may be read between ticks.
//
// Projectiles and grenades are in the order in which they were fired. Their ids are First... plus
// an index, which is reused, the lowest free first, with another generation, once a row is gone: a
// row lingers for ProjectileKind.LingerMillis after its end. A client needs a projectile's
// Trajectory once, and Hit, Ended, Point and Normal after the impact; and all 48 bytes of a
// grenade, whose Thrown, Owner and Type never change. What the map places is always there, in the
// order of the Layout: Areas, Ports, Zones, Homes, Spawns, and the Scene's barrels and cubes.
type Objects struct {
	Projectiles []object.Projectile
	Grenades    []object.Grenade
	Areas       []object.Area
	Ports       []object.Teleporter
	Zones       []object.Zone
	Occupied    []mode.Occupancy // of the zones, as of this tick
	Homes       []Home
	Spawns      []SpawnPoint // in the order of the arena: each team's follow each other

	areaHits  object.AreaHits
	occupants []object.Occupancy
}
