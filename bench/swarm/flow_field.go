package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
)

// FlowField knows the way from anywhere to the capture points of an arena. All bots of a swarm share one; the zero value is ready.
type FlowField struct {
	arena *arena.Arena
	game  *sim.Game
	wide  int // cells along x
	deep  int
	open  []bool      // by cell: somebody fits there, on the ground
	steps [][]uint16  // by point, made on first use: steps from each open cell, 0 where there is no way
	queue []int32     // of fill
	cells [8]neighbor // round a cell, the straight ones first
}

type neighbor struct{ dx, dz, index int }

// What a cell is, in metres. Nothing lower than a step is in the way, and somebody as wide as the Robot fits.
const (
	wayCell = 0.5
	wayBody = 0.5
	wayLow  = 0.6
	wayHigh = 1.8
	wayLook = 3 // cells ahead that a bot goes for
	wayFar  = 4 // cells about a bot that is where nobody fits, on a crate perhaps
)

// AddTo lets a bot see the point that its team and the other fight for, as far as its client has been told of it.
func (w *FlowField) AddTo(s *Observation, c *client.Client) {
	at, ok := c.Round.Standing()
	if !ok || s.Arena == nil || at.Phase != mode.Active || at.Point >= at.Points {
		return
	}
	if w.arena != s.Arena || w.game == nil {
		w.renew(s.Arena, c.Game())
	}
	if w.game == nil || int(at.Point) >= len(w.game.Layout.Points) {
		return
	}
	z := &w.game.Layout.Points[at.Point]
	s.Field, s.Point, s.Goal, s.Reach = w, int(at.Point), z.Center, z.Radius
}

func (w *FlowField) renew(a *arena.Arena, g *sim.Game) {
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	*w = FlowField{arena: a, game: g, wide: int(size.X/wayCell) + 1, deep: int(size.Z/wayCell) + 1}
	if g == nil {
		return
	}
	w.open, w.steps = make([]bool, w.wide*w.deep), make([][]uint16, len(g.Layout.Points))
	for i := range w.open {
		p := w.middle(i)
		w.open[i] = !a.Overlaps(geom.AABB{
			Min: geom.Vec3{X: p.X - wayBody, Y: p.Y + wayLow, Z: p.Z - wayBody}, Max: geom.Vec3{X: p.X + wayBody, Y: p.Y + wayHigh, Z: p.Z + wayBody},
		})
	}
	for x := range w.wide { // a border, so that neighbours need no bounds
		w.open[x], w.open[(w.deep-1)*w.wide+x] = false, false
	}
	for z := range w.deep {
		w.open[z*w.wide], w.open[z*w.wide+w.wide-1] = false, false
	}
	for i, d := range [8][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
		w.cells[i] = neighbor{d[0], d[1], d[1]*w.wide + d[0]}
	}
}

// middle is the middle of a cell on the ground, which lies at 0 in arenas that are made, and where spawns are in others.
func (w *FlowField) middle(cell int) geom.Vec3 {
	b := &w.arena.Bounds
	y := float32(0)
	if len(w.arena.Spawns) > 0 {
		y = w.arena.Spawns[0].Pos.Y
	}
	return geom.Vec3{X: b.Min.X + (float32(cell%w.wide)+0.5)*wayCell, Y: y, Z: b.Min.Z + (float32(cell/w.wide)+0.5)*wayCell}
}

func (w *FlowField) cell(p geom.Vec3) int {
	b := &w.arena.Bounds
	x, z := int((p.X-b.Min.X)/wayCell), int((p.Z-b.Min.Z)/wayCell)
	return min(max(z, 1), w.deep-2)*w.wide + min(max(x, 1), w.wide-2)
}

// Next is where to run next from pos to get to a point; false where no way is known.
func (w *FlowField) Next(point int, pos geom.Vec3) (to geom.Vec3, ok bool) {
	if w.steps[point] == nil {
		w.steps[point] = w.fill(w.cell(w.game.Layout.Points[point].Center))
	}
	steps, at := w.steps[point], w.cell(pos)
	if steps[at] == 0 {
		if at = w.near(steps, at); at < 0 {
			return to, false
		}
		return w.middle(at), true
	}
	for range wayLook {
		at = w.down(steps, at)
	}
	return w.middle(at), true
}

// fill counts the steps to a cell from all that one can get there from, and 1.
func (w *FlowField) fill(goal int) []uint16 {
	steps := make([]uint16, len(w.open))
	steps[goal] = 1
	w.queue = append(w.queue[:0], int32(goal))
	for next := 0; next < len(w.queue); next++ {
		at := int(w.queue[next])
		for _, n := range w.cells[:4] {
			if to := at + n.index; w.open[to] && steps[to] == 0 && steps[at] < 1<<16-1 {
				steps[to] = steps[at] + 1
				w.queue = append(w.queue, int32(to))
			}
		}
	}
	return steps
}

// down is the neighbour with the fewest steps to go; across a corner only where both its sides are open.
func (w *FlowField) down(steps []uint16, at int) int {
	best := at
	for i, n := range w.cells {
		to := at + n.index
		if steps[to] == 0 || steps[to] >= steps[best] || i >= 4 && (!w.open[at+n.dx] || !w.open[at+n.dz*w.wide]) {
			continue
		}
		best = to
	}
	return best
}

// near is a cell close by that has a way, the one with the fewest steps; -1 if there is none.
func (w *FlowField) near(steps []uint16, at int) int {
	best := -1
	x0, z0 := at%w.wide, at/w.wide
	for z := max(z0-wayFar, 0); z <= min(z0+wayFar, w.deep-1); z++ {
		for x := max(x0-wayFar, 0); x <= min(x0+wayFar, w.wide-1); x++ {
			if i := z*w.wide + x; steps[i] != 0 && (best < 0 || steps[i] < steps[best]) {
				best = i
			}
		}
	}
	return best
}
