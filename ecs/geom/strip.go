package geom

// StripSlack is how far outside of a square a point may lie, in metres, and still be found by a
// Strip that lists the square: so squares may be numbered with rounding. It is also what makes
// float32 enough, up to 16 km from the origin.
const StripSlack = 1. / 32

// Strip is the squares of the ground under a ball that flies along a ray, row by row. Square n of
// an axis reaches from n*size to (n+1)*size. A long path crosses some three squares a row; its
// bounding box would have all of them.
//
//	for z := s.Z0; z <= s.Z1; z++ {
//		x0, x1 := s.Row(z) // squares x0 to x1; none if x0 > x1
//	}
type Strip struct {
	Z0, Z1 int // first and last row

	x, z, dx, inv, max float32
	grow, size, per    float32
	flat               bool
}

// NewStrip makes the strip of a ray's way, to Max, for a ball of a radius, in squares of size
// metres. Ray and radius must be finite, and Max at most 16 km.
func NewStrip(r Ray, radius, size float32) Strip {
	s := Strip{x: r.Origin.X, z: r.Origin.Z, dx: r.Dir.X, max: r.Max,
		grow: radius + StripSlack, size: size, per: 1 / size}
	end := r.Origin.Z + float32(r.Dir.Z*r.Max)
	s.Z0, s.Z1 = s.square(min(r.Origin.Z, end)-s.grow), s.square(max(r.Origin.Z, end)+s.grow)
	if s.flat = Abs(r.Dir.Z) < 1e-6; !s.flat { // then z changes by less than the slack
		s.inv = 1 / r.Dir.Z
	}
	return s
}

// Row returns the first and last square of row z.
func (s *Strip) Row(z int) (x0, x1 int) {
	from, to := float32(0), s.max
	if !s.flat {
		low := float32(float32(z) * s.size)
		a, b := float32((low-s.grow-s.z)*s.inv), float32((low+s.size+s.grow-s.z)*s.inv)
		from, to = max(from, min(a, b)), min(to, max(a, b))
		if from > to {
			return 0, -1
		}
	}
	a, b := s.x+float32(s.dx*from), s.x+float32(s.dx*to)
	return s.square(min(a, b) - s.grow), s.square(max(a, b) + s.grow)
}

// Squares is at least how many squares there are in all.
func (s *Strip) Squares() int {
	along := float32(Abs(s.dx) * s.max) // of the way, in one row
	if !s.flat {
		along = min(along, float32((s.size+float32(2*s.grow))*Abs(float32(s.dx*s.inv))))
	}
	return (s.Z1 - s.Z0 + 1) * (int((float32(2*s.grow)+along)*s.per) + 2)
}

// square rounds down.
func (s *Strip) square(x float32) int {
	v := x * s.per
	i := int(v)
	if float32(i) > v {
		i--
	}
	return i
}
