package pvs

import (
	"math"

	"github.com/tickrate/tickrate/sim/arena"
)

// Implementation constants of the walls.
const (
	shrink         = 1. / 512 // metres taken off each side of a wall, to cover rounding
	binSize        = 4        // metres; doubled until there are at most maxBins
	maxBins        = 1 << 16
	wideBins       = 64 // a wall over more bins is tested by every line
	mergeMaxArea   = 2048.
	maxMergedRatio = 4 // walls a solid, at most
	mergeRounds    = 2
)

// point is a place in metres.
type point struct{ x, y, z float64 }

// box is an axis-aligned box in metres. It holds eyes, or bodies, or is a wall.
type box struct{ lo, hi point }

// wall is a convex part of the arena: a box, touching boxes as one, or a ramp.
type wall struct {
	box
	// A ramp is below the plane a*x + b*z + c; 0, 0, 0 is a box.
	a, b, c float64
	ramp    bool
}

// intersects reports whether the line from p to p+d meets the wall.
func (w *wall) intersects(p, d *point) bool {
	if !spans(w.lo.y, w.hi.y, p.y, d.y) || !spans(w.lo.x, w.hi.x, p.x, d.x) ||
		!spans(w.lo.z, w.hi.z, p.z, d.z) {
		return false
	}
	part := linePart{0, 1}
	if !part.clip(interval{w.lo.x, w.hi.x}, p.x, d.x) || !part.clip(interval{w.lo.z, w.hi.z}, p.z, d.z) ||
		!part.clip(interval{w.lo.y, w.hi.y}, p.y, d.y) {
		return false
	}
	if !w.ramp {
		return true
	}
	// above + t*gain <= 0 for a t in [near, far]: it holds at one of the ends.
	above := p.y - (float64(w.a*p.x) + float64(w.b*p.z) + w.c)
	gain := d.y - (float64(w.a*d.x) + float64(w.b*d.z))
	return above+float64(part.near*gain) <= 0 || above+float64(part.far*gain) <= 0
}

// spans reports whether the line along one axis from p to p+d gets between lo and hi: clip of a
// whole line, without a division.
func spans(lo, hi, p, d float64) bool {
	a, b := lo-p, hi-p
	switch {
	case d >= 1e-9:
		return min(a, b) <= d && max(a, b) >= 0
	case d <= -1e-9:
		return max(a, b) >= d && min(a, b) <= 0
	}
	return p >= lo && p <= hi
}

// linePart is a part of a line, as fractions of it.
type linePart struct{ near, far float64 }

// clip limits a part of the line along one axis from p to p+d to what lies between two planes (the
// slab method). It reports whether anything is left.
func (l *linePart) clip(planes interval, p, d float64) bool {
	if d > -1e-9 && d < 1e-9 {
		return p >= planes.lo && p <= planes.hi
	}
	t0, t1 := (planes.lo-p)/d, (planes.hi-p)/d
	if t0 > t1 {
		t0, t1 = t1, t0
	}
	l.near, l.far = max(l.near, t0), min(l.far, t1)
	return l.near <= l.far
}

// walls is all walls of an arena, and those in each grid square.
type walls struct {
	all        []wall
	large      []uint32
	x0, z0     float64
	size       float64
	wide, deep int
	start      []uint32
	items      []uint32
	testedIn   []uint32 // by wall: the last trace that tested it
	trace      uint32   // number of the trace at hand
}

func newWalls(a *arena.Arena) *walls {
	w := &walls{x0: float64(a.Bounds.Min.X), z0: float64(a.Bounds.Min.Z), size: binSize}
	wide, deep := float64(a.Bounds.Max.X)-w.x0, float64(a.Bounds.Max.Z)-w.z0
	for (wide/w.size+1)*(deep/w.size+1) > maxBins {
		w.size *= 2
	}
	w.wide, w.deep = int(math.Ceil(wide/w.size)), int(math.Ceil(deep/w.size))
	for i := range a.Solids {
		w.all = append(w.all, newWall(&a.Solids[i]))
	}
	w.extendDown()
	w.merge(len(a.Solids) * maxMergedRatio)
	for i := range w.all {
		w.all[i].erode()
	}
	w.index()
	w.testedIn = make([]uint32, len(w.all)+1) // and the one that is nowhere
	return w
}

// beginTrace begins a trace: no wall has been tested in it.
func (w *walls) beginTrace() {
	if w.trace++; w.trace == 0 {
		clear(w.testedIn)
		w.trace = 1
	}
}

func newWall(s *arena.Solid) wall {
	w := wall{box: box{
		point{float64(s.Min.X), float64(s.Min.Y), float64(s.Min.Z)},
		point{float64(s.Max.X), float64(s.Max.Y), float64(s.Max.Z)},
	}, ramp: s.Shape != arena.Box}
	rise := w.hi.y - w.lo.y
	switch s.Shape {
	case arena.RampPosX:
		w.a = rise / (w.hi.x - w.lo.x)
		w.c = w.lo.y - float64(w.a*w.lo.x)
	case arena.RampNegX:
		w.a = -rise / (w.hi.x - w.lo.x)
		w.c = w.lo.y - float64(w.a*w.hi.x)
	case arena.RampPosZ:
		w.b = rise / (w.hi.z - w.lo.z)
		w.c = w.lo.y - float64(w.b*w.lo.z)
	case arena.RampNegZ:
		w.b = -rise / (w.hi.z - w.lo.z)
		w.c = w.lo.y - float64(w.b*w.hi.z)
	}
	return w
}

// extendDown extends walls down into the box that they stand on, so that no gap opens below them
// once they are eroded.
func (w *walls) extendDown() {
	w.index()
	for i := range w.all {
		s := &w.all[i]
		x, z := bin(s.lo.x-w.x0, w.size, w.wide), bin(s.lo.z-w.z0, w.size, w.deep)
		for _, items := range [...][]uint32{w.large, w.at(x, z)} {
			for _, j := range items {
				o := &w.all[j]
				if !o.ramp && o.lo.y < s.lo.y && o.hi.y >= s.lo.y && o.lo.x <= s.lo.x && o.lo.z <= s.lo.z &&
					o.hi.x >= s.hi.x && o.hi.z >= s.hi.z {
					s.lo.y = o.lo.y
				}
			}
		}
	}
}

// erode makes a wall a little smaller: what it still hides is hidden from everywhere near by.
func (w *wall) erode() {
	w.lo.x, w.lo.y, w.lo.z = w.lo.x+shrink, w.lo.y+shrink, w.lo.z+shrink
	w.hi.x, w.hi.y, w.hi.z = w.hi.x-shrink, w.hi.y-shrink, w.hi.z-shrink
	w.c -= float64(shrink * (1 + math.Abs(w.a) + math.Abs(w.b)))
}

// merge adds boxes that lie in two touching boxes: no line passes between these, but each alone
// hides less.
func (w *walls) merge(most int) {
	first := 0
	for range mergeRounds {
		w.index()
		last := len(w.all)
		for i := first; i < last; i++ {
			if len(w.all) < most {
				w.mergeWith(i, last, most)
			}
		}
		first = last
	}
}

// mergeWith joins wall i and those before last around it.
func (w *walls) mergeWith(i, last, most int) {
	s := w.all[i]
	if s.ramp || s.groundArea() > mergeMaxArea {
		return
	}
	bins := w.bins(&s.box)
	for z := bins.z0; z <= bins.z1; z++ {
		for x := bins.x0; x <= bins.x1; x++ {
			for _, j := range w.at(x, z) {
				o := &w.all[j]
				if int(j) == i || o.ramp || o.groundArea() > mergeMaxArea || len(w.all) >= most {
					continue
				}
				for axis := range 3 {
					if r, ok := join(&s.box, &o.box, axis); ok && !w.covered(&r, bins, last) {
						w.all = append(w.all, wall{box: r})
					}
				}
			}
		}
	}
}

func (r *box) groundArea() float64 { return (r.hi.x - r.lo.x) * (r.hi.z - r.lo.z) }

// covered reports whether r lies in a wall that is indexed in some bins, or in a recent one that
// is not indexed yet.
func (w *walls) covered(r *box, bins binRect, last int) bool {
	for z := bins.z0; z <= bins.z1; z++ {
		for x := bins.x0; x <= bins.x1; x++ {
			for _, j := range w.at(x, z) {
				if o := &w.all[j]; !o.ramp && o.holds(r) {
					return true
				}
			}
		}
	}
	for j := max(last, len(w.all)-64); j < len(w.all); j++ { // most duplicates come soon
		if w.all[j].holds(r) {
			return true
		}
	}
	return false
}

func (r *box) holds(o *box) bool {
	return r.lo.x <= o.lo.x && r.lo.y <= o.lo.y && r.lo.z <= o.lo.z && r.hi.x >= o.hi.x &&
		r.hi.y >= o.hi.y && r.hi.z >= o.hi.z
}

// join is the box that a and b fill together: as long as both along axis, as wide as both allow
// across.
func join(a, b *box, axis int) (r box, ok bool) {
	one := func(at int, alo, ahi, blo, bhi float64) (lo, hi float64, ok bool) {
		if at == axis {
			return min(alo, blo), max(ahi, bhi), max(alo, blo) <= min(ahi, bhi)
		}
		lo, hi = max(alo, blo), min(ahi, bhi)
		return lo, hi, hi-lo > 4*shrink
	}
	var x, y, z bool
	r.lo.x, r.hi.x, x = one(0, a.lo.x, a.hi.x, b.lo.x, b.hi.x)
	r.lo.y, r.hi.y, y = one(1, a.lo.y, a.hi.y, b.lo.y, b.hi.y)
	r.lo.z, r.hi.z, z = one(2, a.lo.z, a.hi.z, b.lo.z, b.hi.z)
	return r, x && y && z
}

// index lists the walls of each bin.
func (w *walls) index() {
	w.start = make([]uint32, w.wide*w.deep+1)
	w.large = w.large[:0]
	each := func(do func(bin int, i uint32), large func(i uint32)) {
		for i := range w.all {
			r := w.bins(&w.all[i].box)
			if (r.x1-r.x0+1)*(r.z1-r.z0+1) > wideBins {
				large(uint32(i))
				continue
			}
			for z := r.z0; z <= r.z1; z++ {
				for x := r.x0; x <= r.x1; x++ {
					do(z*w.wide+x, uint32(i))
				}
			}
		}
	}
	each(func(bin int, _ uint32) { w.start[bin]++ }, func(i uint32) { w.large = append(w.large, i) })
	sum := uint32(0)
	for bin := range w.start {
		sum += w.start[bin]
		w.start[bin] = sum // its end; filling moves it to its beginning
	}
	w.items = make([]uint32, sum)
	each(func(bin int, i uint32) {
		w.start[bin]--
		w.items[w.start[bin]] = i
	}, func(uint32) {})
}

// binRect is bins x0 to x1 of rows z0 to z1, both inclusive.
type binRect struct{ x0, z0, x1, z1 int }

// bins returns the bins that a box lies in.
func (w *walls) bins(r *box) binRect {
	return binRect{bin(r.lo.x-w.x0, w.size, w.wide), bin(r.lo.z-w.z0, w.size, w.deep),
		bin(r.hi.x-w.x0, w.size, w.wide), bin(r.hi.z-w.z0, w.size, w.deep)}
}

func bin(v, size float64, n int) int { return min(max(int(v/size), 0), n-1) }

func (w *walls) at(x, z int) []uint32 {
	b := z*w.wide + x
	return w.items[w.start[b]:w.start[b+1]]
}
