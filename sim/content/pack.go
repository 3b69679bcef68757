package content

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// Side is the end of a match that needs a value.
type Side uint8

// The sides. Both is also the whole pack, which tools read.
const (
	Both Side = iota
	Server
	Client
)

// String is the side as files name it.
func (s Side) String() string {
	if int(s) < len(sides) {
		return sides[s]
	}
	return "none"
}

// sides are the names of sides in files, by value.
var sides = []string{"both", "server", "client"}

// needs reports whether a reader of side s needs what is marked m.
func (s Side) needs(m Side) bool { return s == Both || m == Both || s == m }

// Pack is a content pack as it was read. It is read-only: its slices are its own, and hashes are of
// what was read.
type Pack struct {
	Format int32 // FormatVersion
	Name   string
	Files  []string // other than pack.toml

	Heroes      []Hero
	Abilities   []Ability
	Projectiles []Projectile
	Grenades    []Grenade
	Barrel      Barrel
	Cube        object.CubeKind
	Zone        Zone
	Areas       []Area
	Items       []Item
	Effects     []Effect
	Modes       []Mode
	Maps        []Map
	Rules       Rules
	Assets      []Asset

	side   Side
	bytes  map[string][]byte // of assets, by name
	hash   [32]byte
	shared [32]byte
}

// Hero is a body and a list of abilities.
type Hero struct {
	Name      string   // unique among heroes
	Title     string   // for players; clients only
	Health    int16    // points at spawn, 1 to 10000
	Abilities []string // 1 to ability.MaxSlots, in the order in which they are served
	Body      move.Params
}

// Ability is one that heroes may have. Its lists may name abilities that a hero has not; there they
// mean nothing.
type Ability struct {
	ability.SlotParams // Name is unique among abilities
	Title              string
	Flies              string // projectile or grenade it fires, "": none; SlotParams has its id
	Effect             string // of its use; of a gun with rounds, a hitscan effect; "": none
}

// Projectile is a kind of projectile; its id is ability.Projectile 1 and on, and
// object.Trajectory.Type 0 and on.
type Projectile struct {
	object.ProjectileKind
	Title     string
	Impact    string // effect where it strikes, "": none
	Explosion string // effect of its splash, "": none
}

// Grenade is a kind of grenade.
type Grenade struct {
	object.GrenadeKind
	Title     string
	Explosion string // effect of its splash, "": none
}

// Barrel is the kind of all barrels.
type Barrel struct {
	object.BarrelKind
	Explosion string // effect of its splash, "": none
}

// Area is a kind of damage area.
type Area struct {
	Name string
	Kind object.AreaKind
}

// Item is a kind of item that players pick up; its id is its number.
type Item struct {
	Name, Title string
	Kind        object.ItemKind
}

// Zone is the size of every capture zone, in metres: an upright cylinder on the ground.
type Zone struct{ Radius, Height float32 }

// Mode is one that lobbies may play.
type Mode struct {
	mode.Params
	Title string
}

// Rules are what belongs to no row.
type Rules struct {
	HeadScale    int16 // damage factor of a head shot
	RewindMillis int32 // the furthest a shot may look back
}

// Map is an arena and what stands in it.
type Map struct {
	Name, Title string
	Arena       string   // a built-in name, gen:PLAYERS:SEED, or the name of an asset
	Modes       []string // that may be played on it
	Homes       []Home
	Points      []Point // capture points, in the order in which they are attacked
	Barrels     []Stand
	Cubes       []Stand
	Areas       []Field
	Teleporters []Port
	Items       []PlacedItem
	Objects     []Object
	Movers      []Mover // besides those of the arena
}

// Mover is a box that travels, see arena.Mover.
type Mover struct {
	Box          geom.AABB // at its first end
	Travel       geom.Vec3 // to the second
	TravelMillis int32
	DwellMillis  int32
	PhaseMillis  int32
}

// arena is the row as an arena takes it.
func (m *Mover) arena() arena.Mover {
	return arena.Mover{Min: m.Box.Min, Max: m.Box.Max, Travel: m.Travel, TravelMillis: m.TravelMillis,
		DwellMillis: m.DwellMillis, PhaseMillis: m.PhaseMillis}
}

// Home is a box in which a team's players may change their hero.
type Home struct {
	Team uint8     // 0 or 1
	Box  geom.AABB // metres; the feet count
}

// Point is a capture point.
type Point struct {
	Name string
	At   geom.Vec3 // on the ground
}

// Stand is where a barrel or a cube stands: its foot or the middle of its underside.
type Stand struct{ At geom.Vec3 }

// Field is where a damage area is.
type Field struct {
	Kind string // name of an Area
	Box  geom.AABB
}

// PlacedItem is where an item lies.
type PlacedItem struct {
	Kind string    // name of an Item
	At   geom.Vec3 // metres
}

// Port is a teleporter.
type Port struct {
	Box    geom.AABB  // feet in it are teleported
	Target geom.Vec3  // of the feet, metres
	Yaw    geom.Angle // of the body at the target
}

// Object is where an object of a kind stands that the match knows by name.
type Object struct {
	Kind string     // package sim has the kinds
	At   geom.Vec3  // its foot
	Yaw  geom.Angle // where it faces
}

// Asset is a file that a pack carries besides its numbers.
type Asset struct {
	Name   string
	File   string // path from the pack's root
	Needed Side   // a reader of the other side skips the file
	SHA256 string // of its bytes, 64 hexadecimal digits
}

// Side is the side that the pack was read for.
func (p *Pack) Side() Side { return p.side }

// Hash is the SHA-256 of the canonical text of all that was read.
func (p *Pack) Hash() [32]byte { return p.hash }

// Shared is the SHA-256 of the canonical text of the keys that both ends need: peers with different
// hashes cannot share a match. It does not depend on the side that the pack was read for.
func (p *Pack) Shared() [32]byte { return p.shared }

// Asset returns the bytes of an asset, which are the pack's; false if there is none of that name,
// or it is the other side's.
func (p *Pack) Asset(name string) ([]byte, bool) {
	b, ok := p.bytes[name]
	return b, ok
}
