package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// The capsule that collides, in multiples of PosUnit (see the package comment).
const (
	radius   = 1638. / 4096
	height   = 7372. / 4096
	skin     = 2. / 4096 // so deep a touch is left alone: rounding may cause it, and pushing it out would tremble
	tanLimit = 1.1917536 // of SlopeLimit
	cosLimit = 0.6427876

	bare = radius - skin // nearer than this is a touch
)

// touch is how a capsule and a solid overlap.
type touch struct {
	n     geom.Vec3 // unit vector from the solid to the body
	depth float32   // metres along n that would part them, more than skin
	raise float32   // metres upwards that would; only if n.Y > 0
	aside float32   // metres along n's horizontal part that would; only if it has one
}

// contact tests the capsule at p against s; both are measured from o.
func contact(s *arena.Solid, o, p geom.Vec3) (t touch, ok bool) {
	y0, y1 := p.Y+radius, p.Y+(height-radius)
	lo, hi := s.Min.Y-o.Y, s.Max.Y-o.Y
	if y0-hi >= bare || lo-y1 >= bare {
		return t, false
	}
	ex := beyond(p.X, s.Min.X-o.X, s.Max.X-o.X)
	if ex >= bare || ex <= -bare {
		return t, false
	}
	ez := beyond(p.Z, s.Min.Z-o.Z, s.Max.Z-o.Z)
	if ez >= bare || ez <= -bare {
		return t, false
	}
	if s.Shape != arena.Box {
		return rampContact(s, o, p)
	}
	ey := apart(y0, y1, lo, hi)
	side := float32(ex*ex) + float32(ez*ez)
	d2 := side + float32(ey*ey)
	if d2 >= bare*bare {
		return t, false
	}
	if d2 == 0 {
		return buried(s, o, p), true
	}
	d := geom.Sqrt(d2)
	inv := 1 / d
	t.n = geom.Vec3{X: ex * inv, Y: ey * inv, Z: ez * inv}
	t.depth = radius - d
	t.raise = geom.Sqrt(radius*radius-side) - ey
	t.aside = geom.Sqrt(radius*radius-float32(ey*ey)) - geom.Sqrt(side)
	return t, true
}

// beyond is how far x lies outside [lo, hi], with its sign; 0 inside.
func beyond(x, lo, hi float32) float32 {
	if x < lo {
		return x - lo
	}
	if x > hi {
		return x - hi
	}
	return 0
}

// apart is how far [y0, y1] lies above [lo, hi], negative if below, 0 if they overlap.
func apart(y0, y1, lo, hi float32) float32 {
	if y0 > hi {
		return y0 - hi
	}
	if y1 < lo {
		return y1 - lo
	}
	return 0
}

// buried is the shortest way out of the solid's box for a capsule whose axis is within it. Ties go to x, z, then up.
func buried(s *arena.Solid, o, p geom.Vec3) touch {
	best := touch{depth: nowhere}
	out := func(n geom.Vec3, depth float32) {
		if depth < best.depth {
			best = touch{n: n, depth: depth, raise: depth, aside: depth}
		}
	}
	out(geom.Vec3{X: -1}, p.X-(s.Min.X-o.X)+radius)
	out(geom.Vec3{X: 1}, (s.Max.X-o.X)-p.X+radius)
	out(geom.Vec3{Z: -1}, p.Z-(s.Min.Z-o.Z)+radius)
	out(geom.Vec3{Z: 1}, (s.Max.Z-o.Z)-p.Z+radius)
	out(geom.Vec3{Y: 1}, (s.Max.Y-o.Y)-p.Y)
	out(geom.Vec3{Y: -1}, p.Y+height-(s.Min.Y-o.Y))
	return best
}

// wedge is a ramp in its own plane: it rises along u from (u0, lo) to (u1, hi), and is as wide as w0 to w1.
type wedge struct {
	u0, u1, w0, w1, lo, hi float32
	grade, inv             float32 // rise over run, 1/sqrt(1 + grade^2)
	sign                   float32 // of u along its world axis
	alongZ                 bool
}

func unfold(s *arena.Solid, o geom.Vec3) wedge {
	r := wedge{lo: s.Min.Y - o.Y, hi: s.Max.Y - o.Y, grade: s.Grade, sign: 1}
	r.inv = 1 / geom.Sqrt(1+float32(s.Grade*s.Grade))
	switch s.Shape {
	case arena.RampPosX, arena.RampNegX:
		r.u0, r.u1, r.w0, r.w1 = s.Min.X-o.X, s.Max.X-o.X, s.Min.Z-o.Z, s.Max.Z-o.Z
	default:
		r.u0, r.u1, r.w0, r.w1 = s.Min.Z-o.Z, s.Max.Z-o.Z, s.Min.X-o.X, s.Max.X-o.X
		r.alongZ = true
	}
	if s.Shape == arena.RampNegX || s.Shape == arena.RampNegZ {
		r.sign = -1
		r.u0, r.u1 = -r.u1, -r.u0
	}
	return r
}

// plan turns a world position into u and w; world turns a direction back.
func (r *wedge) plan(x, z float32) (u, w float32) {
	if r.alongZ {
		return z * r.sign, x
	}
	return x * r.sign, z
}

func (r *wedge) world(u, y, w float32) geom.Vec3 {
	if r.alongZ {
		return geom.Vec3{X: w, Y: y, Z: u * r.sign}
	}
	return geom.Vec3{X: u * r.sign, Y: y, Z: w}
}

// rampContact is contact for a ramp whose box the capsule touches. The body's axis is vertical and the ramp has one
// section all along w, so the vector between them is that of a vertical segment and a triangle, and the part along w.
func rampContact(s *arena.Solid, o, p geom.Vec3) (t touch, ok bool) {
	r := unfold(s, o)
	u, w := r.plan(p.X, p.Z)
	ew := beyond(w, r.w0, r.w1)
	y0, y1 := p.Y+radius, p.Y+(height-radius)
	rise := float32((u - r.u0) * r.grade)
	above := (y0 - (r.lo + rise)) * r.inv // of the slope's plane
	foot := u + float32(above*r.grade*r.inv)
	var eu, ey float32
	switch {
	case u >= r.u1: // behind it
		eu, ey = u-r.u1, apart(y0, y1, r.lo, r.hi)
	case y1 < r.lo: // below it
		eu, ey = min(u-r.u0, 0), y1-r.lo
	case above >= 0 && foot > r.u1: // nearest to the upper edge
		eu, ey = u-r.u1, y0-r.hi
	case u < r.u0 && (above < 0 || foot < r.u0): // nearest to the lower edge
		eu, ey = u-r.u0, max(y0-r.lo, 0)
	case above < 0 && ew == 0:
		return r.buried(s, o, p, above), true
	default: // nearest to the slope
		above = max(above, 0)
		eu, ey = -above*r.grade*r.inv, above*r.inv
		if ew == 0 {
			if above >= bare {
				return t, false
			}
			t.n = r.world(-r.grade*r.inv, r.inv, 0)
			t.depth = radius - above
			t.raise = t.depth / r.inv
			t.aside = t.depth / (r.grade * r.inv)
			return t, true
		}
	}
	d2 := float32(eu*eu) + float32(ey*ey) + float32(ew*ew)
	if d2 >= bare*bare {
		return t, false
	}
	if d2 == 0 {
		return buried(s, o, p), true
	}
	d := geom.Sqrt(d2)
	inv := 1 / d
	t.n = r.world(eu*inv, ey*inv, ew*inv)
	t.depth = radius - d
	// The distance from a convex body grows at least as fast as along its normal, so these may be too far, never too near.
	if t.n.Y > 0 {
		t.raise = t.depth / t.n.Y
	}
	if flat := geom.Sqrt(float32(t.n.X*t.n.X) + float32(t.n.Z*t.n.Z)); flat > 0 {
		t.aside = t.depth / flat
	}
	return t, true
}

// buried is the shortest way out of the ramp: as of its box, or through the slope.
func (r *wedge) buried(s *arena.Solid, o, p geom.Vec3, above float32) touch {
	t := buried(s, o, p)
	if depth := radius - above; depth < t.depth {
		t = touch{n: r.world(-r.grade*r.inv, r.inv, 0), depth: depth, raise: depth / r.inv, aside: depth / (r.grade * r.inv)}
	}
	return t
}

// rest is where a body comes to rest when it is let down on a solid.
type rest struct {
	feet float32 // height of Pos
	at   float32 // height of the point it rests on
	up   float32 // y of the normal there
	wall bool    // it is a slope too steep to be a floor
}

// support lets the body down at (x, z) on s; all is measured from o. It reports false if it would pass beside.
func support(s *arena.Solid, o geom.Vec3, x, z float32) (r rest, ok bool) {
	ex := beyond(x, s.Min.X-o.X, s.Max.X-o.X)
	ez := beyond(z, s.Min.Z-o.Z, s.Max.Z-o.Z)
	if s.Shape != arena.Box {
		if ex >= radius || ex <= -radius || ez >= radius || ez <= -radius {
			return r, false
		}
		return rampSupport(s, o, x, z)
	}
	r.at = s.Max.Y - o.Y
	if ex == 0 && ez == 0 {
		r.feet, r.up = r.at, 1
		return r, true
	}
	over := radius*radius - (float32(ex*ex) + float32(ez*ez))
	if over <= 0 {
		return r, false
	}
	over = geom.Sqrt(over)
	r.feet = r.at + over - radius
	r.up = over * (1 / radius)
	return r, true
}

func rampSupport(s *arena.Solid, o geom.Vec3, x, z float32) (t rest, ok bool) {
	r := unfold(s, o)
	u, w := r.plan(x, z)
	ew := beyond(w, r.w0, r.w1)
	round := geom.Sqrt(radius*radius - float32(ew*ew)) // of the sphere, cut at the ramp's side
	foot := u + float32(round*r.grade*r.inv)
	edge := u - r.u0
	switch {
	case foot > r.u1:
		edge, t.at = u-r.u1, r.hi
	case foot < r.u0:
		t.at = r.lo
	default:
		t.at = r.lo + float32((foot-r.u0)*r.grade)
		t.feet = r.lo + float32((u-r.u0)*r.grade) + round/r.inv - radius
		t.up = float32(round*r.inv) * (1 / radius)
		t.wall = r.grade > tanLimit
		return t, true
	}
	over := float32(round*round) - float32(edge*edge)
	if over <= 0 {
		return t, false
	}
	over = geom.Sqrt(over)
	t.feet = t.at + over - radius
	t.up = over * (1 / radius)
	return t, true
}
