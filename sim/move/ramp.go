package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// wedge is a ramp in its own plane: it rises along u from (u0, lo) to (u1, hi), and is as wide as
// w0 to w1.
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

// rampContact is contact for a ramp whose box the capsule touches. The body's axis is vertical and
// the ramp has one section all along w, so the vector between them is that of a vertical segment
// and a triangle, and the part along w.
func (b *Body) rampContact(s *arena.Solid, o, p geom.Vec3) (t touch, ok bool) {
	r := unfold(s, o)
	u, w := r.plan(p.X, p.Z)
	ew := beyond(w, r.w0, r.w1)
	y0, y1 := p.Y+b.radius, p.Y+b.shoulder
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
		return r.insideDepth(b, s, o, p, above), true
	default: // nearest to the slope
		above = max(above, 0)
		eu, ey = -above*r.grade*r.inv, above*r.inv
		if ew == 0 {
			if above >= b.bare {
				return t, false
			}
			t.n = r.world(-r.grade*r.inv, r.inv, 0)
			t.depth = b.radius - above
			t.raise = t.depth / r.inv
			t.aside = t.depth / (r.grade * r.inv)
			return t, true
		}
	}
	d2 := float32(eu*eu) + float32(ey*ey) + float32(ew*ew)
	if d2 >= b.bareSq {
		return t, false
	}
	if d2 == 0 {
		return b.insideDepth(s, o, p), true
	}
	d := geom.Sqrt(d2)
	inv := 1 / d
	t.n = r.world(eu*inv, ey*inv, ew*inv)
	t.depth = b.radius - d
	// The distance from a convex body grows at least as fast as along its normal, so these may be
	// too far, never too near.
	if t.n.Y > 0 {
		t.raise = t.depth / t.n.Y
	}
	if flat := geom.Sqrt(float32(t.n.X*t.n.X) + float32(t.n.Z*t.n.Z)); flat > 0 {
		t.aside = t.depth / flat
	}
	return t, true
}

// insideDepth is the shortest way out of the ramp: as of its box, or through the slope.
func (r *wedge) insideDepth(b *Body, s *arena.Solid, o, p geom.Vec3, above float32) touch {
	t := b.insideDepth(s, o, p)
	if depth := b.radius - above; depth < t.depth {
		t = touch{n: r.world(-r.grade*r.inv, r.inv, 0), depth: depth, raise: depth / r.inv,
			aside: depth / (r.grade * r.inv)}
	}
	return t
}

func (b *Body) rampSupport(s *arena.Solid, o geom.Vec3, x, z float32) (t rest, ok bool) {
	r := unfold(s, o)
	u, w := r.plan(x, z)
	ew := beyond(w, r.w0, r.w1)
	round := geom.Sqrt(b.radiusSq - float32(ew*ew)) // of the sphere, cut at the ramp's side
	foot := u + float32(round*r.grade*r.inv)
	edge := u - r.u0
	switch {
	case foot > r.u1:
		edge, t.at = u-r.u1, r.hi
	case foot < r.u0:
		t.at = r.lo
	default:
		t.at = r.lo + float32((foot-r.u0)*r.grade)
		t.feet = r.lo + float32((u-r.u0)*r.grade) + round/r.inv - b.radius
		t.up = float32(round*r.inv) * b.invRadius
		t.wall = r.grade > b.tanLimit
		return t, true
	}
	over := float32(round*round) - float32(edge*edge)
	if over <= 0 {
		return t, false
	}
	over = geom.Sqrt(over)
	t.feet = t.at + over - b.radius
	t.up = over * b.invRadius
	return t, true
}
