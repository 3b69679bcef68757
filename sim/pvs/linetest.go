package pvs

import "math"

// verdict is the result of one test of two boxes.
type verdict uint8

const (
	open    verdict = iota // the line between the middles is free
	hidden                 // one wall blocks every line
	unclear                // neither
)

// testPair looks for one wall that blocks every line from an eye in a box to a body in another. It
// walks the bins below the line between their middles, at its top, and tests the walls on it.
//
// If all lines between the corners of two convex boxes meet one convex wall, all lines between the
// boxes do: seen from one point, the region that a convex wall hides is convex, so it hides a box
// if it hides its corners; and likewise from the other end.
func (w *walls) testPair(eye, body *box, last *uint32) verdict {
	if w.all[*last].blocks(eye, body) {
		return hidden
	}
	t := lineTest{eye: eye, body: body, last: last}
	t.p, t.d = middle(eye, body)
	return w.traceLine(&t)
}

// lineFree reports whether the line between the middles of two boxes is free, at its top.
func (w *walls) lineFree(eye, body *box) bool {
	var t lineTest
	t.p, t.d = middle(eye, body)
	return w.traceLine(&t) == open
}

// lineTest is the line from p to p+d, and the boxes that walls on it may hide from each other.
type lineTest struct {
	p, d      point
	eye, body *box    // nil: any wall on the line ends the test
	last      *uint32 // the wall that hid a pair last; set if another one does
}

// middle is the line between the middles of two boxes, at its top, from p to p+d.
func middle(eye, body *box) (p, d point) {
	// a division by two is a product to compilers
	half := func(lo, hi float64) float64 { return float64((lo + hi) / 2) }
	p = point{half(eye.lo.x, eye.hi.x), eye.hi.y, half(eye.lo.z, eye.hi.z)}
	return p, point{half(body.lo.x, body.hi.x) - p.x, body.hi.y - p.y, half(body.lo.z, body.hi.z) - p.z}
}

// traceLine walks along the line of a test. Without boxes it ends at the first wall that it meets.
func (w *walls) traceLine(t *lineTest) verdict {
	w.beginTrace()
	p, d := &t.p, &t.d
	found := w.testWalls(w.large, t)
	if found == hidden || found == unclear && t.eye == nil {
		return found
	}
	x, z := bin(p.x-w.x0, w.size, w.wide), bin(p.z-w.z0, w.size, w.deep)
	stepX, nextX, deltaX := borders(p.x-w.x0, d.x, w.size, x)
	stepZ, nextZ, deltaZ := borders(p.z-w.z0, d.z, w.size, z)
	for {
		switch w.testWalls(w.at(x, z), t) {
		case hidden:
			return hidden
		case unclear:
			if found = unclear; t.eye == nil {
				return found
			}
		}
		if min(nextX, nextZ) > 1 {
			return found
		}
		if nextX < nextZ {
			nextX += deltaX
			x += stepX
			if uint(x) >= uint(w.wide) {
				return found
			}
		} else {
			nextZ += deltaZ
			z += stepZ
			if uint(z) >= uint(w.deep) {
				return found
			}
		}
	}
}

// testWalls tests the walls of one bin.
func (w *walls) testWalls(items []uint32, t *lineTest) verdict {
	found := open
	for _, i := range items {
		if w.testedIn[i] == w.trace { // tested in an earlier bin: it does not hide
			continue
		}
		w.testedIn[i] = w.trace
		s := &w.all[i]
		if !s.intersects(&t.p, &t.d) {
			continue
		}
		if t.eye == nil {
			return unclear
		}
		found = unclear
		if i != *t.last && s.blocks(t.eye, t.body) {
			*t.last = i
			return hidden
		}
	}
	return found
}

// borders prepares one axis of a walk: the direction of bins, the position of the first border on
// the line, and the distance from one border to the next.
func borders(p, d, size float64, bin int) (step int, next, delta float64) {
	switch {
	case d > 1e-9:
		return 1, (float64(float64(bin+1)*size) - p) / d, size / d
	case d < -1e-9:
		return -1, (float64(float64(bin)*size) - p) / d, -size / d
	}
	return 0, math.Inf(1), 0
}

// blocks reports whether the wall meets every line between the corners of two boxes. If its bottom
// is below both boxes, only the highest lines count: it meets everything below them too.
func (w *wall) blocks(eye, body *box) bool {
	low := w.lo.y <= eye.lo.y && w.lo.y <= body.lo.y
	if w.ramp {
		return w.blocksAt(eye, body, eye.hi.y, body.hi.y) &&
			(low || w.blocksAt(eye, body, eye.hi.y, body.lo.y) &&
				w.blocksAt(eye, body, eye.lo.y, body.hi.y) && w.blocksAt(eye, body, eye.lo.y, body.lo.y))
	}
	x, z, y := blockedSpan{0, 1}, blockedSpan{0, 1}, blockedSpan{0, 1}
	if !x.lines(interval{w.lo.x, w.hi.x}, interval{eye.lo.x, eye.hi.x}, interval{body.lo.x, body.hi.x}) ||
		!z.lines(interval{w.lo.z, w.hi.z}, interval{eye.lo.z, eye.hi.z}, interval{body.lo.z, body.hi.z}) ||
		!x.meets(&z) {
		return false
	}
	planes := interval{w.lo.y, w.hi.y}
	if low {
		if !y.line(planes, eye.hi.y, body.hi.y) {
			return false
		}
	} else if !y.lines(planes, interval{eye.lo.y, eye.hi.y}, interval{body.lo.y, body.hi.y}) {
		return false
	}
	return x.meets(&y) && z.meets(&y)
}

// interval is the extent of a box along one axis, metres.
type interval struct{ lo, hi float64 }

// blockedSpan is from where the last of some lines enters the space between two planes to where
// the first of them leaves it, as fractions of the lines. It may end before it begins.
type blockedSpan struct{ near, far float64 }

// line adds the line from one coordinate to another, and reports whether it gets between two
// planes.
func (s *blockedSpan) line(planes interval, from, to float64) bool {
	part := linePart{0, 1}
	if !part.clip(planes, from, to-from) {
		return false
	}
	s.near, s.far = max(s.near, part.near), min(s.far, part.far)
	return true
}

// lines adds the lines from both ends of one edge to both of another.
func (s *blockedSpan) lines(planes, from, to interval) bool {
	return s.line(planes, from.lo, to.lo) && s.line(planes, from.hi, to.hi) &&
		s.line(planes, from.lo, to.hi) && s.line(planes, from.hi, to.lo)
}

// meets reports whether every line of s is between its planes while any of o is between its own.
// Between the corners of two boxes each line along one axis is combined with each along another:
// all pass through a wall if this holds for all axes.
func (s *blockedSpan) meets(o *blockedSpan) bool { return s.near <= o.far && o.near <= s.far }

// blocksAt is blocks for the corners at two heights, of a ramp.
func (w *wall) blocksAt(eye, body *box, from, to float64) bool {
	for i := range 4 {
		p := point{eye.lo.x, from, eye.lo.z}
		if i&1 != 0 {
			p.x = eye.hi.x
		}
		if i&2 != 0 {
			p.z = eye.hi.z
		}
		for j := range 4 {
			d := point{body.lo.x - p.x, to - from, body.lo.z - p.z}
			if j&1 != 0 {
				d.x = body.hi.x - p.x
			}
			if j&2 != 0 {
				d.z = body.hi.z - p.z
			}
			if !w.intersects(&p, &d) {
				return false
			}
		}
	}
	return true
}
