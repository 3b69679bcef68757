package lagcomp

import (
	"fmt"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/viterin/vek/vek32"
)

// Shot is one ray to be judged at the instant its shooter was looking at.
type Shot struct {
	Ray     geom.Ray  // as Aim wants it; Max where the map stops it
	View    tick.View // already clamped
	Shooter uint32    // ID, never hit by its own shot
	Team    uint8     // the shooter's, never hit either; NoTeam spares nobody
}

// Hit is the nearest hit of a shot; the zero Hit (ID 0, Part None) is a miss.
type Hit struct {
	ID       uint32
	Slot     int
	Part     Part
	Distance float32   // metres along the ray
	Point    geom.Vec3 // Ray.At(Distance)
}

// scratch is what Cast works in; sized once.
type scratch struct {
	order      []uint64
	x, y, z    []float32
	candidates []int32
}

// batch is how many shots are ordered at once; the index has 16 bits in an order key.
const batch = 1 << 12

func newScratch(slots int) scratch {
	axes := make([]float32, 3*slots)
	return scratch{
		order: make([]uint64, 0, batch), candidates: make([]int32, 0, slots),
		x: axes[:slots:slots], y: axes[slots : 2*slots : 2*slots], z: axes[2*slots:],
	}
}

// Cast judges shots[i] into hits[i]: the living player nearest along the ray, not the shooter nor its team, as the
// shooter's view showed it; the lowest slot where two are equally near. A shot whose view has no history (see At) or
// whose ray is of no use (see Aim) misses. The order of the shots does not matter. It panics if hits is the shorter.
//
// Shots with one view share the work of interpolating everybody; so fewer distinct views in a call are cheaper.
func (h *History) Cast(shots []Shot, hits []Hit) {
	if len(hits) < len(shots) {
		panic(fmt.Sprintf("lagcomp: Cast of %d shots into %d hits", len(shots), len(hits)))
	}
	for len(shots) > 0 {
		n := min(len(shots), batch)
		h.castBatch(shots[:n], hits[:n])
		shots, hits = shots[n:], hits[n:]
	}
}

func (h *History) castBatch(shots []Shot, hits []Hit) {
	order := h.cast.order[:0]
	for i := range shots {
		order = append(order, viewKey(shots[i].View)<<12|uint64(i))
	}
	slices.Sort(order)
	var v view
	for n, entry := range order {
		i := int(entry & (batch - 1))
		if n == 0 || entry>>12 != order[n-1]>>12 {
			v = h.look(shots[i].View)
		}
		hits[i] = h.castOne(&v, &shots[i])
	}
}

// viewKey orders views so that equal ones are neighbours: 32 bits of From, 8 of span, 8 of fraction. Views that are not
// valid may collide with each other only in ways that look refuses again: their key is that of no view.
func viewKey(v tick.View) uint64 {
	if !v.Valid() {
		return 0
	}
	return uint64(v.From)<<16 | uint64(v.To-v.From)<<8 | uint64(v.Frac)
}

// view is everybody as seen at one instant; a is nil when there is no history of it.
type view struct {
	a, b         *frame
	frac         uint8
	x, y, z, nr2 []float32
}

func (h *History) look(at tick.View) view {
	a, b := h.between(at)
	if a == nil {
		return view{}
	}
	n := a.used
	v := view{a: a, b: b, frac: at.Frac, x: a.x[:n], y: a.y[:n], z: a.z[:n], nr2: a.nr2[:n]}
	if at.Frac != 0 && a != b {
		v.x, v.y, v.z = h.cast.x[:n], h.cast.y[:n], h.cast.z[:n]
		lerpColumns(v.x, v.y, v.z, a, b, fraction(at.Frac))
	}
	return v
}

// lerpColumns computes the positions of Lerp for every row of a, bit for bit.
func lerpColumns(x, y, z []float32, a, b *frame, f float32) {
	n := min(a.used, b.used)
	lerpColumn(x[:n], a.x[:n], b.x[:n], f)
	lerpColumn(y[:n], a.y[:n], b.y[:n], f)
	lerpColumn(z[:n], a.z[:n], b.z[:n], f)
	ka, kb := a.keys[:n], b.keys[:n]
	for i := range ka {
		if broken(ka[i], kb[i]) {
			x[i], y[i], z[i] = a.x[i], a.y[i], a.z[i]
		}
	}
	copy(x[n:], a.x[n:a.used])
	copy(y[n:], a.y[n:a.used])
	copy(z[n:], a.z[n:a.used])
}

// lerpColumn is a + (b-a)*f, rounded after each step as geom.Vec3.Lerp rounds: the passes store float32 in between.
func lerpColumn(dst, a, b []float32, f float32) {
	vek32.Sub_Into(dst, b, a)
	vek32.MulNumber_Inplace(dst, f)
	vek32.Add_Inplace(dst, a)
}

func (h *History) castOne(v *view, s *Shot) (best Hit) {
	ray, ok := Aim(s.Ray)
	if v.a == nil || !ok {
		return Hit{}
	}
	// The columns hold feet; the bounds' centres are boundHigh above, so the ray goes down instead.
	k := kernel.Ray{
		OX: ray.Origin.X, OY: ray.Origin.Y - boundHigh, OZ: ray.Origin.Z,
		DX: ray.Dir.X, DY: ray.Dir.Y, DZ: ray.Dir.Z, Max: ray.Max,
	}
	for _, slot := range kernel.Candidates(k, v.x, v.y, v.z, v.nr2, h.cast.candidates) {
		p := lerpRow(v.a, v.b, v.frac, int(slot))
		if !target(p, s) {
			continue
		}
		if part, t, ok := test(ray, p); ok && (best.Part == None || t < best.Distance) {
			best = Hit{ID: p.ID, Slot: int(slot), Part: part, Distance: t}
		}
	}
	if best.Part != None {
		best.Point = ray.At(best.Distance)
	}
	return best
}

// target reports whether shot s may hit p at all.
func target(p Pose, s *Shot) bool {
	return p.Alive() && p.ID != s.Shooter && p.Team() != s.Team
}
