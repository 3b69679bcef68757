package geom

// Ray is a half line cut at Max metres. Dir has unit length.
type Ray struct {
	Origin, Dir Vec3
	Max         float32
}

// At returns the point t metres along the ray.
func (r Ray) At(t float32) Vec3 { return r.Origin.Mad(r.Dir, t) }

// Sphere is a ball.
type Sphere struct {
	Center Vec3
	Radius float32
}

// Capsule is all points within Radius of the segment A-B.
type Capsule struct {
	A, B   Vec3
	Radius float32
}

// AABB is an axis-aligned box; Min <= Max in each coordinate.
type AABB struct{ Min, Max Vec3 }

// Sphere returns the distance along r at which it enters s, 0 if it starts inside, and whether it
// does so within Max.
func (r Ray) Sphere(s Sphere) (t float32, ok bool) {
	d := s.Center.Sub(r.Origin)
	along := d.Dot(r.Dir)
	outside := d.LenSq() - float32(s.Radius*s.Radius)
	if outside <= 0 {
		return 0, true
	}
	disc := float32(along*along) - outside
	if along <= 0 || disc < 0 {
		return 0, false
	}
	t = along - Sqrt(disc)
	return max(t, 0), t <= r.Max
}

// Capsule returns the distance along r at which it enters c, 0 if it starts inside, and whether it
// does so within Max. The body between the ends is an infinite cylinder cut to the segment; the
// ends are spheres (the usual construction, e.g. Ericson, Real-Time Collision Detection, 5.3.7).
func (r Ray) Capsule(c Capsule) (t float32, ok bool) {
	axis := c.B.Sub(c.A)
	from := r.Origin.Sub(c.A)
	axisSq, axisDir, axisFrom := axis.LenSq(), axis.Dot(r.Dir), axis.Dot(from)
	if axisSq < 1e-12 {
		return r.Sphere(Sphere{c.A, c.Radius})
	}
	a := axisSq - float32(axisDir*axisDir)
	b := float32(axisSq*from.Dot(r.Dir)) - float32(axisFrom*axisDir)
	k := float32(axisSq*(from.LenSq()-float32(c.Radius*c.Radius))) - float32(axisFrom*axisFrom)
	// Origin within the infinite cylinder: inside the body, or only an end can be entered.
	if k <= 0 {
		if axisFrom >= 0 && axisFrom <= axisSq {
			return 0, true
		}
		return r.ends(c)
	}
	if a < 1e-9*axisSq { // parallel to the axis and outside the cylinder
		return 0, false
	}
	disc := float32(b*b) - float32(a*k)
	if disc < 0 {
		return 0, false
	}
	t = (-b - Sqrt(disc)) / a
	if t < 0 {
		return 0, false
	}
	if along := axisFrom + float32(t*axisDir); along > 0 && along < axisSq {
		return t, t <= r.Max
	}
	return r.ends(c)
}

func (r Ray) ends(c Capsule) (float32, bool) {
	ta, oka := r.Sphere(Sphere{c.A, c.Radius})
	tb, okb := r.Sphere(Sphere{c.B, c.Radius})
	if oka && (!okb || ta <= tb) {
		return ta, true
	}
	return tb, okb
}

// Box returns the distance along r at which it enters b, 0 if it starts inside, and whether it does
// so within Max.
func (r Ray) Box(b AABB) (t float32, ok bool) {
	near, far := float32(0), r.Max
	slab := func(o, d, lo, hi float32) bool {
		if Abs(d) < 1e-12 {
			return o >= lo && o <= hi
		}
		inv := 1 / d
		t0, t1 := (lo-o)*inv, (hi-o)*inv
		near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
		return near <= far
	}
	ok = slab(r.Origin.X, r.Dir.X, b.Min.X, b.Max.X) &&
		slab(r.Origin.Y, r.Dir.Y, b.Min.Y, b.Max.Y) &&
		slab(r.Origin.Z, r.Dir.Z, b.Min.Z, b.Max.Z)
	return near, ok
}
