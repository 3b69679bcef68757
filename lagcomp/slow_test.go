package lagcomp

import (
	"math"
	"math/rand/v2"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// slowHistory is the reference implementation: whole poses in a map, all players interpolated and
// tested for every shot. It shares only Lerp and Test, the definition of a hit, with History.
type slowHistory struct {
	reach, newest tick.Tick
	poses         map[tick.Tick][]rig.Pose
}

func newSlowHistory(ticks int) *slowHistory {
	return &slowHistory{reach: tick.Tick(ticks), poses: map[tick.Tick][]rig.Pose{}}
}

func (h *slowHistory) Record(t tick.Tick, poses []rig.Pose) {
	h.newest = t
	h.poses[t] = append([]rig.Pose{}, poses...)
	for old := range h.poses {
		if old+h.reach < t {
			delete(h.poses, old)
		}
	}
}

func (h *slowHistory) At(v tick.View, slot int) (rig.Pose, bool) {
	a, b := h.poses[v.From], h.poses[v.To]
	if !v.Valid() || a == nil || b == nil || slot >= len(a) || a[slot].ID == 0 {
		return rig.Pose{}, false
	}
	if slot >= len(b) {
		return a[slot], true
	}
	return rig.Lerp(&a[slot], &b[slot], v.Frac), true
}

func (h *slowHistory) Cast(sweeps []Sweep, hits []Hit) {
	for i := range sweeps {
		hits[i] = h.castOne(&sweeps[i])
	}
}

func (h *slowHistory) castOne(w *Sweep) (best Hit) {
	_, ok := NormalizeRay(w.Ray)
	switch {
	case !w.View.Valid() || h.poses[w.View.From] == nil || h.poses[w.View.To] == nil:
		return Hit{Refused: RefusedView}
	case !ok:
		return Hit{Refused: RefusedRay}
	case !(w.Radius >= 0 && w.Radius <= MaxSweepRadius):
		return Hit{Refused: RefusedRadius}
	}
	for slot := range h.poses[w.View.From] {
		p, ok := h.At(w.View, slot)
		if !ok || p.Flags&1 != 0 || p.ID == w.Except || w.Spare.Has(uint8(p.Flags>>1&3)) {
			continue
		}
		hit, ok := Test(rig.HeroBodies, w.Ray, w.Radius, &p)
		if ok && (best.ID == 0 || hit.Distance < best.Distance) {
			ray, _ := NormalizeRay(w.Ray)
			best = Hit{p.ID, slot, hit.Bone, hit.Part, Judged, hit.Distance, ray.At(hit.Distance), hit.Normal}
		}
	}
	return best
}

// crowd is a lobby that walks, dies, respawns, teleports and changes hands, somewhere in a square
// of 2*extent metres.
type crowd struct {
	rng    *rand.Rand
	extent float32
	poses  []rig.Pose
	vel    []geom.Vec3
	life   []uint8
	nextID uint32
}

func newCrowd(seed uint64, slots int, extent float32) *crowd {
	c := &crowd{rng: rand.New(rand.NewPCG(seed, 1)), extent: extent, nextID: 1}
	c.poses, c.vel, c.life = make([]rig.Pose, slots), make([]geom.Vec3, slots), make([]uint8, slots)
	for i := range slots {
		c.spawn(i)
	}
	return c
}

func (c *crowd) between(lo, hi float32) float32 { return lo + (hi-lo)*c.rng.Float32() }

func (c *crowd) place() geom.Vec3 {
	return geom.Vec3{X: c.between(-c.extent, c.extent), Y: c.between(0, 12), Z: c.between(-c.extent,
		c.extent)}
}

func (c *crowd) spawn(i int) {
	c.life[i]++
	n := c.rng.Uint64()
	c.poses[i] = rig.Pose{
		Pos: c.place(), ID: c.nextID, Flags: rig.Flags(true, uint8(c.rng.IntN(4)), c.life[i]),
		Form:  rig.Form(n & 63),
		Phase: uint16(n >> 8), Move: uint8(n >> 24), Gait: uint8(n >> 32), Bank: int8(n >> 40),
		Aim: uint8(n>>48) | 0x80, Squat: uint8(n >> 56),
	}
	c.nextID++
	c.vel[i] = geom.Vec3{X: c.between(-8, 8), Y: c.between(-2, 2), Z: c.between(-8, 8)}
}

func (c *crowd) step(dt float32) []rig.Pose {
	for i := range c.poses {
		p := &c.poses[i]
		switch dice := c.rng.IntN(400); {
		case dice == 0:
			c.spawn(i)
		case dice == 1:
			*p = rig.Pose{}
		case dice == 4 && p.ID != 0 && c.rng.IntN(20) == 0: // out of the world or on its edge
			p.Pos.X = []float32{1e5, WorldReach, -WorldReach, 8192.001}[c.rng.IntN(4)]
		case dice == 2 && p.ID != 0:
			p.Flags ^= rig.FlagDead
		case dice == 3 && p.ID != 0: // teleport
			c.life[i]++
			p.Pos, p.Flags = c.place(), rig.Flags(p.Alive(), p.Team(), c.life[i])
		}
		if p.ID == 0 {
			if c.rng.IntN(50) == 0 {
				c.spawn(i)
			}
			continue
		}
		p.Pos = p.Pos.Mad(c.vel[i], dt)
		p.Yaw += geom.Angle(c.rng.IntN(2000) - 1000)
		p.Pitch = geom.Angle(int16(c.rng.IntN(32769) - 16384))
		p.Phase += 900
		p.Move += 3
		p.Air = uint8(max(int(p.Air)-9, 0))
		if c.rng.IntN(30) == 0 {
			p.Air, p.Hips = 255, int8(c.rng.IntN(129)-64)
		}
	}
	return c.poses
}

// shot makes a shot near the edge of a decision: aimed at a player's outline in a likely view, from
// near or far, sometimes with invalid values.
func (c *crowd) shot(at func(tick.View, int) (rig.Pose, bool), oldest, newest tick.Tick) Sweep {
	v := c.view(oldest, newest)
	s := Sweep{View: v, Except: uint32(c.rng.IntN(int(c.nextID))), Spare: []Teams{1, 2, 4, 8, 0, 0}[c.rng.IntN(6)]}
	s.Ray.Origin, s.Ray.Max = c.place(), float32(math.Exp(float64(c.between(0, 9))))
	slot := c.rng.IntN(len(c.poses))
	p, ok := at(v, slot)
	if !ok {
		p.Pos = c.place()
	}
	aim := p.Pos.Add(geom.Vec3{Y: c.between(-0.2, 2)})
	if c.rng.IntN(2) == 0 { // close by
		s.Ray.Origin = aim.Add(geom.Vec3{X: c.between(-5, 5), Y: c.between(-1, 3), Z: c.between(-5, 5)})
	}
	side := aim.Sub(s.Ray.Origin).Cross(geom.Vec3{Y: 1}).Normalize()
	edge := []float32{0, 0.2, -0.2, 0.12, -0.12, 0.4, -0.4, rig.HeroBodies.Widest()}[c.rng.IntN(8)]
	aim = aim.Mad(side, edge+[]float32{0, 1e-3, -1e-3, 0.05, -0.05}[c.rng.IntN(5)])
	s.Ray.Dir = aim.Sub(s.Ray.Origin).Normalize()
	switch c.rng.IntN(200) {
	case 0:
		s.Ray.Dir = s.Ray.Dir.Scale(c.between(0, 3))
	case 1:
		s.Ray.Dir.X = float32(math.NaN())
	case 2:
		s.Ray.Max = []float32{0, -1, float32(math.NaN()), float32(math.Inf(1))}[c.rng.IntN(4)]
	case 3:
		s.Ray.Origin.Y = []float32{1e30, float32(math.Inf(-1)), 1e6}[c.rng.IntN(3)]
	case 4:
		s.Ray.Dir = geom.Vec3{Y: 1 - 2*float32(c.rng.IntN(2))}
	}
	return s
}

func (c *crowd) view(oldest, newest tick.Tick) tick.View {
	v := tick.View{From: oldest + tick.Tick(c.rng.IntN(int(newest-oldest)+1)), Frac: uint8(c.rng.IntN(256))}
	v.To = min(v.From+tick.Tick(c.rng.IntN(4)), newest)
	switch c.rng.IntN(40) {
	case 0:
		v.From, v.To = v.To, v.From
	case 1:
		v.To += tick.Tick(c.rng.IntN(300))
	case 2:
		v.From -= min(v.From, tick.Tick(c.rng.IntN(200)))
	case 3:
		v.From, v.To = newest-min(newest, MinTickReach+1), newest
	case 4:
		v.Frac = 0
	}
	return v
}
