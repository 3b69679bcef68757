package pvs

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// scene is an arena in the making, measured in quarters of a metre.
type scene struct {
	r      *rand.Rand
	solids []arena.Solid
	spawn  geom.Vec3 // on open ground
}

// corner is x, y, z in quarters of a metre.
type corner [3]int

func (c corner) metres() geom.Vec3 {
	return geom.Vec3{X: float32(c[0]) / 4, Y: float32(c[1]) / 4, Z: float32(c[2]) / 4}
}

// add adds a solid between two corners.
func (s *scene) add(shape arena.Shape, lo, hi corner) {
	s.solids = append(s.solids, arena.NewSolid(shape, lo.metres(), hi.metres()))
}

func (s *scene) arena(name string, half float32) *arena.Arena {
	bounds := geom.AABB{Min: geom.Vec3{X: -half, Y: -1, Z: -half}, Max: geom.Vec3{X: half, Y: 24, Z: half}}
	a, err := arena.New(name, bounds, s.solids, []arena.Spawn{{Pos: s.spawn, Team: 0},
		{Pos: s.spawn, Team: 1}})
	if err != nil {
		panic(err)
	}
	return a
}

// town is streets of 4 to 6 m between houses of 8 to 12 m, too high to climb; a house is one box or
// two that touch. Some places are open, with crates. Streets along x go through, those along z are
// set off from row to row.
func town(half int, seed uint64) *arena.Arena {
	s := scene{r: rand.New(rand.NewPCG(seed, 1))}
	h := half * 4
	s.add(arena.Box, corner{-h, -4, -h}, corner{h, 0, h})
	for z := -h; z < h; {
		deep := 40 + s.r.IntN(40)
		street := 16 + s.r.IntN(8)
		if s.spawn.Z == 0 {
			s.spawn.Z = float32(z+deep+8) / 4
		}
		for x := -h + s.r.IntN(40); x < h; {
			wide := 40 + s.r.IntN(40)
			s.house(x, z, min(x+wide, h), min(z+deep, h))
			x += wide + 16 + s.r.IntN(8)
		}
		z += deep + street
	}
	return s.arena("town", float32(half))
}

func (s *scene) house(x0, z0, x1, z1 int) {
	if x1-x0 < 8 || z1-z0 < 8 {
		return
	}
	high := 32 + s.r.IntN(16)
	switch s.r.IntN(6) {
	case 0: // a square with crates
		for range 4 {
			x, z, w := x0+s.r.IntN(x1-x0-7), z0+s.r.IntN(z1-z0-7), 4+s.r.IntN(4)
			s.add(arena.Box, corner{x, 0, z}, corner{x + w, 2 + s.r.IntN(4), z + w})
		}
	case 1, 2: // two wings that touch
		mx, mz := (x0+x1)/2, (z0+z1)/2
		s.add(arena.Box, corner{x0, 0, z0}, corner{x1, high, mz})
		s.add(arena.Box, corner{x0, 0, mz}, corner{mx, high, z1})
	case 3: // two houses side by side, one higher
		mx := (x0 + x1) / 2
		s.add(arena.Box, corner{x0, 0, z0}, corner{mx, high, z1})
		s.add(arena.Box, corner{mx, 0, z0}, corner{x1, high - 6, z1})
	default:
		s.add(arena.Box, corner{x0, 0, z0}, corner{x1, high, z1})
	}
}

// rooms is a floor of rooms of 10 m with walls of half a metre, a roof, and a door of 2 m in half
// of the walls; some rooms have a ramp in them, some a gallery.
func rooms(n int, seed uint64) *arena.Arena {
	s := scene{r: rand.New(rand.NewPCG(seed, 2))}
	const pitch, high = 40, 16
	h := n * pitch / 2
	s.spawn = geom.Vec3{X: float32(36-h) / 4, Z: float32(36-h) / 4}
	s.add(arena.Box, corner{-h - 2, -4, -h - 2}, corner{h + 2, 0, h + 2})
	s.add(arena.Box, corner{-h - 2, high, -h - 2}, corner{h + 2, high + 2, h + 2})
	for i := range n + 1 {
		for j := range n {
			at, from := -h+i*pitch, -h+j*pitch
			door := s.r.IntN(pitch - 16)
			if i == 0 || i == n || s.r.IntN(2) == 0 {
				s.add(arena.Box, corner{at - 1, 0, from - 1}, corner{at + 1, high, from + pitch + 1})
			} else {
				s.add(arena.Box, corner{at - 1, 0, from - 1}, corner{at + 1, high, from + door + 4})
				s.add(arena.Box, corner{at - 1, 0, from + door + 12}, corner{at + 1, high, from + pitch + 1})
				// above the door
				s.add(arena.Box, corner{at - 1, 9, from + door + 4}, corner{at + 1, high, from + door + 12})
			}
			door = s.r.IntN(pitch - 16)
			if i == 0 || i == n || s.r.IntN(2) == 0 {
				s.add(arena.Box, corner{from - 1, 0, at - 1}, corner{from + pitch + 1, high, at + 1})
			} else {
				s.add(arena.Box, corner{from - 1, 0, at - 1}, corner{from + door + 4, high, at + 1})
				s.add(arena.Box, corner{from + door + 12, 0, at - 1}, corner{from + pitch + 1, high, at + 1})
			}
		}
	}
	for x := range n {
		for z := range n {
			cx, cz := -h+x*pitch, -h+z*pitch
			switch s.r.IntN(4) {
			case 0:
				s.add(arena.RampPosX, corner{cx + 8, 0, cz + 8}, corner{cx + 20, 6, cz + 20})
				s.add(arena.Box, corner{cx + 20, 0, cz + 8}, corner{cx + 30, 6, cz + 20})
			case 1:
				s.add(arena.Box, corner{cx + 2, 4, cz + 2}, corner{cx + 12, 5, cz + 30})
			}
		}
	}
	return s.arena("rooms", float32(h+2)/4)
}

// openArena is a built-in or generated arena.
func openArena(tb testing.TB, name string) *arena.Arena {
	tb.Helper()
	a, err := arena.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}
