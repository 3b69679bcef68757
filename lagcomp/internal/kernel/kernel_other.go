//go:build !amd64 || noasm

package kernel

// isa is an instruction set: only Go's own here.
type isa uint8

const generic isa = 0

const level = generic

func (isa) lanes() int { return 1 }

func (isa) ray(p *probe, c *Spheres, n int, out []int32) int { return rayGeneric(p, c, n, out) }

func (isa) ball(p *probe, c *Spheres, n int, out []int32) int { return ballGeneric(p, c, n, out) }

func (isa) splitRows(rows, kept []Row, c *Spheres, radii *[16]float32) int { return 0 }

func (isa) displacement(a, b *Spheres, n int, limit float32, out []int32) (named int, most float32) {
	return displacementGeneric(a, b, n, limit, out)
}

func (isa) capsules(f *MovingSphere, c *Capsules, thick *Radii) (lane int, t float32) {
	return Undecided, 0
}
