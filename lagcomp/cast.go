package lagcomp

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
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

// Cast judges shots[i] into hits[i]: the living player nearest along the ray, not the shooter nor its team, as the
// shooter's view showed it; the lowest slot where two are equally near. A shot whose view has no history (see At) or
// whose ray is of no use (see Aim) misses. It panics if hits is the shorter.
//
// Nobody is interpolated but the few near the ray: the broad phase looks at everybody at the view's first tick, with
// bounds wide enough for all they moved until the view's instant.
func (h *History) Cast(shots []Shot, hits []Hit) { h.CastSeen(shots, hits, nil) }

// CastSeen is Cast where shooters were not shown everybody. seen says whether the shooter of shots[i] had the player called
// id in its view; one that it had not cannot be hit, and the shot goes on to whoever is behind. It is asked only of who would be
// hit otherwise, and nil takes everybody to be seen.
func (h *History) CastSeen(shots []Shot, hits []Hit, seen func(s *Shot, id uint32) bool) {
	if len(hits) < len(shots) {
		panic(fmt.Sprintf("lagcomp: Cast of %d shots into %d hits", len(shots), len(hits)))
	}
	for i := range shots {
		hits[i] = h.castOne(&shots[i], seen)
	}
}

func (h *History) castOne(s *Shot, seen func(*Shot, uint32) bool) (best Hit) {
	a, b := h.between(s.View)
	ray, ok := Aim(s.Ray)
	if a == nil || !ok {
		return Hit{}
	}
	near, flyers := h.near(ray, a, b, s.View.Frac)
	for _, slots := range [2][]int32{near, flyers} {
		for _, slot := range slots {
			p := lerpRow(a, b, s.View.Frac, int(slot))
			if !target(p, s) {
				continue
			}
			hit := Hit{ID: p.ID, Slot: int(slot)}
			if hit.Part, hit.Distance, ok = test(ray, p); ok && nearer(hit, best) && (seen == nil || seen(s, p.ID)) {
				best = hit
			}
		}
	}
	if best.Part != None {
		best.Point = ray.At(best.Distance)
	}
	return best
}

// nearer reports whether a comes before b, which may be a miss.
func nearer(a, b Hit) bool {
	return b.Part == None || a.Distance < b.Distance || a.Distance == b.Distance && a.Slot < b.Slot
}

// near lists every slot that test could hit, in two parts which may overlap; the memory is the history's until the next
// call.
func (h *History) near(ray geom.Ray, a, b *frame, frac uint8) (near, flyers []int32) {
	radius := float32(BoundRadius)
	if frac != 0 && a != b {
		m := h.moves.between(a, b)
		if m.count == tooMany {
			return h.everyone[:a.used], nil
		}
		radius += float32(fraction(frac)*m.metres*(1+1e-5)) + 2e-3 // 2 mm: positions at Reach are rounded to 1
		flyers = m.flyers[:m.count]
	}
	// The columns hold feet; the bounds' centres are boundHigh above, so the ray goes down instead.
	k := kernel.Ray{
		OX: ray.Origin.X, OY: ray.Origin.Y - boundHigh, OZ: ray.Origin.Z,
		DX: ray.Dir.X, DY: ray.Dir.Y, DZ: ray.Dir.Z, Max: ray.Max,
		Grow: float32(radius*radius) - BoundRadius*BoundRadius, Widest: BoundRadius,
	}
	n := a.used
	return kernel.Candidates(k, a.x[:n], a.y[:n], a.z[:n], a.nr2[:n], h.candidates), flyers
}

// target reports whether shot s may hit p at all.
func target(p Pose, s *Shot) bool {
	return p.Alive() && p.ID != s.Shooter && p.Team() != s.Team
}
