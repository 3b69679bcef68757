package arena

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

// What Generate builds, in quarters of a metre unless said otherwise.
const (
	MaxPlayers = MaxSpawns // most players of a generated arena

	areaPerPlayer = 40 // square metres
	minSide       = 24 // metres
	tileSide      = 8  // metres, about: the ground is cut into whole tiles
	laneWidth     = 5  // free ground along each tile's border; lanes are twice as wide
	wallHeight    = 24
	skyHeight     = 96
)

// Generate makes a plausible arena of about 40 square metres a player, at least 24 m on a side: a
// walled square of tiles, each with crates, cover, a wall, a pillar, stairs or a ramp to a
// platform, and free lanes between them. Team 0 spawns in the half of negative x and looks towards
// +x, team 1 opposite. The same arguments give the same arena on every machine. players is taken to
// lie in [2, MaxPlayers].
func Generate(players int, seed uint64) *Arena {
	players = min(max(players, 2), MaxPlayers)
	side := max(minSide, math.Sqrt(areaPerPlayer*float64(players)))
	half := int(math.Ceil(side/2)) * 4
	b := builder{half: half, tiles: int(math.Round(float64(half) / (2 * tileSide))),
		rng: seed ^ uint64(players)<<32}
	b.shell(wallHeight)
	for z := range b.tiles {
		for x := range b.tiles {
			b.tile(x, z)
		}
	}
	bounds := geom.AABB{Min: quarters(-half-4, -4, -half-4), Max: quarters(half+4, skyHeight, half+4)}
	a, err := New(fmt.Sprintf("gen:%d:%d", players, seed), bounds, b.solids, b.spawns((players+1)/2))
	if err != nil {
		panic("arena: the generator made a map that does not pass: " + err.Error())
	}
	return a
}

// builder places the solids of a generated arena. Its lengths are quarters of a metre.
type builder struct {
	half   int // of the side
	tiles  int // along a side
	rng    uint64
	solids []Solid
}

// next is splitmix64, so that arenas do not depend on a library's generator.
func (b *builder) next() uint64 {
	b.rng += 0x9e3779b97f4a7c15
	z := b.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// pick returns a number in [lo, hi].
func (b *builder) pick(lo, hi int) int { return lo + int(b.next()>>33)%(hi-lo+1) }

// quarters converts quarters of a metre to metres, exactly.
func quarters(x, y, z int) geom.Vec3 {
	return geom.Vec3{X: float32(float32(x) / 4), Y: float32(float32(y) / 4), Z: float32(float32(z) / 4)}
}

// corner is a corner of a solid, in quarters of a metre.
type corner struct{ x, y, z int }

// solid adds a solid that reaches from corner lo to corner hi.
func (b *builder) solid(shape Shape, lo, hi corner) {
	b.solids = append(b.solids, NewSolid(shape, quarters(lo.x, lo.y, lo.z), quarters(hi.x, hi.y, hi.z)))
}

// shell is the floor, its top at y = 0, and walls round it.
func (b *builder) shell(high int) {
	h := b.half
	b.solid(Box, corner{-h - 4, -4, -h - 4}, corner{h + 4, 0, h + 4})
	b.solid(Box, corner{-h - 4, 0, -h - 4}, corner{-h, high, h + 4})
	b.solid(Box, corner{h, 0, -h - 4}, corner{h + 4, high, h + 4})
	b.solid(Box, corner{-h, 0, -h - 4}, corner{h, high, -h})
	b.solid(Box, corner{-h, 0, h}, corner{h, high, h + 4})
}

// border is the coordinate of the line before tile i.
func (b *builder) border(i int) int { return -b.half + 2*b.half*i/b.tiles }

// tile fills the inner part of one tile; it is at least 18 quarters wide.
func (b *builder) tile(x, z int) {
	x0, x1 := b.border(x)+laneWidth, b.border(x+1)-laneWidth
	z0, z1 := b.border(z)+laneWidth, b.border(z+1)-laneWidth
	switch kind := b.pick(0, 99); {
	case kind < 8: // open ground
	case kind < 45:
		b.crates(x0, z0, x1, z1)
	case kind < 65:
		b.cover(x0, z0, x1, z1)
	case kind < 78:
		b.wall(x0, z0, x1, z1)
	case kind < 92:
		b.platform(x0, z0, x1, z1)
	case kind < 97:
		b.stairs(x0, z0, x1, z1)
	default:
		w := b.pick(3, 5)
		cx, cz := (x0+x1)/2, (z0+z1)/2
		b.solid(Box, corner{cx - w, 0, cz - w}, corner{cx + w, wallHeight, cz + w})
	}
}

// crates are two to four boxes; one more may stand on the last.
func (b *builder) crates(x0, z0, x1, z1 int) {
	for i := b.pick(2, 4); i > 0; i-- {
		w, h := b.pick(4, 7), b.pick(2, 6)
		x, z := b.pick(x0, x1-w), b.pick(z0, z1-w)
		b.solid(Box, corner{x, 0, z}, corner{x + w, h, z + w})
		if i == 1 && b.pick(0, 2) == 0 {
			b.solid(Box, corner{x + 1, h, z + 1}, corner{x + w - 1, h + 3, z + w - 1})
		}
	}
}

// cover is two low walls to crouch behind, at a right angle.
func (b *builder) cover(x0, z0, x1, z1 int) {
	h := b.pick(4, 5)
	x, z := b.pick(x0, x1-2), b.pick(z0, z1-2)
	b.solid(Box, corner{x0, 0, z}, corner{x1 - b.pick(0, 6), h, z + 2})
	b.solid(Box, corner{x, 0, z0 + b.pick(0, 6)}, corner{x + 2, h, z1})
}

// wall is 2.5 to 4 m high: a standing player or a single jump cannot look over it. A double jump
// can: it lifts the eyes to 4.3 m.
func (b *builder) wall(x0, z0, x1, z1 int) {
	h := b.pick(10, 16)
	if b.pick(0, 1) == 0 {
		z := b.pick(z0, z1-2)
		b.solid(Box, corner{x0, 0, z}, corner{x1, h, z + 2})
	} else {
		x := b.pick(x0, x1-2)
		b.solid(Box, corner{x, 0, z0}, corner{x + 2, h, z1})
	}
}

// platform is a deck of 1.25 to 2 m with a ramp that takes six tenths of the tile: at most 37
// degrees.
func (b *builder) platform(x0, z0, x1, z1 int) {
	h := b.pick(5, 8)
	rx, rz := (x1-x0)*6/10, (z1-z0)*6/10
	switch shape := Shape(b.pick(int(RampPosX), int(RampNegZ))); shape {
	case RampPosX:
		b.solid(shape, corner{x0, 0, z0}, corner{x0 + rx, h, z1})
		b.solid(Box, corner{x0 + rx, 0, z0}, corner{x1, h, z1})
	case RampNegX:
		b.solid(shape, corner{x1 - rx, 0, z0}, corner{x1, h, z1})
		b.solid(Box, corner{x0, 0, z0}, corner{x1 - rx, h, z1})
	case RampPosZ:
		b.solid(shape, corner{x0, 0, z0}, corner{x1, h, z0 + rz})
		b.solid(Box, corner{x0, 0, z0 + rz}, corner{x1, h, z1})
	default:
		b.solid(shape, corner{x0, 0, z1 - rz}, corner{x1, h, z1})
		b.solid(Box, corner{x0, 0, z0}, corner{x1, h, z1 - rz})
	}
}

// stairs are steps of half a metre, the most a player can climb, up to a deck.
func (b *builder) stairs(x0, z0, x1, z1 int) {
	steps, run := b.pick(3, 4), 3
	for i := range steps {
		b.solid(Box, corner{x0 + run*i, 0, z0}, corner{x1, 2 * (i + 1), z1})
	}
}

// spawns chooses perTeam places for each team, on the lines between tiles, as far apart as there is
// room for.
func (b *builder) spawns(perTeam int) []Spawn {
	return spread(max(perTeam, 4), b.places)
}

// spread chooses perTeam of each team's places, as far apart as there is room for.
func spread(perTeam int, places func(team uint8) []geom.Vec3) []Spawn {
	var out []Spawn
	for team := range uint8(Teams) {
		places := places(team)
		var taken []geom.Vec3
		for apart := float32(8); len(taken) < perTeam; apart /= 1.25 {
			for _, p := range places {
				if len(taken) < perTeam && clear(taken, p, apart) {
					taken = append(taken, p)
				}
			}
		}
		for _, p := range taken {
			out = append(out, Spawn{Pos: p, Team: team, Yaw: 0x4000 + geom.Angle(team)*0x8000})
		}
	}
	return out
}

// places lists a point each metre and a half of the lanes in the team's half, in random order.
func (b *builder) places(team uint8) []geom.Vec3 {
	var all []geom.Vec3
	add := func(x, z int) {
		if (x < 0) == (team == 0) && x != 0 {
			all = append(all, quarters(x, 0, z))
		}
	}
	for i := 1; i < b.tiles; i++ {
		for at := -b.half + laneWidth; at <= b.half-laneWidth; at += 6 {
			add(b.border(i), at)
			add(at, b.border(i))
		}
	}
	b.shuffle(all)
	return all
}

// shuffle permutes places in the arena's own random order (Fisher and Yates).
func (b *builder) shuffle(all []geom.Vec3) {
	for i := len(all) - 1; i > 0; i-- {
		j := b.pick(0, i)
		all[i], all[j] = all[j], all[i]
	}
}

// clear reports whether p is at least apart metres from each point taken.
func clear(taken []geom.Vec3, p geom.Vec3, apart float32) bool {
	for _, q := range taken {
		if p.Sub(q).LenSq() < apart*apart {
			return false
		}
	}
	return true
}
