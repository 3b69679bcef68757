package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
)

// FlowField knows the path from everywhere to the capture points of an arena. All bots of a swarm
// share one; the zero value is ready.
type FlowField struct {
	arena *arena.Arena
	game  *sim.Game
	wide  int // cells along x
	deep  int
	open  []bool      // by cell: a player fits there, on the ground
	steps [][]uint16  // by point, computed on first use: steps from each open cell, 0 for no path
	queue []int32     // of fill
	cells [8]neighbor // of a cell, the straight ones first
}

type neighbor struct{ dx, dz, index int }

// The grid, in metres. Obstacles lower than a step do not block, and a Robot fits through.
const (
	cellSize    = 0.5
	bodyRadius  = 0.5
	stepHeight  = 0.6
	bodyHeight  = 1.8
	lookAhead   = 3 // cells ahead of a bot's heading
	searchCells = 4 // search radius, in cells, of a bot in a blocked cell, such as on a crate
)

// AddTo adds the contested capture point to an observation, if the client knows of one.
func (w *FlowField) AddTo(o *Observation, c *client.Client) {
	at, ok := c.Round.Status()
	if !ok || o.Arena == nil || at.Phase != mode.Active || at.Point >= at.Points {
		return
	}
	if w.arena != o.Arena || w.game == nil {
		w.renew(o.Arena, c.Game())
	}
	if w.game == nil || int(at.Point) >= len(w.game.Layout.Points) {
		return
	}
	z := &w.game.Layout.Points[at.Point]
	o.Field, o.Point, o.Goal, o.Reach = w, int(at.Point), z.Center, z.Radius
}

func (w *FlowField) renew(a *arena.Arena, g *sim.Game) {
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	*w = FlowField{arena: a, game: g, wide: int(size.X/cellSize) + 1, deep: int(size.Z/cellSize) + 1}
	if g == nil {
		return
	}
	w.open, w.steps = make([]bool, w.wide*w.deep), make([][]uint16, len(g.Layout.Points))
	for i := range w.open {
		p := w.middle(i)
		w.open[i] = !a.Overlaps(geom.AABB{
			Min: geom.Vec3{X: p.X - bodyRadius, Y: p.Y + stepHeight, Z: p.Z - bodyRadius},
			Max: geom.Vec3{X: p.X + bodyRadius, Y: p.Y + bodyHeight, Z: p.Z + bodyRadius},
		})
	}
	for x := range w.wide { // a blocked border, so that neighbours need no bounds checks
		w.open[x], w.open[(w.deep-1)*w.wide+x] = false, false
	}
	for z := range w.deep {
		w.open[z*w.wide], w.open[z*w.wide+w.wide-1] = false, false
	}
	for i, d := range [8][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
		w.cells[i] = neighbor{d[0], d[1], d[1]*w.wide + d[0]}
	}
}

// middle is the middle of a cell on the ground: at the height of spawns, or 0.
func (w *FlowField) middle(cell int) geom.Vec3 {
	b := &w.arena.Bounds
	y := float32(0)
	if len(w.arena.Spawns) > 0 {
		y = w.arena.Spawns[0].Pos.Y
	}
	x, z := float32(cell%w.wide)+0.5, float32(cell/w.wide)+0.5
	return geom.Vec3{X: b.Min.X + x*cellSize, Y: y, Z: b.Min.Z + z*cellSize}
}

func (w *FlowField) cell(p geom.Vec3) int {
	b := &w.arena.Bounds
	x, z := int((p.X-b.Min.X)/cellSize), int((p.Z-b.Min.Z)/cellSize)
	return min(max(z, 1), w.deep-2)*w.wide + min(max(x, 1), w.wide-2)
}

// Next is where to run next from pos to reach a point; false without a path.
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
	for range lookAhead {
		at = w.down(steps, at)
	}
	return w.middle(at), true
}

// fill counts, plus 1, the steps from each reachable cell to a goal.
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

// down is the neighbour with the fewest steps, diagonal ones only if both sides are open.
func (w *FlowField) down(steps []uint16, at int) int {
	best := at
	for i, n := range w.cells {
		to := at + n.index
		blocked := i >= 4 && (!w.open[at+n.dx] || !w.open[at+n.dz*w.wide])
		if steps[to] == 0 || steps[to] >= steps[best] || blocked {
			continue
		}
		best = to
	}
	return best
}

// near is the cell nearby with the fewest steps, -1 if none has a path.
func (w *FlowField) near(steps []uint16, at int) int {
	best := -1
	x0, z0 := at%w.wide, at/w.wide
	for z := max(z0-searchCells, 0); z <= min(z0+searchCells, w.deep-1); z++ {
		for x := max(x0-searchCells, 0); x <= min(x0+searchCells, w.wide-1); x++ {
			if i := z*w.wide + x; steps[i] != 0 && (best < 0 || steps[i] < steps[best]) {
				best = i
			}
		}
	}
	return best
}
