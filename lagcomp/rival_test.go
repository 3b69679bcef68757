package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// plainRewind is the rival of History and Sweeper: lag compensation as a competent engineer writes it
// at first. A ring holds one slice of poses per tick. A query walks all players in slot order, looks
// at position and bounding ball first, and interpolates and tests the body of those that it touches.
// It allocates nothing and gives the hits of the oracle, slowHistory.
type plainRewind struct {
	ring [][]rig.Pose // slot of tick t: t modulo the length
}

func newPlainRewind(ticks int) *plainRewind { return &plainRewind{make([][]rig.Pose, ticks+1)} }

// Record copies the poses of a tick.
func (h *plainRewind) Record(t tick.Tick, poses []rig.Pose) {
	at := int(t) % len(h.ring)
	h.ring[at] = append(h.ring[at][:0], poses...)
}

// view returns the poses of both ticks of a view, which the ring must hold.
func (h *plainRewind) view(v tick.View) (a, b []rig.Pose) {
	return h.ring[int(v.From)%len(h.ring)], h.ring[int(v.To)%len(h.ring)]
}

// feet is the position of rig.Lerp, without the rest of the pose.
func feet(a, b *rig.Pose, frac uint8) geom.Vec3 {
	if frac == 0 || rig.Discontinuous(a, b) {
		return a.Pos
	}
	return a.Pos.Lerp(b.Pos, float32(frac)/256)
}

// target reports whether a query may touch a pose at all.
func target(p *rig.Pose, except uint32, spare Teams) bool {
	return p.ID != 0 && p.Flags&1 == 0 && p.ID != except && !spare.Has(uint8(p.Flags>>1&3))
}

// Cast finds the nearest hit of each sweep.
func (h *plainRewind) Cast(sweeps []Sweep, hits []Hit) {
	for i := range sweeps {
		hits[i] = h.cast(&sweeps[i])
	}
}

func (h *plainRewind) cast(w *Sweep) (best Hit) {
	ray, ok := NormalizeRay(w.Ray)
	if !ok {
		return Hit{Refused: RefusedRay}
	}
	a, b := h.view(w.View)
	b = b[:len(a)]
	from, part := ray, float32(w.View.Frac)/256
	reach := rig.HeroBodies.Widest() + w.Radius
	for slot := range a {
		p, q := &a[slot], &b[slot]
		// The ball first: nearly all are far from the ray. Flags follow for the few that are near.
		at := p.Pos
		if !rig.Discontinuous(p, q) {
			at = at.Lerp(q.Pos, part)
		}
		middle := geom.Vec3{X: at.X - ray.Origin.X, Y: at.Y + rig.BoundHeight - ray.Origin.Y,
			Z: at.Z - ray.Origin.Z}
		along := middle.Dot(ray.Dir)
		if along < -reach || along > ray.Max+reach ||
			middle.Mad(ray.Dir, -along).LenSq() > float32(reach*reach)+1e-2 ||
			!target(p, w.Except, w.Spare) {
			continue
		}
		pose := rig.Lerp(p, q, w.View.Frac)
		hit, ok := testPose(rig.HeroBodies, ray, w.Radius, &pose)
		if ok && (best.ID == 0 || hit.Distance < best.Distance) {
			best = Hit{pose.ID, slot, hit.Bone, hit.Part, Judged, hit.Distance, from.At(hit.Distance), hit.Normal}
			ray.Max = hit.Distance
		}
	}
	return best
}

// Overlap finds all that the zones touch.
func (h *plainRewind) Overlap(zones []OverlapQuery, out []OverlapHit) []OverlapHit {
	for i := range zones {
		z := &zones[i]
		ball, ok := z.boundingSphere()
		if !ok {
			continue
		}
		a, b := h.view(z.View)
		reach := ball.Radius + rig.HeroBodies.Widest() + 1e-2
		for slot := range a {
			if !target(&a[slot], z.Except, z.Spare) {
				continue
			}
			at := feet(&a[slot], &b[slot], z.View.Frac)
			at.Y += rig.BoundHeight
			if at.Sub(ball.Center).LenSq() > float32(reach*reach) {
				continue
			}
			p := rig.Lerp(&a[slot], &b[slot], z.View.Frac)
			if bone, metres, ok := TestCapsule(rig.HeroBodies, z.Capsule, &p); ok {
				out = append(out, OverlapHit{i, slot, p.ID, bone, metres, p})
			}
		}
	}
	return out
}

// equalTo returns the first sweep whose hit differs from want, or -1.
func (h *plainRewind) equalTo(sweeps []Sweep, want []Hit) int {
	for i := range sweeps {
		if h.cast(&sweeps[i]) != want[i] {
			return i
		}
	}
	return -1
}
