package arena

import (
	"math"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Implementation constants of Ground.
const (
	Beside        = 33. / 64 // metres around a square within which its obstacles lie
	squareSize    = 1        // metres; doubled until there are at most maxSquares
	maxSquares    = 1 << 20
	maxSquareSize = 4               // a lane holds 8 m
	squareEdge    = 1. / 64         // forgives rounding at the edges of squares
	noFloor       = math.MaxFloat32 // of squares without one, and beside the bounds
	laneAside     = 1               // metres that a lane begins before its square
	LaneUnit      = 1. / 4096       // metres, of lanes of x and z
	MaxLane       = 1<<15 - 1       // largest value of a lane
	EachLane      = 0x0001_0001_0001_0001
	LaneGuard     = 0x8000_8000_80008000 // the highest bit of each lane
	countBits     = 12                   // of square.list
	listCount     = 1<<countBits - 1
)

// Ground finds bodies with no solid in their path: squares of the ground, each with the floor that
// covers all of it and the few solids that rise above that.
//
// A solid is two words of four lanes of 16 bits, made so that one subtraction compares all four: it
// overlaps a body if each lane of the body's words, with LaneGuard set, less the lane of its own
// leaves the guard.
type Ground struct {
	x0, z0, y0 float32
	size       float32
	shift      uint // of LaneUnit to squares
	nx, nz     int
	squares    []square // 0 is the one outside
	obstacles  []Obstacle
}

// square is a square's floor and where its obstacles are: the first, and in the lowest bits how many.
type square struct {
	floor float32
	list  uint32
}

// Obstacle is a solid near a square, from the lowest lane up:
//
//	Plan    least x, MaxLane less the largest, least z, MaxLane less the largest; in LaneUnit
//	Height  least y, MaxLane less the largest, the least that a body can rest on, all in Unit;
//	        1 for ramps and team areas, which are no floors
//
// What does not fit is cut to the nearest lane that does.
type Obstacle struct{ Plan, Height uint64 }

// Spot is a point of the ground.
type Spot struct {
	square
	// Plan is where the point is, whole LaneUnit below it, in the plans of its square's obstacles: a
	// word that overlaps those that this is in or at, and with n*EachLane added those that are up to
	// n LaneUnit away along both axes.
	Plan uint64
}

// Floor returns the height of the highest box that fills the point's square, team areas aside: no
// floor within the square is higher, but for those of its obstacles. It is above everything if
// there is none, or the point is beside the bounds, or NaN.
func (s *Spot) Floor() float32 { return s.floor }

// HasObstacles returns 1 if the point's square has obstacles, else 0.
func (s *Spot) HasObstacles() int { return int(((s.list & listCount) + listCount) >> countBits) }

// Obstacles returns the solids within Beside of a spot's square that rise above its floor.
func (g *Ground) Obstacles(s *Spot) []Obstacle {
	first := s.list >> countBits
	return g.obstacles[first : first+s.list&listCount]
}

// Locate finds the spots of from plus x and z. The slices have one length. It reads the squares,
// which are scattered over memory, in a loop of its own: the processor then fetches many at once.
func (g *Ground) Locate(spots []Spot, from []geom.Vec3, x, z []float32) {
	const (
		both  = 1<<64 - 1<<16 + 1 // a lane times this is the lane, and less that in the one above
		begin = laneAside / LaneUnit
		plan  = MaxLane<<16 | MaxLane<<48 | LaneGuard
	)
	from, x, z = from[:len(spots)], x[:len(spots)], z[:len(spots)]
	shift, mask, squares := g.shift&31, int32(1)<<(g.shift&31)-1, g.squares
	for i := range spots {
		ux := int32((from[i].X - g.x0 + x[i]) * (1 / LaneUnit))
		uz := int32((from[i].Z - g.z0 + z[i]) * (1 / LaneUnit))
		cx, cz, at := int(ux>>shift), int(uz>>shift), 0
		if uint(cx) < uint(g.nx) && uint(cz) < uint(g.nz) {
			at = cz*g.nx + cx + 1
		}
		spots[i].list = uint32(at) // for now
		in := uint64(ux&mask+begin) | uint64(uz&mask+begin)<<32
		spots[i].Plan = uint64(in*both) + plan
	}
	for i := range spots {
		spots[i].square = squares[spots[i].list]
	}
}

// left and near are where the lanes of a column and of a row of squares begin.
func (g *Ground) left(cx int) float32 { return g.x0 + float32(float32(cx)*g.size) - laneAside }
func (g *Ground) near(cz int) float32 { return g.z0 + float32(float32(cz)*g.size) - laneAside }

// HeightLane returns a height in the lanes of obstacles' heights, in Unit.
func (g *Ground) HeightLane(y float32) float32 { return float32((y - g.y0) * (1 / Unit)) }

// Ground returns the arena's squares.
func (a *Arena) Ground() *Ground { return &a.ground }

// newGround makes the squares of an arena, as small as its obstacles allow. No square of an arena
// that is too crowded for that has a floor.
func newGround(a *Arena) Ground {
	for size := gridSize(a.Bounds, squareSize, maxSquares); size <= maxSquareSize; size *= 2 {
		if g, ok := groundOf(a, size); ok {
			return g
		}
	}
	return Ground{squares: []square{{floor: noFloor}}}
}

// groundOf makes squares of a size. It reports false if they would have too many obstacles.
func groundOf(a *Arena, size float32) (g Ground, ok bool) {
	cells := newGrid(a.Bounds, size)
	g = Ground{x0: cells.x0, z0: cells.z0, y0: a.Bounds.Min.Y, size: size,
		shift: uint(bits.TrailingZeros32(uint32(size / LaneUnit))), nx: cells.nx, nz: cells.nz}
	g.squares = make([]square, g.nx*g.nz+1)
	for i := range g.squares {
		g.squares[i].floor = -noFloor
	}
	for i := range a.Solids {
		if s := &a.Solids[i]; s.Shape == Box && s.Pass == 0 {
			inset := size + squareEdge // what the rest touches, the solid fills
			in := geom.Vec3{X: inset, Z: inset}
			g.each(&cells, s.Min.Add(in), s.Max.Sub(in), func(q *square, cx, cz int) {
				q.floor = max(q.floor, s.Max.Y)
			})
		}
	}
	g.closeEdges(a.Bounds)
	return g, g.list(a.Solids, &cells)
}

// each calls do for the squares that touch a rectangle; for none if it is empty.
func (g *Ground) each(cells *grid, lo, hi geom.Vec3, do func(q *square, cx, cz int)) {
	if lo.X > hi.X || lo.Z > hi.Z {
		return
	}
	x0, z0 := cells.cell(lo.X, lo.Z)
	x1, z1 := cells.cell(hi.X, hi.Z)
	for cz := z0; cz <= z1; cz++ {
		for cx := x0; cx <= x1; cx++ {
			do(&g.squares[int(cz*g.nx)+cx+1], cx, cz)
		}
	}
}

// closeEdges takes the floor from squares beside the bounds, and from those that have none.
func (g *Ground) closeEdges(b geom.AABB) {
	g.squares[0].floor = noFloor
	for cz := range g.nz {
		for cx := range g.nx {
			floor := &g.squares[int(cz*g.nx)+cx+1].floor
			x, z := g.left(cx)+laneAside, g.near(cz)+laneAside
			if *floor == -noFloor || x < b.Min.X+Beside || x+g.size > b.Max.X-Beside ||
				z < b.Min.Z+Beside || z+g.size > b.Max.Z-Beside {
				*floor = noFloor
			}
		}
	}
}

// list counts the obstacles of each square, then places them. It reports false if they are too
// many.
func (g *Ground) list(solids []Solid, cells *grid) bool {
	around := geom.Vec3{X: Beside, Z: Beside}
	for i := range solids {
		s := &solids[i]
		g.each(cells, s.Min.Sub(around), s.Max.Add(around), func(q *square, cx, cz int) {
			if s.Max.Y > q.floor {
				q.list++
			}
		})
	}
	sum := uint32(0)
	for i := range g.squares {
		count := g.squares[i].list           // at most MaxNear
		g.squares[i].list = sum << countBits // an empty list, to which placing adds
		sum += count
	}
	if sum > maxItems {
		return false
	}
	g.obstacles = make([]Obstacle, sum)
	for i := range solids {
		s := &solids[i]
		g.each(cells, s.Min.Sub(around), s.Max.Add(around), func(q *square, cx, cz int) {
			if s.Max.Y > q.floor {
				g.obstacles[q.list>>countBits+q.list&listCount] = g.pack(s, cx, cz)
				q.list++
			}
		})
	}
	return true
}

// pack is a solid in the lanes of a square.
func (g *Ground) pack(s *Solid, cx, cz int) Obstacle {
	lane := func(x float32) int { return int(min(max(x, 0), MaxLane)) }
	x, z := g.left(cx), g.near(cz)
	x0, x1 := lane((s.Min.X-x)*(1/LaneUnit)), lane((s.Max.X-x)*(1/LaneUnit))
	z0, z1 := lane((s.Min.Z-z)*(1/LaneUnit)), lane((s.Max.Z-z)*(1/LaneUnit))
	y0, y1 := lane(g.HeightLane(s.Min.Y)), lane(g.HeightLane(s.Max.Y))
	rest, other := y1, 0
	if s.Shape != Box {
		rest = y0
	}
	if s.Shape != Box || s.Pass != 0 {
		other = 1
	}
	return Obstacle{Plan: Lanes(x0, MaxLane-x1, z0, MaxLane-z1), Height: Lanes(y0, MaxLane-y1, rest, other)}
}

// Lanes puts four numbers from 0 to MaxLane into a word.
func Lanes(a, b, c, d int) uint64 {
	return uint64(a) | uint64(b)<<16 | uint64(c)<<32 | uint64(d)<<48
}
