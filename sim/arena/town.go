package arena

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

// What Town builds, in quarters of a metre unless said otherwise.
const (
	townPerPlayer = 62 // square metres of ground, houses and all: about 40 of it is free
	townSide      = 32 // metres, at least
	townWall      = 40 // round it
	outerStreet   = 18 // along that wall

	largestBlock = 88 // longer ones are split by a street
	smallestSide = 32 // of a block
	lowestRoof   = 40 // 10 m: jumping from whatever stands below, one gets to 7 m
	highestRoof  = 64
)

// Town makes an arena of blocks of houses, 10 to 16 m high, whose roofs cannot be reached, with
// streets, squares, courtyards and alleys between them: few lines of sight are long. Equal
// arguments give the same arena on every machine. players is limited to [2, MaxPlayers].
func Town(players int, seed uint64) *Arena {
	players = min(max(players, 2), MaxPlayers)
	side := max(townSide, math.Sqrt(townPerPlayer*float64(players)))
	half := int(math.Ceil(side/2)) * 4
	t := town{builder{half: half, rng: seed ^ uint64(players)<<32 ^ 0x746f776e}}
	t.shell(townWall)
	in := half - outerStreet
	t.quarter(-in, -in, in, in)
	bounds := geom.AABB{Min: quarters(-half-4, -4, -half-4), Max: quarters(half+4, skyHeight, half+4)}
	a, err := New(fmt.Sprintf("town:%d:%d", players, seed), bounds, t.solids, t.spawns((players+1)/2))
	if err != nil {
		panic("arena: the generator made a town that does not pass: " + err.Error())
	}
	return a
}

// town is a builder that lays out streets and houses.
type town struct{ builder }

// quarter splits its ground by a street across the longer side, again and again, so that most
// streets end at a house; what is small enough becomes a block.
func (t *town) quarter(x0, z0, x1, z1 int) {
	wide, deep := x1-x0, z1-z0
	long := max(wide, deep)
	if long <= largestBlock {
		t.block(x0, z0, x1, z1)
		return
	}
	street := t.pick(16, 22)
	room := long - street
	first := t.pick(max(smallestSide, room*2/5), min(room-smallestSide, room*3/5))
	if wide >= deep {
		t.quarter(x0, z0, x0+first, z1)
		t.quarter(x0+first+street, z0, x1, z1)
		t.street(x0+first, z0, x0+first+street, z1)
		return
	}
	t.quarter(x0, z0, x1, z0+first)
	t.quarter(x0, z0+first+street, x1, z1)
	t.street(x0, z0+first, x1, z0+first+street)
}

// street puts crates at the sides of a street, low enough to jump over, and leaves 2.5 m beside
// each.
func (t *town) street(x0, z0, x1, z1 int) {
	for at := t.pick(8, 40); at < max(x1-x0, z1-z0)-8; at += t.pick(24, 64) {
		w, h, far := t.pick(4, 6), t.pick(3, 4), t.pick(0, 1) == 1
		x, z := x0+at, z0+at
		switch alongX := x1-x0 > z1-z0; {
		case alongX && far:
			z = z1 - w
		case alongX:
			z = z0
		case far:
			x = x1 - w
		default:
			x = x0
		}
		t.solid(Box, corner{x, 0, z}, corner{x + w, h, z + w})
	}
}

// block fills what streets leave; both sides are at least 8 m.
func (t *town) block(x0, z0, x1, z1 int) {
	large := min(x1-x0, z1-z0) >= 56
	switch kind := t.pick(0, 99); {
	case kind < 14:
		t.square(x0, z0, x1, z1)
	case kind < 36 && large:
		t.courtyard(x0, z0, x1, z1)
	case kind < 58:
		t.wings(x0, z0, x1, z1)
	case kind < 76:
		t.alley(x0, z0, x1, z1)
	default:
		t.house(x0, z0, x1, z1)
	}
}

// roof picks the height of a house, in quarters of a metre.
func (t *town) roof() int { return t.pick(lowestRoof, highestRoof) }

// house is one box, or two that touch and are of different heights.
func (t *town) house(x0, z0, x1, z1 int) {
	if t.pick(0, 1) == 0 {
		t.solid(Box, corner{x0, 0, z0}, corner{x1, t.roof(), z1})
		return
	}
	x := t.pick((x0+x0+x1)/3, (x0+x1+x1)/3)
	t.solid(Box, corner{x0, 0, z0}, corner{x, t.roof(), z1})
	t.solid(Box, corner{x, 0, z0}, corner{x1, t.roof(), z1})
}

// alley is two houses and a lane of 2 to 2.5 m between them.
func (t *town) alley(x0, z0, x1, z1 int) {
	lane := t.pick(8, 10)
	if x1-x0 >= z1-z0 {
		x := t.pick(x0+10, x1-10-lane)
		t.solid(Box, corner{x0, 0, z0}, corner{x, t.roof(), z1})
		t.solid(Box, corner{x + lane, 0, z0}, corner{x1, t.roof(), z1})
		return
	}
	z := t.pick(z0+10, z1-10-lane)
	t.solid(Box, corner{x0, 0, z0}, corner{x1, t.roof(), z})
	t.solid(Box, corner{x0, 0, z + lane}, corner{x1, t.roof(), z1})
}

// wings are two houses that touch at a corner of the block; the rest is a yard, open to two
// streets.
func (t *town) wings(x0, z0, x1, z1 int) {
	x, z := t.pick((x0+x0+x1)/3, (x0+x1)/2), t.pick((z0+z0+z1)/3, (z0+z1)/2)
	left, near := t.pick(0, 1) == 0, t.pick(0, 1) == 0
	across, along := [2]int{x0, x}, [2]int{z0, z} // the wing along z; that along x
	yardX, yardZ := [2]int{x, x1}, [2]int{z, z1}
	if !left {
		x = x0 + x1 - x
		across, yardX = [2]int{x, x1}, [2]int{x0, x}
	}
	if !near {
		z = z0 + z1 - z
		along, yardZ = [2]int{z, z1}, [2]int{z0, z}
	}
	t.solid(Box, corner{across[0], 0, z0}, corner{across[1], t.roof(), z1})
	t.solid(Box, corner{yardX[0], 0, along[0]}, corner{yardX[1], t.roof(), along[1]})
	t.furnish(yardX[0], yardZ[0], yardX[1], yardZ[1])
}

// courtyard is four houses round a yard, with a gate of 2.5 m in two of them.
func (t *town) courtyard(x0, z0, x1, z1 int) {
	const gate = 10
	thick := t.pick(12, 16)
	gates := t.pick(0, 3)
	row := func(gated, alongX bool, x0, z0, x1, z1 int) {
		switch {
		case !gated:
			t.solid(Box, corner{x0, 0, z0}, corner{x1, t.roof(), z1})
		case alongX:
			x := t.pick(x0+4, x1-4-gate)
			t.solid(Box, corner{x0, 0, z0}, corner{x, t.roof(), z1})
			t.solid(Box, corner{x + gate, 0, z0}, corner{x1, t.roof(), z1})
		default:
			z := t.pick(z0+4, z1-4-gate)
			t.solid(Box, corner{x0, 0, z0}, corner{x1, t.roof(), z})
			t.solid(Box, corner{x0, 0, z + gate}, corner{x1, t.roof(), z1})
		}
	}
	row(gates != 0, true, x0+thick, z0, x1-thick, z0+thick)
	row(gates != 1, true, x0+thick, z1-thick, x1-thick, z1)
	row(gates == 0, false, x0, z0, x0+thick, z1)
	row(gates == 1, false, x1-thick, z0, x1, z1)
	t.furnish(x0+thick, z0+thick, x1-thick, z1-thick)
}

// square is open ground with a tower in its middle, or without.
func (t *town) square(x0, z0, x1, z1 int) {
	x, z := (x0+x1)/2, (z0+z1)/2
	if t.pick(0, 1) == 0 {
		w := t.pick(4, 6)
		t.solid(Box, corner{x - w, 0, z - w}, corner{x + w, t.roof(), z + w})
		t.furnish(x0, z0, x-w, z-w)
		t.furnish(x+w, z+w, x1, z1)
		return
	}
	t.furnish(x0, z0, x, z1)
	t.furnish(x, z0, x1, z1)
}

// furnish puts cover on open ground, where there is room for it, and leaves lanes round it.
func (t *town) furnish(x0, z0, x1, z1 int) {
	x0, z0, x1, z1 = x0+laneWidth, z0+laneWidth, x1-laneWidth, z1-laneWidth
	if x1-x0 < 10 || z1-z0 < 10 {
		return
	}
	large := min(x1-x0, z1-z0) >= 18
	switch kind := t.pick(0, 9); {
	case kind < 2:
	case kind < 6:
		t.crates(x0, z0, x1, z1)
	case kind < 8 || !large:
		t.cover(x0, z0, x1, z1)
	default:
		t.platform(x0, z0, x1, z1)
	}
}

// spawns chooses perTeam places for each team, as far apart as there is room for.
func (t *town) spawns(perTeam int) []Spawn {
	free := t.free(4)
	return spread(max(perTeam, 4), func(team uint8) []geom.Vec3 {
		var all []geom.Vec3
		for z := 4 - t.half; z < t.half; z += 6 {
			row := free[(z+t.half)*2*t.half:]
			for x := 4 - t.half; x < t.half; x += 6 {
				if x != 0 && (x < 0) == (team == 0) && row[x+t.half] {
					all = append(all, quarters(x, 0, z))
				}
			}
		}
		t.shuffle(all)
		return all[:min(len(all), 6*max(perTeam, 4))]
	})
}

// free reports for each square of a quarter of a metre whether no solid but the floor is nearer
// than margin quarters.
func (t *town) free(margin int) []bool {
	side := 2 * t.half
	free := make([]bool, side*side)
	for i := range free {
		x, z := i%side, i/side
		free[i] = min(x, z) >= margin && max(x, z) <= side-margin
	}
	for _, s := range t.solids[5:] { // the shell comes first
		at := func(v float32) int { q := int(v * 4); return q + t.half }
		lo, hi := func(v float32) int { return max(at(v)-margin, 0) },
			func(v float32) int { return min(at(v)+margin, side) }
		for z := lo(s.Min.Z); z < hi(s.Max.Z); z++ {
			row := free[z*side:]
			for x := lo(s.Min.X); x < hi(s.Max.X); x++ {
				row[x] = false
			}
		}
	}
	return free
}
