package sim

import (
	"encoding/binary"
	"fmt"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/object"
)

// maxSaved bounds how many rows of one sort of object a saved state may have.
const maxSaved = 1 << 16

// append writes a pool: how many indices there are, their generations, and which are in use.
func (p *idPool) append(dst []byte) []byte {
	return appendPlanes(appendList(dst, p.gen), memoryOf(p.used))
}

// parse reads what append wrote.
func (p *idPool) parse(src []byte) (rest []byte, err error) {
	if p.gen, src, err = parseList(src, p.gen, maxSaved); err != nil {
		return nil, err
	}
	if n := len(p.gen); cap(p.used) < n {
		p.used = make([]bool, n)
	} else {
		p.used = p.used[:n]
	}
	p.from = 0
	return parsePlanes(src, memoryOf(p.used))
}

// owns reports whether a pool holds the ids of n rows and no others.
func (p *idPool) owns(first, n int, id func(int) netid.ID) bool {
	seen := make([]bool, len(p.used))
	for i := range n {
		at := id(i).Index() - first
		if at < 0 || at >= len(seen) || seen[at] || !p.used[at] || p.gen[at] != id(i).Generation() {
			return false
		}
		seen[at] = true
	}
	used := 0
	for _, u := range p.used {
		if u {
			used++
		}
	}
	return used == n
}

// saveObjects writes projectiles, grenades, their id pools, pending teleports and occupants of
// zones.
func saveObjects(s *State, dst []byte) []byte {
	o := s.objects
	dst = o.projectileIDs.append(appendList(dst, o.Projectiles))
	dst = o.grenadeIDs.append(appendList(dst, o.Grenades))
	dst = appendList(dst, o.teleports)
	for i := range o.Ports { // the rest of them is the layout's
		dst = binary.AppendUvarint(dst, uint64(o.Ports[i].Effect))
	}
	return appendPlanes(dst, memoryOf(o.Occupied))
}

// loadObjects reads what saveObjects wrote and checks every row.
func loadObjects(m *Match, src []byte) (_ []byte, err error) {
	o := m.Objects()
	if o.Projectiles, src, err = parseList(src, o.Projectiles, maxSaved); err != nil {
		return nil, err
	}
	if src, err = o.projectileIDs.parse(src); err != nil {
		return nil, err
	}
	if o.Grenades, src, err = parseList(src, o.Grenades, maxSaved); err != nil {
		return nil, err
	}
	if src, err = o.grenadeIDs.parse(src); err != nil {
		return nil, err
	}
	if o.teleports, src, err = parseList(src, o.teleports, m.World.Slots()); err != nil {
		return nil, err
	}
	for i := range o.Ports {
		v, n := binary.Uvarint(src)
		if n <= 0 || v > uint64(m.Tick()) {
			return nil, wrong("effect of teleporter", i)
		}
		o.Ports[i].Effect, src = tick.Tick(v), src[n:]
	}
	if src, err = parsePlanes(src, memoryOf(o.Occupied)); err != nil {
		return nil, err
	}
	return src, m.validObjects()
}

// validObjects checks kinds and fields of what flies, and that each id belongs to one object.
func (m *Match) validObjects() error {
	o, k := m.Objects(), m.Game()
	for i := range o.Projectiles {
		if p := &o.Projectiles[i]; !p.Valid() || int(p.Type) >= len(k.ProjectileKinds) {
			return wrong("projectile", *p)
		}
	}
	for i := range o.Grenades {
		if g := &o.Grenades[i]; !g.Valid() || int(g.Type) >= len(k.GrenadeKinds) {
			return wrong("grenade", *g)
		}
	}
	if !o.projectileIDs.owns(FirstProjectile, len(o.Projectiles),
		func(i int) netid.ID { return o.Projectiles[i].ID }) ||
		!o.grenadeIDs.owns(FirstGrenade, len(o.Grenades), func(i int) netid.ID { return o.Grenades[i].ID }) {
		return wrong("ids of what flies", len(o.Projectiles)+len(o.Grenades))
	}
	for _, j := range o.teleports {
		known := false
		for i := range o.Ports { // where StepTeleporters sends players
			known = known || o.Ports[i].Yaw == j.Yaw && o.Ports[i].Target.Sub(j.Pos).LenSq() < 1e-4
		}
		if !known {
			return wrong("jump", j)
		}
	}
	return nil
}

// saveAreas writes the next time at which each area may hurt each slot.
func saveAreas(s *State, dst []byte) []byte {
	for i := range s.objects.Areas {
		dst = appendPlanes(dst, memoryOf(s.objects.Areas[i].NextHits()))
	}
	return dst
}

// loadAreas reads what saveAreas wrote.
func loadAreas(m *Match, src []byte) (_ []byte, err error) {
	next := make([]tick.Tick, m.World.Slots())
	for i := range m.Objects().Areas {
		if src, err = parsePlanes(src, memoryOf(next)); err != nil {
			return nil, err
		}
		m.Objects().Areas[i].RestoreNextHits(next)
	}
	return src, nil
}

// saveScene writes barrels, cubes and blasts.
func saveScene(s *State, dst []byte) []byte {
	b := &s.scene.Blasts
	dst = appendList(appendList(dst, s.scene.Barrels), s.scene.Cubes)
	dst = appendList(dst, b.Waiting())
	for _, n := range []uint64{b.Deferred, b.Merged, b.Resolved} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// loadScene reads what saveScene wrote.
func loadScene(m *Match, src []byte) (_ []byte, err error) {
	s, l := m.Scene(), &m.Game().game.Layout
	if s.Barrels, src, err = parseList(src, s.Barrels, len(l.Barrels)); err != nil {
		return nil, err
	}
	if s.Cubes, src, err = parseList(src, s.Cubes, len(l.Cubes)); err != nil {
		return nil, err
	}
	blasts, src, err := parseList[object.Blast](src, nil, maxSaved)
	if err != nil {
		return nil, err
	}
	for _, n := range []*uint64{&s.Blasts.Deferred, &s.Blasts.Merged, &s.Blasts.Resolved} {
		v, k := binary.Uvarint(src)
		if k <= 0 {
			return nil, wrong("count of blasts", k)
		}
		*n, src = v, src[k:]
	}
	if len(s.Barrels) != len(l.Barrels) || len(s.Cubes) != len(l.Cubes) {
		return nil, fmt.Errorf("%w: %d barrels and %d cubes, expected %d and %d", ErrState, len(s.Barrels),
			len(s.Cubes), len(l.Barrels), len(l.Cubes))
	}
	for i := range s.Barrels {
		whole := s.BarrelKind.NewBarrel(netid.Make(FirstBarrel+i, 1), l.Barrels[i])
		if b := &s.Barrels[i]; b.ID != whole.ID || b.Pos != whole.Pos || b.Health > whole.Health {
			return nil, wrong("barrel", *b)
		}
	}
	for i := range s.Cubes {
		// one that never moved is where content put it
		if c := &s.Cubes[i]; c.ID != netid.Make(FirstCube+i, 1) || !c.Valid() && c.Pos != l.Cubes[i] {
			return nil, wrong("cube", *c)
		}
	}
	for i := range blasts {
		if !blasts[i].Valid() {
			return nil, wrong("blast", blasts[i])
		}
		s.Blasts.Add(blasts[i])
	}
	return src, nil
}
