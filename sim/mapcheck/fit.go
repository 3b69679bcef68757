package mapcheck

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// Implementation constants of fitting a body.
const (
	touchSlack = 1. / 32 // metres that a body may overlap a solid: it is pushed out unseen
	axisStep   = 1. / 8  // metres between the points of the axis that are tested against ramps
)

// overlapped returns the solid that a body with its feet at a place overlaps, and whether there is
// one. Areas of the body's team do not count.
func overlapped(a *arena.Arena, p *move.Params, team uint8, feet geom.Vec3) (arena.Solid, bool) {
	near := a.Near(feet.X, feet.Z)
	for i := range near {
		s := &near[i]
		if s.Pass&arena.PassTeam(team) == 0 && overlaps(s, p, feet) {
			return *s, true
		}
	}
	return arena.Solid{}, false
}

// crossed returns the first mover whose travel a body with its feet at a place is in, and whether there
// is one.
func crossed(a *arena.Arena, p *move.Params, feet geom.Vec3) (int, bool) {
	for i := range a.Movers {
		hull := a.Movers[i].Hull()
		if overlaps(&arena.Solid{Min: hull.Min, Max: hull.Max}, p, feet) {
			return i, true
		}
	}
	return 0, false
}

// overlaps reports whether a capsule with its lowest point at feet reaches into s.
func overlaps(s *arena.Solid, p *move.Params, feet geom.Vec3) bool {
	r := p.RadiusMetres - touchSlack
	lo, hi := feet.Y+p.RadiusMetres, feet.Y+p.HeightMetres-p.RadiusMetres
	inside := func(y float32) bool {
		at := geom.Vec3{X: feet.X, Y: y, Z: feet.Z}
		return s.Nearest(at).Sub(at).LenSq() < float32(r*r)
	}
	if s.Shape == arena.Box {
		return inside(min(max(lo, min(s.Max.Y, hi)), hi)) || inside(min(max(s.Min.Y, lo), hi))
	}
	for y := lo; y < hi; y += axisStep {
		if inside(y) {
			return true
		}
	}
	return inside(hi)
}

// solidName names a solid by its kind and corners, as its row in the map file begins.
func solidName(s *arena.Solid) string {
	what := "box"
	switch {
	case s.Pass != 0:
		what = "area"
	case s.Shape != arena.Box:
		what = "ramp"
	}
	return fmt.Sprintf("the %s [%g, %g, %g, %g, %g, %g]", what, s.Min.X, s.Min.Y, s.Min.Z, s.Max.X, s.Max.Y,
		s.Max.Z)
}

// floorBelow returns the height of the first solid below a place, and whether there is one.
func floorBelow(a *arena.Arena, at geom.Vec3) (float32, bool) {
	const above = 1. / 16 // metres at which the ray begins: the feet may be on the floor itself
	from := geom.Vec3{X: at.X, Y: at.Y + above, Z: at.Z}
	t, ok := a.Raycast(geom.Ray{Origin: from, Dir: geom.Vec3{Y: -1}, Max: from.Y - a.Bounds.Min.Y + 1})
	return from.Y - t, ok
}
