package objects

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Obstacle returns after how many metres a round meets a barrel or a cube, as the newest rows have
// them.
func (s *Set) Obstacle(r geom.Ray, radius float32) (t float32, ok bool) {
	if s.decoder == nil {
		return 0, false
	}
	n := &s.obstacles
	n.BarrelKind, n.CubeKind = s.match.Kit.BarrelKind(), s.match.Kit.CubeKind()
	n.Barrels, n.Cubes = n.Barrels[:0], n.Cubes[:0]
	var o Object
	for slot := range s.slots {
		f := s.decoder.At(s.decoder.Newest(slot))
		if f == nil || !s.read(f.Tick, slot, &o) {
			continue
		}
		switch o.Kind {
		case netstate.Barrel:
			n.Barrels = append(n.Barrels, object.Barrel{Pos: o.Pos, ID: o.ID, Health: int16(o.Level)})
		case netstate.Cube:
			n.Cubes = append(n.Cubes, object.Cube{Pos: o.Pos, ID: o.ID, Rot: o.Rotation()})
		}
	}
	if _, at, hit := n.SweepBarrels(r, radius); hit {
		t, ok = at, true
	}
	if _, at, hit := n.SweepCubes(r, radius); hit && (!ok || at < t) {
		t, ok = at, true
	}
	return t, ok
}

// Slots is how many slots ever had a row; those that have one lie below.
func (s *Set) Slots() int { return s.slots }
