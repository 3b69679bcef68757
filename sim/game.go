package sim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// MaxHeroes is how many heroes a game may have: the wire has 4 bits for one.
const MaxHeroes = 16

// Game is the content of a match: heroes, objects, the mode, and the objects on the map. Both ends
// need the same. It must not change once a match or a client has it.
type Game struct {
	Heroes      []Hero                  // 1 to MaxHeroes; a hero's id is its index
	Projectiles []object.ProjectileKind // ability.Projectile 1 and on
	Grenade     object.GrenadeKind      // ability.Grenade
	Barrel      object.BarrelKind       // of all barrels
	Cube        object.CubeKind         // of all cubes
	Items       []object.ItemKind       // ids are their indexes
	Zone        object.Zone             // size of zones that OnArena places; Center is unused
	Mode        mode.Params
	Effects     content.EffectTable // what presents shots, impacts and explosions
	// RewindMillis is the furthest a shot may look back; 0: 400, a round trip of 200 ms and the
	// view's delay.
	RewindMillis int32
	HeadScale    int16 // damage factor of a head shot, 1 to 100
	Layout       Layout
	Pack         [32]byte // Shared of its content pack; 0 without one
}

// Hero is a body and what it can do.
type Hero struct {
	ability.HeroParams
	Body move.Params
}

// Layout is the objects on a map. Lists may be empty.
type Layout struct {
	Homes []Home
	// capture points, in the order in which they are attacked; at most mode.MaxPoints
	Points      []object.Zone
	Barrels     []geom.Vec3 // their feet
	Cubes       []geom.Vec3 // their centres
	Areas       []DamageArea
	Teleporters []object.Teleporter
	Items       []PlacedItem
	Objects     []PlacedObject // of kinds that maps place by name
}

// PlacedItem is an item on a map.
type PlacedItem struct {
	Pos  geom.Vec3
	Kind uint8 // of Game.Items
}

// PlacedObject is an object of a kind that says itself what it is and does.
type PlacedObject struct {
	Kind string
	Pos  geom.Vec3 // its foot
	Yaw  geom.Angle
}

// Home is a box in which players of a team may change their hero.
type Home struct {
	Team uint8
	Box  geom.AABB
}

// DamageArea is a box that hurts players in it.
type DamageArea struct {
	Box  geom.AABB
	Kind object.AreaKind
}

// The ids of the default heroes.
const (
	Terraformer = 0
	Robot       = 1
)

// DefaultGame is FPSSample's deathmatch, with its two heroes and no objects. Head shots count
// twice, unlike in FPSSample, which has no heads. The caller may change it.
func DefaultGame() *Game {
	return &Game{
		Heroes: []Hero{{ability.TerraformerParams(), move.DefaultParams()}, {ability.RobotParams(),
			move.RobotParams()}},
		Projectiles: object.DefaultProjectiles(), Grenade: object.DefaultGrenade(),
		Barrel: object.DefaultBarrel(), Cube: object.DefaultCube(), Zone: object.DefaultZone(geom.Vec3{}),
		Mode: mode.DefaultDeathmatch(), HeadScale: 2,
	}
}
