package move

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// slowGather is the honest twin of gather: of all solids of the map, those that a body may meet on
// the way from its origin.
func slowGather(dst []arena.Solid, b *Body, at, delta geom.Vec3, all []arena.Solid) []arena.Solid {
	for i := range all {
		s := &all[i]
		if s.Min.X < at.X+max(delta.X, 0)+b.wide && s.Max.X > at.X+min(delta.X, 0)-b.wide &&
			s.Min.Z < at.Z+max(delta.Z, 0)+b.wide &&
			s.Max.Z > at.Z+min(delta.Z, 0)-b.wide && s.Min.Y < at.Y+b.above && s.Max.Y > at.Y-b.below {
			dst = append(dst, *s)
		}
	}
	return dst
}

// The squares of the map hold whatever a body may meet within a part of its way.
func TestGatherAgainstAllSolids(t *testing.T) {
	a := arena.Generate(1400, 1)
	c, in := crowd(a, 1000)
	met := 0
	for tick := range uint32(100) {
		for i := range in {
			in[i] = wander(uint32(i), tick)
		}
		stepColumns(c, in, a, 60)
		if tick%10 != 9 {
			continue
		}
		for i := range c.Pos {
			m := collider{arena: a, body: standard, origin: c.Pos[i]}
			_, part := standard.parts(c.Vel[i].Scale(1. / 60))
			m.look(geom.Vec3{})
			m.gather(geom.Vec3{}, part)
			var got []arena.Solid
			for _, n := range m.near[:m.count] {
				got = append(got, m.cell[n])
			}
			want := slowGather(nil, standard, c.Pos[i], part, a.Solids)
			if !slices.Equal(got, want) {
				t.Fatalf("tick %d, body %d at %v: %v, want %v", tick, i, c.Pos[i], got, want)
			}
			met += len(got)
		}
	}
	if met < 10000 {
		t.Fatalf("%d solids: this proves little", met)
	}
}
