package arena

import "github.com/tickrate/tickrate/ecs/geom"

// wedge is a ramp seen from a point, in axes of its own: x along the way it rises, from 0 at the
// low edge to long, y up from 0 to high, z across from 0 to wide.
type wedge struct {
	from             geom.Vec3 // the point, in those axes
	long, high, wide float32
	up               geom.Vec3 // normal of the slope
	shape            Shape
}

// newWedge turns a ramp, and the point from, into the axes of a ramp that rises towards +x.
func newWedge(s *Solid, from geom.Vec3) wedge {
	w := wedge{shape: s.Shape, high: s.Max.Y - s.Min.Y}
	w.from.Y = from.Y - s.Min.Y
	switch s.Shape {
	case RampPosX:
		w.from.X, w.from.Z = from.X-s.Min.X, from.Z-s.Min.Z
		w.long, w.wide = s.Max.X-s.Min.X, s.Max.Z-s.Min.Z
	case RampNegX:
		w.from.X, w.from.Z = s.Max.X-from.X, from.Z-s.Min.Z
		w.long, w.wide = s.Max.X-s.Min.X, s.Max.Z-s.Min.Z
	case RampPosZ:
		w.from.X, w.from.Z = from.Z-s.Min.Z, from.X-s.Min.X
		w.long, w.wide = s.Max.Z-s.Min.Z, s.Max.X-s.Min.X
	default:
		w.from.X, w.from.Z = s.Max.Z-from.Z, from.X-s.Min.X
		w.long, w.wide = s.Max.Z-s.Min.Z, s.Max.X-s.Min.X
	}
	w.up = geom.Vec3{X: -w.high, Y: w.long}.Normalize()
	return w
}

// turn takes a direction into the wedge's axes, and world back. Three of the four turns undo
// themselves.
func (w *wedge) turn(d geom.Vec3) geom.Vec3 {
	switch w.shape {
	case RampPosX:
		return d
	case RampNegX:
		return geom.Vec3{X: -d.X, Y: d.Y, Z: d.Z}
	case RampPosZ:
		return geom.Vec3{X: d.Z, Y: d.Y, Z: d.X}
	}
	return geom.Vec3{X: -d.Z, Y: d.Y, Z: d.X}
}

// world turns a direction of the wedge's axes back into the arena's.
func (w *wedge) world(d geom.Vec3) geom.Vec3 {
	if w.shape == RampNegZ {
		return geom.Vec3{X: d.Z, Y: d.Y, Z: -d.X}
	}
	return w.turn(d)
}

// local is the point that lies d from the one it is seen from.
func (w *wedge) local(d geom.Vec3) geom.Vec3 { return w.from.Add(w.turn(d)) }

// above is how far a point lies above the slope's plane, negative below.
func (w *wedge) above(p geom.Vec3) float32 { return p.Dot(w.up) }

// nearest is the vector, in the wedge's axes, from p to the nearest point of the wedge.
func (w *wedge) nearest(p geom.Vec3) geom.Vec3 {
	d := geom.Vec3{Z: min(max(p.Z, 0), w.wide) - p.Z}
	q := geom.Vec3{X: min(max(p.X, 0), w.long), Y: max(p.Y, 0)} // below the slope the box is exact
	if h := p.Dot(w.up); h > 0 {
		// Above: the nearest of the slope's line, cut to its ends, and of the upright face behind
		// it.
		along := geom.Vec3{X: w.up.Y, Y: -w.up.X}
		f := min(max(float32(p.X*along.X)+float32(p.Y*along.Y), 0), w.length())
		q = along.Scale(f)
		if p.X > w.long {
			back := geom.Vec3{X: w.long, Y: min(max(p.Y, 0), w.high)}
			if flat(back.Sub(p)) < flat(q.Sub(p)) {
				q = back
			}
		}
		if p.Y < 0 {
			low := geom.Vec3{X: min(max(p.X, 0), w.long)}
			if flat(low.Sub(p)) < flat(q.Sub(p)) {
				q = low
			}
		}
	} else {
		q.Y = min(q.Y, w.high)
	}
	d.X, d.Y = q.X-p.X, q.Y-p.Y
	return d
}

// flat is the squared length of d without its z.
func flat(d geom.Vec3) float32 { return float32(d.X*d.X) + float32(d.Y*d.Y) }

// length of the slope.
func (w *wedge) length() float32 {
	return geom.Sqrt(float32(w.long*w.long) + float32(w.high*w.high))
}

// sweepRamp is sweep for a ramp: the first of five faces moved out by radius and nine edges as
// capsules.
func (s *Solid) sweepRamp(b *beam, radius float32) (t float32, n geom.Vec3, ok bool) {
	w := newWedge(s, b.origin)
	dir := w.turn(b.dir)
	if w.nearest(w.from).LenSq() <= float32(radius*radius) {
		n = s.normal(b.origin)
		return 0, n, n.Dot(b.dir) < 0
	}
	best := b.max
	face := func(normal, at geom.Vec3, holds func(p geom.Vec3) bool) {
		toward := dir.Dot(normal)
		if toward > -1e-7 {
			return
		}
		gap := w.from.Sub(at).Dot(normal) - radius
		if gap < 0 {
			return
		}
		if t := -gap / toward; t <= best && holds(w.from.Mad(dir, t)) {
			best, ok = t, true
		}
	}
	long := w.length()
	level := func(p geom.Vec3) bool { return p.X >= 0 && p.X <= w.long && p.Z >= 0 && p.Z <= w.wide }
	side := func(p geom.Vec3) bool { return p.X <= w.long && p.Y >= 0 && p.Dot(w.up) <= 0 }
	face(geom.Vec3{Y: -1}, geom.Vec3{}, level)
	face(geom.Vec3{X: 1}, geom.Vec3{X: w.long}, func(p geom.Vec3) bool {
		return p.Y >= 0 && p.Y <= w.high &&
			p.Z >= 0 && p.Z <= w.wide
	})
	face(w.up, geom.Vec3{}, func(p geom.Vec3) bool {
		f := float32(p.X*w.up.Y) - float32(p.Y*w.up.X)
		return f >= 0 && f <= long && p.Z >= 0 && p.Z <= w.wide
	})
	face(geom.Vec3{Z: -1}, geom.Vec3{}, side)
	face(geom.Vec3{Z: 1}, geom.Vec3{Z: w.wide}, side)
	corner := func(i int) geom.Vec3 { // 0 low, 1 back, 2 top; 3 more across
		c := geom.Vec3{}
		if i%3 > 0 {
			c.X = w.long
		}
		if i%3 == 2 {
			c.Y = w.high
		}
		if i >= 3 {
			c.Z = w.wide
		}
		return c.Sub(w.from)
	}
	for _, e := range [9][2]int{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}} {
		if t, hit := capsule(geom.Ray{Dir: dir, Max: best}, corner(e[0]), corner(e[1]), radius); hit &&
			t <= best {
			best, ok = t, true
		}
	}
	if !ok {
		return 0, n, false
	}
	n = s.normal(geom.Vec3{X: b.origin.X + float32(b.dir.X*best), Y: b.origin.Y + float32(b.dir.Y*best),
		Z: b.origin.Z + float32(b.dir.Z*best)})
	return best, n, true
}
