package object

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// MaxCubes is how many cubes SpawnCubes makes at most.
const MaxCubes = 100

// CubeKind is the numbers of movable cubes. They collide as the ball that fits in and roll with
// their speed.
type CubeKind struct {
	Edge       float32 // metres, at most 2*arena.MaxSweep
	Gravity    float32 // m/s2
	Bounciness float32 // share of the speed against a surface that comes back
	Friction   float32 // share of the speed along a surface that is lost a second
	PushSpeed  float32 // m/s at which a body pushes it
	RestSpeed  float32 // m/s; a slower cube stops on a floor
}

// DefaultCube is a crate of one metre. FPSSample leaves its numbers to a physics engine; these
// are our own.
func DefaultCube() CubeKind {
	return CubeKind{Edge: 1, Gravity: 18, Bounciness: 0.2, Friction: 3, PushSpeed: 4, RestSpeed: 0.4}
}

func (k *CubeKind) half() float32 { return float32(k.Edge * 0.5) }

// Cube is a movable cube: 40 bytes, all of them sent.
type Cube struct {
	Pos, Vel geom.Vec3 // the centre, in move.PosUnit, and its velocity, in move.VelUnit
	Rot      Rotation
	ID       netid.ID
	Resting  bool // flat and still until it is pushed
}

var _ [40]byte = [unsafe.Sizeof(Cube{})]byte{}

// Rotation is a unit quaternion x, y, z, w in 1/32767.
type Rotation [4]int16

// NoRotation is the identity.
var NoRotation = Rotation{3: 32767}

// Push adds an impulse in m/s.
func (c *Cube) Push(impulse geom.Vec3) {
	c.Vel = move.Round(move.Motion{Vel: c.Vel.Add(impulse)}).Vel
	c.Resting = false
}

// SpawnCubes appends n cubes, limited to 1 to MaxCubes, in layers of four by four above a place, a
// quarter of an edge apart. id numbers them.
func SpawnCubes(n int, at geom.Vec3, k *CubeKind, id func(int) netid.ID, out []Cube) []Cube {
	for i := range min(max(n, 1), MaxCubes) {
		step := float32(k.Edge * 1.25)
		x, z, y := float32(i%4)-1.5, float32(i/4%4)-1.5, float32(i/16)+0.5
		pos := at.Add(geom.Vec3{X: float32(x * step), Y: float32(y * step), Z: float32(z * step)})
		out = append(out, Cube{Pos: onGrid(pos), Rot: NoRotation, ID: id(i)})
	}
	return out
}

// bodyMargin is by how much the body that pushes cubes is wider than its bones, in metres: the
// capsule that walks pushes.
const bodyMargin = 0.25

// StepCubes pushes, separates and moves the cubes: bodies first, then pairs from the lowest up,
// then each by itself.
func (s *Scene) StepCubes() {
	k := &s.CubeKind
	view := s.presentView()
	for i := range s.Cubes {
		c := &s.Cubes[i]
		s.near = s.Players.OverlapSphere(view, geom.Sphere{Center: c.Pos, Radius: min(k.half()+bodyMargin,
			arena.MaxSweep)}, s.near[:0])
		for j := range s.near {
			c.shove(s.near[j].Pose.Pos, k.PushSpeed)
		}
	}
	s.supported = slices.Grow(s.supported[:0], len(s.Cubes))[:len(s.Cubes)]
	clear(s.supported)
	// From the lowest up: a cube's support is known before what it carries.
	s.rows = s.rows[:0]
	for i := range s.Cubes {
		s.rows = append(s.rows, int32(i))
	}
	slices.SortFunc(s.rows, func(i, j int32) int {
		return cmp.Or(cmp.Compare(s.Cubes[i].Pos.Y, s.Cubes[j].Pos.Y), cmp.Compare(i, j))
	})
	for n, i := range s.rows {
		for _, j := range s.rows[n+1:] {
			s.separate(int(i), int(j))
		}
	}
	dt := s.Rate.Dt()
	for i := range s.Cubes {
		c := &s.Cubes[i]
		if s.supported[i] && !c.Resting && c.slow(k) {
			c.rest(dt)
		} else {
			*c = c.Step(k, s.Arena, s.Moment())
		}
	}
}

// shove makes c leave a body at feet at least at a speed, horizontally.
func (c *Cube) shove(feet geom.Vec3, speed float32) {
	d := geom.Vec3{X: c.Pos.X - feet.X, Z: c.Pos.Z - feet.Z}.Normalize()
	if missing := speed - c.Vel.Dot(d); missing > 0 && d != (geom.Vec3{}) {
		c.Push(d.Scale(missing))
	}
}

// Implementation constants of cubes that meet.
const (
	// m/s at which a moving cube wakes a resting one, which stands like the ground against slower
	// ones
	wakeSpeed = 2
	// metres between cubes that count as touching when one leaves another that lies on it
	touchMargin = 1. / 16
)

// separate moves two overlapping cubes apart, along walls and not through them, and removes the
// speed at which they close. Row i is the lower. A resting cube, or one that stands on it,
// supports the cubes above like the ground; they wake when it leaves.
func (s *Scene) separate(i, j int) {
	a, b, k := &s.Cubes[i], &s.Cubes[j], &s.CubeKind
	if a.Resting && b.Resting {
		return
	}
	d := b.Pos.Sub(a.Pos)
	square := d.LenSq()
	if square >= float32((k.Edge+touchMargin)*(k.Edge+touchMargin)) {
		return
	}
	n := directionOrUp(d)
	if b.Resting && n.Y > floorNormal && !a.slow(k) {
		b.Resting = false
	}
	deep := k.Edge - geom.Sqrt(square)
	if deep < 0 {
		return
	}
	closing := a.Vel.Sub(b.Vel).Dot(n)
	if closing > wakeSpeed {
		a.Resting, b.Resting = false, false
	}
	forA, forB := float32(0.5), float32(0.5)
	switch {
	case a.Resting, s.supported[i] && n.Y > floorNormal:
		forA, forB = 0, 1
	case b.Resting:
		forA, forB = 1, 0
	}
	a.slide(n, -float32(deep*forA), s)
	b.slide(n, float32(deep*forB), s)
	if closing > 0 {
		if !a.Resting {
			a.Push(n.Scale(-float32(closing * forA)))
		}
		if !b.Resting {
			b.Push(n.Scale(float32(closing * forB)))
		}
	}
	if n.Y > floorNormal && (a.Resting || s.supported[i]) {
		s.supported[j] = true
	}
}

// slide moves c along a direction, backwards if by is negative, up to the first obstacle.
func (c *Cube) slide(n geom.Vec3, by float32, s *Scene) {
	if by == 0 {
		return
	}
	if by < 0 {
		n, by = n.Scale(-1), -by
	}
	ray := geom.Ray{Origin: c.Pos, Dir: n, Max: by}
	if hit, ok := s.Arena.SweepAt(ray, s.CubeKind.half(), s.Moment()); ok {
		ray.Max = hit.Distance
	}
	c.Pos = onGrid(ray.At(ray.Max))
}

func (c *Cube) slow(k *CubeKind) bool { return c.Vel.LenSq() < float32(k.RestSpeed*k.RestSpeed) }

// rest stops c and lets it fall flat.
func (c *Cube) rest(dt float32) {
	c.Vel = geom.Vec3{}
	c.Rot, c.Resting = c.Rot.flatten(dt)
}

// Step takes c through the tick that ends now.
func (c Cube) Step(k *CubeKind, a *arena.Arena, now arena.Moment) Cube {
	if a.Moves() {
		c.Resting = ride(a, now, &c.Pos, k.half(), c.Resting)
	}
	if c.Resting {
		return c
	}
	dt := now.Rate.Dt()
	c.Vel.Y -= float32(k.Gravity * dt)
	left, floor := dt, false
	for range maxBounces {
		speed := c.Vel.Len()
		if speed < 1e-6 {
			break
		}
		ray := geom.Ray{Origin: c.Pos, Dir: c.Vel.Scale(1 / speed), Max: float32(speed * left)}
		hit, ok := a.SweepAt(ray, k.half(), now)
		if !ok {
			c.Pos = ray.At(ray.Max)
			break
		}
		c.Pos = ray.At(hit.Distance).Mad(hit.Normal, solidMargin)
		into := c.Vel.Dot(hit.Normal)
		along := c.Vel.Mad(hit.Normal, -into).Scale(max(0, 1-float32(k.Friction*dt)))
		back := float32(-into * k.Bounciness)
		if back < k.RestSpeed {
			back = 0
		}
		c.Vel = along.Mad(hit.Normal, back)
		floor = floor || hit.Normal.Y > floorNormal
		if left -= hit.Distance / speed; left <= 0 {
			break
		}
	}
	c.Rot = c.Rot.roll(c.Vel, k.half(), dt)
	if floor && c.slow(k) {
		c.rest(dt)
	}
	if low := a.Bounds.Min.Y - outOfWorldDepth; c.Pos.Y < low {
		c.Pos.Y, c.Vel, c.Resting = low, geom.Vec3{}, true
	}
	m := move.Round(move.Motion{Pos: c.Pos, Vel: c.Vel})
	c.Pos, c.Vel = m.Pos, m.Vel
	return c
}

// outOfWorldDepth is how far below the arena a fallen cube stays, in metres.
const outOfWorldDepth = 16

// OutOfWorld reports that c fell off the arena and may be removed.
func (c *Cube) OutOfWorld(a *arena.Arena) bool { return c.Pos.Y <= a.Bounds.Min.Y-outOfWorldDepth }

func (r Rotation) floats() (x, y, z, w float32) {
	const unit = 1. / 32767
	return float32(float32(r[0]) * unit), float32(float32(r[1]) * unit), float32(float32(r[2]) * unit),
		float32(float32(r[3]) * unit)
}

// makeRotation normalises and rounds; the zero quaternion becomes NoRotation.
func makeRotation(x, y, z, w float32) Rotation {
	n := geom.Sqrt(float32(x*x) + float32(y*y) + float32(z*z) + float32(w*w))
	if !(n > 1e-6) {
		return NoRotation
	}
	to := func(v float32) int16 { return int16(math.Floor(float64(float32(v/n)*32767) + 0.5)) }
	return Rotation{to(x), to(y), to(z), to(w)}
}

// turn rotates by a small vector, the axis times the angle in radians.
func (r Rotation) turn(by geom.Vec3) Rotation {
	x, y, z, w := r.floats()
	h := by.Scale(0.5)
	return makeRotation(
		x+(float32(h.X*w)+float32(h.Y*z)-float32(h.Z*y)),
		y+(float32(h.Y*w)+float32(h.Z*x)-float32(h.X*z)),
		z+(float32(h.Z*w)+float32(h.X*y)-float32(h.Y*x)),
		w-(float32(h.X*x)+float32(h.Y*y)+float32(h.Z*z)),
	)
}

// Apply rotates a vector.
func (r Rotation) Apply(v geom.Vec3) geom.Vec3 {
	x, y, z, w := r.floats()
	u := geom.Vec3{X: x, Y: y, Z: z}
	t := u.Cross(v).Scale(2)
	return v.Mad(t, w).Add(u.Cross(t))
}

// Inverse is the rotation back.
func (r Rotation) Inverse() Rotation { return Rotation{-r[0], -r[1], -r[2], r[3]} }

// roll turns as a wheel of a radius does at a velocity.
func (r Rotation) roll(vel geom.Vec3, radius, dt float32) Rotation {
	if vel.X == 0 && vel.Z == 0 || !(radius > 0) {
		return r
	}
	return r.turn(geom.Vec3{X: vel.Z, Z: -vel.X}.Scale(dt / radius))
}

// flattenRate is how fast a resting cube falls flat, in radians a second.
const flattenRate = 6

// flatten turns the most upright axis upright, and reports whether it has arrived.
func (r Rotation) flatten(dt float32) (Rotation, bool) {
	best := geom.Vec3{}
	for _, axis := range [3]geom.Vec3{{X: 1}, {Y: 1}, {Z: 1}} {
		up := r.Apply(axis)
		if up.Y < 0 {
			up = up.Scale(-1)
		}
		if up.Y > best.Y {
			best = up
		}
	}
	tilt := best.Cross(geom.Vec3{Y: 1})
	angle := tilt.Len() // its sine: at most 0.82, near enough
	if angle < 1e-3 {
		return r, true
	}
	return r.turn(tilt.Scale(min(1, float32(flattenRate*dt)/angle))), false
}

// SweepCubes returns the row of the cube that a sphere flying along a ray touches first, and after
// how many metres; the first row of two equally near. Radius 0 is a ray; a sphere is judged by the
// box grown by its radius, corners and all.
func (s *Scene) SweepCubes(r geom.Ray, radius float32) (row int, t float32, ok bool) {
	reach := float32(s.CubeKind.Edge*0.8660255) + float32(radius*1.7320509)
	half := s.CubeKind.half() + radius
	box := geom.AABB{Min: geom.Vec3{X: -half, Y: -half, Z: -half}, Max: geom.Vec3{X: half, Y: half, Z: half}}
	for i := range s.Cubes {
		c := &s.Cubes[i]
		to := c.Pos.Sub(r.Origin)
		along := min(max(to.Dot(r.Dir), 0), r.Max)
		if to.Mad(r.Dir, -along).LenSq() > float32(reach*reach) {
			continue
		}
		back := c.Rot.Inverse()
		local := geom.Ray{Origin: back.Apply(to.Scale(-1)), Dir: back.Apply(r.Dir), Max: r.Max}
		if d, hit := local.Box(box); hit && (!ok || d < t) {
			row, t, ok = i, d, true
		}
	}
	return row, t, ok
}

// cube is the row of an id, -1 if none.
func (s *Scene) cube(id netid.ID) int {
	for i := range s.Cubes {
		if s.Cubes[i].ID == id {
			return i
		}
	}
	return -1
}
