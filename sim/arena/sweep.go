package arena

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

// MaxSweep is the largest radius of a sphere that Sweep flies, in metres.
const MaxSweep = 0.75

// pieceReach is how far from the middle of a piece of the path Near is trusted; the rest of Reach
// is the sphere's and forgives rounding.
const pieceReach = Reach - MaxSweep - 1./64

// Touch is where a flying sphere first touches a solid.
type Touch struct {
	Distance float32   // metres that its centre flew
	Normal   geom.Vec3 // unit vector from the solid to the centre
}

// Sweep flies a sphere along r and returns its first touch within r.Max. Solids that it overlaps
// from the start are touched at 0 if it moves into them and let go if it moves out or along: so
// what bounced off flies on. A ray whose direction is not of unit length within 1e-5 or not finite
// touches nothing, nor does a radius outside 0 to MaxSweep. It allocates nothing; its time grows
// with the path's length over the ground.
//
// A sphere that flies against a solid is a point that flies against the solid rounded outwards by
// the radius; that is what is computed, exactly but for float32's rounding of about 1e-5 of the
// numbers met. Coordinates are taken from the ray's origin, so that they are small near it.
func (a *Arena) Sweep(r geom.Ray, radius float32) (hit Touch, ok bool) {
	if !sweeps(&r, radius) {
		return Touch{}, false
	}
	if r.Max <= longestBox {
		if lo, hi := box(r.Origin, r.At(r.Max), radius+rayMargin); !a.filled.meets(lo, hi) {
			return Touch{}, false
		}
	}
	return a.sweepPieces(r, radius)
}

// sweeps reports whether Sweep takes a ray and a radius.
func sweeps(r *geom.Ray, radius float32) bool {
	return r.Origin.Finite() && r.Dir.Finite() && r.Max >= 0 && radius >= 0 && radius <= MaxSweep &&
		geom.Abs(r.Dir.LenSq()-1) <= 2e-5
}

// sweepPieces is Sweep for rays and radii that it takes, piece by piece along the path.
func (a *Arena) sweepPieces(r geom.Ray, radius float32) (hit Touch, ok bool) {
	b := beam{max: r.Max} // the rest of it when something is met: most paths meet nothing
	from, last, made := float32(0), r.Max, false
	if !a.within(&r) {
		b, made = newBeam(r), true
		if from, last, ok = a.clip(&b, radius); !ok {
			return Touch{}, false
		}
		ok = false
	}
	// Pieces of the path: within each, everything near stands in one square's list.
	level := geom.Sqrt(float32(r.Dir.X*r.Dir.X) + float32(r.Dir.Z*r.Dir.Z))
	half := last
	if float32(level*(last-from)) > 2*pieceReach {
		half = pieceReach / level
	} else {
		half = (last - from) * 0.5
	}
	for {
		mid := r.At(from + half)
		items := a.Near(mid.X, mid.Z)
		lo, hi := box(r.At(from), r.At(from+float32(2*half)), radius+rayMargin)
		for i := range items {
			s := &items[i]
			// One branch: six in turn would be predicted wrong time and again.
			if geom.Bit(s.Min.Y > hi.Y)|geom.Bit(s.Max.Y < lo.Y)|geom.Bit(s.Min.X > hi.X)|
				geom.Bit(s.Max.X < lo.X)|geom.Bit(s.Min.Z > hi.Z)|geom.Bit(s.Max.Z < lo.Z) != 0 {
				continue
			}
			if !made {
				b, made = newBeam(r), true
			}
			if t, n, touched := s.sweep(&b, radius); touched && (!ok || t < hit.Distance) {
				hit, ok = Touch{t, n}, true
				b.max = t
			}
		}
		from += float32(2 * half)
		if from >= min(last, b.max) || half <= 0 {
			return hit, ok
		}
	}
}

// within reports whether a path lies in the arena with a margin. Then clip would cut nothing off.
func (a *Arena) within(r *geom.Ray) bool {
	const inset, short = 1. / 64, 64
	p, q := r.Origin, r.At(r.Max)
	x0, x1 := a.Bounds.Min.X+inset, a.Bounds.Max.X-inset
	y0, y1 := a.Bounds.Min.Y+inset, a.Bounds.Max.Y-inset
	z0, z1 := a.Bounds.Min.Z+inset, a.Bounds.Max.Z-inset
	return r.Max <= short && p.X > x0 && p.X < x1 && q.X > x0 && q.X < x1 && p.Y > y0 && p.Y < y1 &&
		q.Y > y0 && q.Y < y1 &&
		p.Z > z0 && p.Z < z1 && q.Z > z0 && q.Z < z1
}

// box holds both ends, grown.
func box(p, q geom.Vec3, grow float32) (lo, hi geom.Vec3) {
	g := geom.Vec3{X: grow, Y: grow, Z: grow}
	return p.Min(q).Sub(g), p.Max(q).Add(g)
}

// clip returns the part of the path on which a sphere may touch anything of the arena.
func (a *Arena) clip(b *beam, radius float32) (from, to float32, ok bool) {
	const far = 1e9
	grow := geom.Vec3{X: radius, Y: radius, Z: radius}
	from, to = span3(a.Bounds.Min.Sub(grow), a.Bounds.Max.Add(grow), b)
	return max(from-rayMargin, 0), min(to+rayMargin, b.max, far), from-rayMargin <= to+rayMargin &&
		from <= b.max && to >= 0
}

// span3 is where the whole line of b lies within a box, from > to if nowhere.
func span3(lo, hi geom.Vec3, b *beam) (from, to float32) {
	s := span{-math.MaxFloat32, math.MaxFloat32}
	s = s.cut(lo.X, hi.X, b.origin.X, b.inv.X)
	s = s.cut(lo.Z, hi.Z, b.origin.Z, b.inv.Z)
	s = s.cut(lo.Y, hi.Y, b.origin.Y, b.inv.Y)
	return s.from, s.to
}

// span is a part of a line, in distances from its origin; it is empty if from > to.
type span struct{ from, to float32 }

// cut narrows s to where a line lies between lo and hi along one axis. inv is 1 / direction.
func (s span) cut(lo, hi, origin, inv float32) span {
	t0, t1 := float32((lo-origin)*inv), float32((hi-origin)*inv)
	if t0 > t1 {
		t0, t1 = t1, t0
	}
	return span{max(s.from, t0), min(s.to, t1)}
}

// sweep is Sweep against one solid, up to b.max.
func (s *Solid) sweep(b *beam, radius float32) (t float32, n geom.Vec3, ok bool) {
	grow := geom.Vec3{X: radius, Y: radius, Z: radius}
	lo, hi := s.Min.Sub(grow), s.Max.Add(grow)
	from, to := span3(lo, hi, b)
	if from > to || to < 0 || from > b.max {
		return 0, n, false
	}
	if s.Shape != Box {
		return s.sweepRamp(b, radius)
	}
	t = max(from, 0)
	if t, ok = s.enterRounded(b, radius, t); !ok || t > b.max {
		return 0, n, false
	}
	n = s.normal(geom.Vec3{X: b.origin.X + float32(b.dir.X*t), Y: b.origin.Y + float32(b.dir.Y*t),
		Z: b.origin.Z + float32(b.dir.Z*t)})
	return t, n, t > 0 || n.Dot(b.dir) < 0
}

// enterRounded tells where b enters a box rounded by radius, given where it enters the box grown by
// radius (Ericson, Real-Time Collision Detection, 5.5.7): beside a face there; beside an edge where
// it enters the edge's capsule; beside a corner where it enters the nearest of three.
func (s *Solid) enterRounded(b *beam, radius, t float32) (float32, bool) {
	lo, hi := s.Min.Sub(b.origin), s.Max.Sub(b.origin)
	p := b.dir.Scale(t)
	corner, other := lo, hi // corner: the one nearest to p
	outside := 0
	var out [3]bool
	pick := func(axis int, p, lo, hi float32, c, o *float32) {
		if p > hi {
			*c, *o = hi, lo
		}
		if p < lo || p > hi {
			out[axis] = true
			outside++
		}
	}
	pick(0, p.X, lo.X, hi.X, &corner.X, &other.X)
	pick(1, p.Y, lo.Y, hi.Y, &corner.Y, &other.Y)
	pick(2, p.Z, lo.Z, hi.Z, &corner.Z, &other.Z)
	if outside < 2 {
		return t, true
	}
	best, ok := float32(0), false
	ray := geom.Ray{Dir: b.dir, Max: b.max}
	for axis := range 3 {
		if outside == 2 && out[axis] {
			continue // only the edge along the axis p is not outside of
		}
		far := corner
		switch axis {
		case 0:
			far.X = other.X
		case 1:
			far.Y = other.Y
		default:
			far.Z = other.Z
		}
		if t, hit := capsule(ray, corner, far, radius); hit && (!ok || t < best) {
			best, ok = t, true
		}
	}
	return best, ok
}

// capsule moves the ray to near the edge before it computes with squares.
func capsule(r geom.Ray, a, b geom.Vec3, radius float32) (float32, bool) {
	if radius == 0 {
		return 0, false
	}
	long := b.Sub(a).Len()
	mid := a.Lerp(b, 0.5)
	skip := max(0, mid.Sub(r.Origin).Dot(r.Dir)-(float32(0.5*long)+radius))
	if skip > r.Max {
		return 0, false
	}
	t, ok := geom.Ray{Origin: r.At(skip), Dir: r.Dir, Max: r.Max - skip}.Capsule(geom.Capsule{A: a, B: b,
		Radius: radius})
	return skip + t, ok
}

// normal is the direction from the nearest point of s to p; for a p within s, the shortest way out.
func (s *Solid) normal(p geom.Vec3) geom.Vec3 {
	q := s.Nearest(p)
	d := p.Sub(q)
	if d.LenSq() > 1e-8 {
		return d.Normalize()
	}
	return s.exitNormal(p)
}

// exitNormal is the normal of the face of s that p is nearest to. Ties go to x, z, then up.
func (s *Solid) exitNormal(p geom.Vec3) geom.Vec3 {
	n, best := geom.Vec3{X: -1}, p.X-s.Min.X
	try := func(v geom.Vec3, depth float32) {
		if depth < best {
			n, best = v, depth
		}
	}
	try(geom.Vec3{X: 1}, s.Max.X-p.X)
	try(geom.Vec3{Z: -1}, p.Z-s.Min.Z)
	try(geom.Vec3{Z: 1}, s.Max.Z-p.Z)
	if s.Shape == Box {
		try(geom.Vec3{Y: 1}, s.Max.Y-p.Y)
	} else {
		w := newWedge(s, p)
		try(w.world(w.up), -w.above(w.local(geom.Vec3{})))
	}
	try(geom.Vec3{Y: -1}, p.Y-s.Min.Y)
	return n
}

// Nearest is the point of s that is nearest to p; p itself if s holds it.
func (s *Solid) Nearest(p geom.Vec3) geom.Vec3 {
	q := p.Max(s.Min).Min(s.Max)
	if s.Shape == Box {
		return q
	}
	w := newWedge(s, p)
	return p.Add(w.world(w.nearest(w.local(geom.Vec3{}))))
}
