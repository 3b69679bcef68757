package mapcheck

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/move"
)

// Implementation constants of the flood fill.
const (
	floodRate   = 60  // ticks per second of the body's steps
	squareWidth = 0.5 // metres; doubled until there are at most maxSquares
	maxSquares  = 1 << 20
	sameFloor   = 0.3 // metres between two heights of one floor
	flightTicks = 4 * floodRate
)

// floodMoment is when the fill steps: every mover stands where it is at tick 0.
var floodMoment = arena.Moment{Rate: floodRate}

// floor is ground in a square that the fill has reached.
type floor struct {
	at    geom.Vec3 // of the feet of the first body that came
	group int32     // of the spawn that the fill came from
}

// place is where a body stands, from where the fill goes on.
type place struct {
	at    geom.Vec3
	team  uint8
	group int32
}

// flood is a fill under way.
type flood struct {
	a          *arena.Arena
	body       *move.Body
	params     move.Params
	ports      []content.Port
	square     float32
	wide, deep int
	floors     [][]floor // by square, z*wide + x
	queue      []place
	groups     []int32 // union-find over groups
	trips      map[trip]bool
}

func newFlood(in *Input, body *move.Body) *flood {
	f := &flood{a: in.Arena, body: body, params: in.Body, square: squareWidth, trips: map[trip]bool{}}
	if in.Map != nil {
		f.ports = in.Map.Teleporters
	}
	size := f.a.Bounds.Max.Sub(f.a.Bounds.Min)
	for {
		f.wide = int(math.Ceil(float64(size.X / f.square)))
		f.deep = int(math.Ceil(float64(size.Z / f.square)))
		if f.wide*f.deep <= maxSquares {
			break
		}
		f.square *= 2
	}
	f.floors = make([][]floor, f.wide*f.deep)
	return f
}

// index is the square of a place; a place outside counts for the nearest square.
func (f *flood) index(p geom.Vec3) (x, z int) {
	x = int((p.X - f.a.Bounds.Min.X) / f.square)
	z = int((p.Z - f.a.Bounds.Min.Z) / f.square)
	return min(max(x, 0), f.wide-1), min(max(z, 0), f.deep-1)
}

// middle is the middle of a square, at height y.
func (f *flood) middle(x, z int, y float32) geom.Vec3 {
	return geom.Vec3{X: f.a.Bounds.Min.X + float32((float32(x)+0.5)*f.square), Y: y,
		Z: f.a.Bounds.Min.Z + float32((float32(z)+0.5)*f.square)}
}

// floorAt returns the floor of a square within slack of a height, nil if none was reached.
func (f *flood) floorAt(x, z int, y, slack float32) *floor {
	if x < 0 || z < 0 || x >= f.wide || z >= f.deep {
		return nil
	}
	all := f.floors[z*f.wide+x]
	for i := range all {
		if geom.Abs(all[i].at.Y-y) <= slack {
			return &all[i]
		}
	}
	return nil
}

// group is the representative of a group.
func (f *flood) group(g int32) int32 {
	for f.groups[g] != g {
		f.groups[g] = f.groups[f.groups[g]]
		g = f.groups[g]
	}
	return g
}

// begin starts a group at a spawn point and fills from there.
func (f *flood) begin(s *arena.Spawn) int32 {
	g := int32(len(f.groups))
	f.groups = append(f.groups, g)
	if m, ok := f.land(move.Motion{Pos: s.Pos}, move.Input{}, s.Team); ok {
		f.arrive(m.Pos, s.Team, g)
	}
	for len(f.queue) > 0 {
		last := len(f.queue) - 1
		p := f.queue[last]
		f.queue = f.queue[:last]
		f.spread(p)
	}
	return g
}

// arrive marks the floor under a body. New ground is filled from; ground of another group joins the
// two.
func (f *flood) arrive(at geom.Vec3, team uint8, group int32) {
	x, z := f.index(at)
	if known := f.floorAt(x, z, at.Y, sameFloor); known != nil {
		f.groups[f.group(group)] = f.group(known.group)
		return
	}
	i := z*f.wide + x
	f.floors[i] = append(f.floors[i], floor{at, group})
	f.queue = append(f.queue, place{at, team, group})
}

// spread moves a body from a place to the squares around it, through teleporters, and with movers. It leaves out
// neighbours on the same floor that the fill has reached from the same spawn.
func (f *flood) spread(p place) {
	for i := range f.ports {
		if q := &f.ports[i]; within(q.Box, p.at) {
			if m, ok := f.land(move.Motion{Pos: q.Target}, move.Input{}, p.team); ok {
				f.arrive(m.Pos, p.team, p.group)
			}
		}
	}
	f.ride(p)
	x, z := f.index(p.at)
	for n := range 9 {
		nx, nz := x+n%3-1, z+n/3-1
		if nx < 0 || nz < 0 || nx >= f.wide || nz >= f.deep || n == 4 {
			continue
		}
		near := f.floorAt(nx, nz, p.at.Y, f.params.StepMetres)
		if near == nil || f.group(near.group) != f.group(p.group) {
			f.cross(p, f.middle(nx, nz, p.at.Y))
		}
	}
}

// cross walks a body to a square beside it, and jumps that way where it does not get there on foot.
func (f *flood) cross(p place, goal geom.Vec3) {
	to, arrived, level := f.walk(p, goal)
	if arrived {
		f.arrive(to, p.team, p.group)
	}
	if !level && f.params.Jumps > 0 {
		if to, ok := f.jump(p, goal); ok {
			f.arrive(to, p.team, p.group)
		}
	}
}

// within reports whether p lies in b, its faces included.
func within(b geom.AABB, p geom.Vec3) bool {
	return p.X >= b.Min.X && p.Y >= b.Min.Y && p.Z >= b.Min.Z && p.X <= b.Max.X && p.Y <= b.Max.Y &&
		p.Z <= b.Max.Z
}
