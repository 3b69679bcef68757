package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// touch is how a capsule and a solid overlap.
type touch struct {
	n     geom.Vec3 // unit vector from the solid to the body
	depth float32   // metres along n that would part them, more than skin
	raise float32   // metres upwards that would; only if n.Y > 0
	aside float32   // metres along n's horizontal part that would; only if it has one
}

// contact tests the capsule at p against s; both are measured from o.
func (b *Body) contact(s *arena.Solid, o, p geom.Vec3) (t touch, ok bool) {
	y0, y1 := p.Y+b.radius, p.Y+b.shoulder
	lo, hi := s.Min.Y-o.Y, s.Max.Y-o.Y
	if y0-hi >= b.bare || lo-y1 >= b.bare {
		return t, false
	}
	ex := beyond(p.X, s.Min.X-o.X, s.Max.X-o.X)
	if ex >= b.bare || ex <= -b.bare {
		return t, false
	}
	ez := beyond(p.Z, s.Min.Z-o.Z, s.Max.Z-o.Z)
	if ez >= b.bare || ez <= -b.bare {
		return t, false
	}
	if s.Shape != arena.Box {
		return b.rampContact(s, o, p)
	}
	ey := apart(y0, y1, lo, hi)
	side := float32(ex*ex) + float32(ez*ez)
	d2 := side + float32(ey*ey)
	if d2 >= b.bareSq {
		return t, false
	}
	if d2 == 0 {
		return b.insideDepth(s, o, p), true
	}
	d := geom.Sqrt(d2)
	inv := 1 / d
	t.n = geom.Vec3{X: ex * inv, Y: ey * inv, Z: ez * inv}
	t.depth = b.radius - d
	t.raise = geom.Sqrt(b.radiusSq-side) - ey
	t.aside = geom.Sqrt(b.radiusSq-float32(ey*ey)) - geom.Sqrt(side)
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

// insideDepth is the shortest way out of the solid's box for a capsule whose axis is within it.
// Ties go to x, z, then up.
func (b *Body) insideDepth(s *arena.Solid, o, p geom.Vec3) touch {
	best := touch{depth: noFloor}
	out := func(n geom.Vec3, depth float32) {
		if depth < best.depth {
			best = touch{n: n, depth: depth, raise: depth, aside: depth}
		}
	}
	out(geom.Vec3{X: -1}, p.X-(s.Min.X-o.X)+b.radius)
	out(geom.Vec3{X: 1}, (s.Max.X-o.X)-p.X+b.radius)
	out(geom.Vec3{Z: -1}, p.Z-(s.Min.Z-o.Z)+b.radius)
	out(geom.Vec3{Z: 1}, (s.Max.Z-o.Z)-p.Z+b.radius)
	out(geom.Vec3{Y: 1}, (s.Max.Y-o.Y)-p.Y)
	out(geom.Vec3{Y: -1}, p.Y+b.height-(s.Min.Y-o.Y))
	return best
}

// rest is where a body comes to rest when it is let down on a solid.
type rest struct {
	feet float32 // height of Pos
	at   float32 // height of the point it rests on
	up   float32 // y of the normal there
	wall bool    // it is a slope too steep to be a floor
}

// support lets the body down at (x, z) on s; all is measured from o. It reports false if it would
// pass beside.
func (b *Body) support(s *arena.Solid, o geom.Vec3, x, z float32) (r rest, ok bool) {
	ex := beyond(x, s.Min.X-o.X, s.Max.X-o.X)
	ez := beyond(z, s.Min.Z-o.Z, s.Max.Z-o.Z)
	if s.Shape != arena.Box {
		if ex >= b.radius || ex <= -b.radius || ez >= b.radius || ez <= -b.radius {
			return r, false
		}
		return b.rampSupport(s, o, x, z)
	}
	r.at = s.Max.Y - o.Y
	if ex == 0 && ez == 0 {
		r.feet, r.up = r.at, 1
		return r, true
	}
	over := b.radiusSq - (float32(ex*ex) + float32(ez*ez))
	if over <= 0 {
		return r, false
	}
	over = geom.Sqrt(over)
	r.feet = r.at + over - b.radius
	r.up = over * b.invRadius
	return r, true
}
