package sim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// First index of each kind of object in net ids. Players' indexes lie below all of them.
const (
	FirstProjectile = 1 << 20
	FirstGrenade    = 2 << 20
	FirstBarrel     = 3 << 20
	FirstCube       = 4 << 20
)

// Objects is the resource of moving and placed objects. Its rows may be read between ticks.
//
// Projectiles and grenades are in the order in which they were fired. Their ids are First... plus
// an index, which is reused, the lowest free first, with another generation, once a row is gone: a
// row lingers for ProjectileKind.LingerMillis after its end. A client needs a projectile's
// Trajectory once, and Hit, Ended, Point and Normal after the impact; and all 48 bytes of a
// grenade, whose Thrown, Owner and Type never change. Barrels and cubes are rows of the Scene and
// always there, in the order of the Layout; so are Areas, Ports and Zones.
type Objects struct {
	Projectiles []object.Projectile
	Grenades    []object.Grenade
	Areas       []object.Area
	Ports       []object.Teleporter
	Zones       []object.Zone
	Occupied    []mode.Occupancy // of the zones, as of this tick

	teleports     []object.TeleportRequest // due in the next tick
	occupants     []object.Occupancy
	projectileIDs idPool
	grenadeIDs    idPool
}

// idPool allocates indexes, the lowest free first, each with a generation.
type idPool struct {
	gen  []uint8
	used []bool
	from int // no lower index is free
}

// newPool makes a pool with initial capacity n.
func newPool(n int) idPool { return idPool{gen: make([]uint8, 0, n), used: make([]bool, 0, n)} }

// alloc returns a free id: the lowest free index from first, with its next generation.
func (p *idPool) alloc(first int) netid.ID {
	for p.from < len(p.used) && p.used[p.from] {
		p.from++
	}
	if p.from == len(p.used) {
		p.used, p.gen = append(p.used, false), append(p.gen, 0)
	}
	i := p.from
	p.used[i] = true
	if p.gen[i]++; p.gen[i] == 0 {
		p.gen[i] = 1
	}
	return netid.Make(first+i, p.gen[i])
}

// free gives an id back.
func (p *idPool) free(first int, id netid.ID) {
	i := id.Index() - first
	p.used[i] = false
	p.from = min(p.from, i)
}

// newObjects sets a layout up.
func newObjects(l *Layout, slots int) *Objects {
	o := &Objects{
		Projectiles: make([]object.Projectile, 0, 4*slots), Grenades: make([]object.Grenade, 0, slots),
		Zones: l.Points, Occupied: make([]mode.Occupancy, len(l.Points)),
		occupants: make([]object.Occupancy, len(l.Points)),
		Ports:     append([]object.Teleporter(nil), l.Teleporters...),
		teleports: make([]object.TeleportRequest,
			0, slots),
		projectileIDs: newPool(4 * slots), grenadeIDs: newPool(slots),
	}
	for _, f := range l.Areas {
		o.Areas = append(o.Areas, object.NewArea(f.Box, f.Kind, slots))
	}
	return o
}

// placeObjects puts barrels and cubes at their places, whole.
func placeObjects(s *object.Scene, l *Layout) {
	s.Barrels, s.Cubes = s.Barrels[:0], s.Cubes[:0]
	for i, pos := range l.Barrels {
		s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(netid.Make(FirstBarrel+i, 1), pos))
	}
	s.PlaceBarrels()
	for i, pos := range l.Cubes {
		c := object.SpawnCubes(1, geom.Vec3{}, &s.CubeKind,
			func(int) netid.ID { return netid.Make(FirstCube+i, 1) }, nil)[0]
		c.Pos = pos
		s.Cubes = append(s.Cubes, c)
	}
}

// clear ends all projectiles and grenades.
func (o *Objects) clear() {
	for i := range o.Projectiles {
		o.projectileIDs.free(FirstProjectile, o.Projectiles[i].ID)
	}
	for i := range o.Grenades {
		o.grenadeIDs.free(FirstGrenade, o.Grenades[i].ID)
	}
	o.Projectiles, o.Grenades = o.Projectiles[:0], o.Grenades[:0]
}
