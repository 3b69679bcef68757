package pvs

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// The scenes of the tests are small enough to test every pair of cells.
func scenes(tb testing.TB) []*arena.Arena {
	return []*arena.Arena{openArena(tb, "arena-16"), openArena(tb, "arena-64"), openArena(tb, "gen:100:3"),
		town(32, 1), town(24, 2), rooms(5, 1), rooms(4, 2), arena.Town(32, 4),
		openArena(tb, "lifts")}
}

// oracle draws the place of a player of a node after the look-ahead, without the builder's
// geometry: anywhere on the ground within reach of the cell, feet at any height that is possible
// now, and higher by the greatest rise and climb.
type oracle struct {
	r *rand.Rand
	a *arena.Arena
	t *Table

	top   float32      // no feet are higher: TestBodiesStayInTheirPlaces holds it to that
	lines int          // looked along so far
	last  [2]geom.Vec3 // the line that sees looked along
}

// fits reports whether a body can be at p: it is in no box by more than a centimetre, and in no
// ramp's upper half.
func (o *oracle) fits(p geom.Vec3) bool {
	b := o.a.Bounds
	if p.X < b.Min.X || p.X > b.Max.X || p.Z < b.Min.Z || p.Z > b.Max.Z {
		return false
	}
	const thin = move.Radius - 0.01
	for _, s := range o.a.Near(p.X, p.Z) {
		x := max(s.Min.X-p.X, p.X-s.Max.X, 0)
		y := max(s.Min.Y-(p.Y+move.Height-move.Radius), p.Y+move.Radius-s.Max.Y, 0)
		z := max(s.Min.Z-p.Z, p.Z-s.Max.Z, 0)
		if s.Shape == arena.Box && x*x+y*y+z*z < thin*thin {
			return false
		}
	}
	return true
}

// feet draws feet in a cell now, and where they are after the look-ahead. It moves in a straight
// line, through walls.
func (o *oracle) feet(cell, level int) (geom.Vec3, bool) {
	c := o.t.Config()
	r := c.cellArea(cell)
	low, high := o.a.Bounds.Min.Y+1, o.top
	if level < len(c.Levels) {
		high = min(high, o.t.floor[cell]+c.Levels[level])
	}
	if high < low {
		return geom.Vec3{}, false
	}
	for range 8 {
		p := geom.Vec3{X: r.x0 + (r.x1-r.x0)*o.r.Float32(), Y: low + (high-low)*o.r.Float32(),
			Z: r.z0 + (r.z1-r.z0)*o.r.Float32()}
		if o.r.IntN(2) == 0 {
			p.Y = high
		}
		if !o.fits(p) {
			continue
		}
		far := o.r.Float32() * c.LookAhead
		if o.r.IntN(2) == 0 {
			far = c.LookAhead
		}
		sin, cos := geom.Angle(o.r.Uint32()).SinCos()
		q := p.Add(geom.Vec3{X: sin * far * c.Speed, Y: far * c.Climb * o.r.Float32(),
			Z: cos * far * c.Speed})
		if !o.clear(p, q) || !o.fits(q) {
			continue
		}
		return q, true
	}
	return geom.Vec3{}, false
}

// clear reports whether nothing stands between two points.
func (o *oracle) clear(p, q geom.Vec3) bool {
	d := q.Sub(p)
	if d.Len() < 1e-6 {
		return true
	}
	_, hit := o.a.Raycast(geom.Ray{Origin: p, Dir: d.Normalize(), Max: d.Len()})
	return !hit
}

// computeVisible draws an eye and a point of a body, and reports whether one sees the other.
func (o *oracle) sees(from, fromLevel, to, toLevel int) bool {
	p, ok := o.feet(from, fromLevel)
	q, ok2 := o.feet(to, toLevel)
	if !ok || !ok2 {
		return false
	}
	p.Y += move.EyeHeight
	sin, cos := geom.Angle(o.r.Uint32()).SinCos()
	q.Y += move.Radius + (move.Height-2*move.Radius)*o.r.Float32()
	q = q.Add(geom.Vec3{X: sin * move.Radius, Z: cos * move.Radius})
	if o.r.IntN(3) == 0 {
		q = q.Add(geom.Vec3{X: -sin * move.Radius, Y: move.Radius, Z: -cos * move.Radius})
	}
	o.last = [2]geom.Vec3{p, q}
	o.lines++
	return o.clear(p, q)
}

// TestNothingSeenIsHidden is the guarantee: no free line joins two cells that the table hides from
// each other. Every other line ends in a cell at the border of the visible set, where a mistake
// would show.
func TestNothingSeenIsHidden(t *testing.T) {
	lines := 0
	for i, a := range scenes(t) {
		for _, look := range []float32{-1, 0.1, 0.25} {
			c := Fit(a, [...]float32{4, 2, 8}[i%3])
			c.LookAhead = look
			if i%2 == 0 {
				c.Speed = 8
			}
			table, err := Build(a, c)
			if err != nil {
				t.Fatal(err)
			}
			o := oracle{r: rand.New(rand.NewPCG(uint64(i), 7)), a: a, t: table,
				top: newGround(a, &table.c).top}
			pairs := hiddenPairs(table, o.r, 1500)
			for _, p := range pairs {
				for range 20 {
					if o.sees(p.from, p.fromLevel, p.to, p.toLevel) {
						t.Fatalf("%s: look-ahead %v: %+v is hidden, and seen: %v %v", a.Name, look, p,
							o.last[0], o.last[1])
					}
				}
			}
			lines += o.lines
			t.Logf("%s, look-ahead %v, %v: %d hidden pairs looked at", a.Name, look, table, len(pairs))
		}
	}
	t.Logf("%d lines", lines)
	if lines < 100000 {
		t.Errorf("only %d lines: nothing tested", lines)
	}
}

type nodePair struct{ from, fromLevel, to, toLevel int }

// hiddenPairs draws pairs of nodes that do not see each other, half of them next to one that does.
func hiddenPairs(t *Table, r *rand.Rand, n int) (out []nodePair) {
	for try := 0; len(out) < n && try < n*20; try++ {
		p := nodePair{r.IntN(t.Cells()), r.IntN(t.Levels()), r.IntN(t.Cells()), r.IntN(t.Levels())}
		if t.VisibleAt(p.from, p.fromLevel, p.to, p.toLevel) {
			continue
		}
		if try%2 == 0 { // walk towards from until it is seen, and take the last that is not
			for p.to != p.from {
				next := p
				x, z, fx, fz := p.to%t.c.Wide, p.to/t.c.Wide, p.from%t.c.Wide, p.from/t.c.Wide
				if x != fx && (z == fz || r.IntN(2) == 0) {
					next.to += sign(fx - x)
				} else {
					next.to += sign(fz-z) * t.c.Wide
				}
				if t.VisibleAt(next.from, next.fromLevel, next.to, next.toLevel) {
					break
				}
				p = next
			}
		}
		out = append(out, p)
	}
	return out
}

func sign(v int) int {
	if v < 0 {
		return -1
	}
	return 1
}
