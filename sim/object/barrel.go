package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// BarrelKind is the numbers of barrels. The shape is an upright capsule.
type BarrelKind struct {
	Health         int16
	Radius, Height float32 // metres; Height at least twice Radius
	Splash         Splash
}

// DefaultBarrel has FPSSample's health and splash, and the shape of a 200-litre drum.
func DefaultBarrel() BarrelKind {
	return BarrelKind{
		Health: 10, Radius: 0.3, Height: 0.9,
		Splash: Splash{Radius: 7, FalloffStart: 5, Damage: 90, MinDamage: 80, Impulse: 20, MinImpulse: 10,
			OwnerFraction: 1},
	}
}

// Barrel is a barrel. It does not move.
type Barrel struct {
	Pos    geom.Vec3 // its foot
	ID     netid.ID
	Health int16     // 0: broken
	Broken tick.Tick // tick, 0 while whole
}

// NewBarrel is a whole barrel.
func (k *BarrelKind) NewBarrel(id netid.ID, pos geom.Vec3) Barrel {
	return Barrel{Pos: onGrid(pos), ID: id, Health: k.Health}
}

func (b *Barrel) middle(k *BarrelKind) geom.Vec3 {
	return geom.Vec3{X: b.Pos.X, Y: b.Pos.Y + float32(k.Height*0.5), Z: b.Pos.Z}
}

// capsule is the barrel's shape, grown.
func (b *Barrel) capsule(k *BarrelKind, grow float32) geom.Capsule {
	c := geom.Capsule{A: b.Pos, B: b.Pos, Radius: k.Radius + grow}
	c.A.Y += k.Radius
	c.B.Y += max(k.Radius, k.Height-k.Radius)
	return c
}

func (b *Barrel) touched(k *BarrelKind, p geom.Vec3, radius float32) bool {
	c := b.capsule(k, radius)
	d := p.Sub(geom.Vec3{X: b.Pos.X, Y: min(max(p.Y, c.A.Y), c.B.Y), Z: b.Pos.Z})
	return d.LenSq() <= float32(c.Radius*c.Radius)
}

// SweepBarrels returns the row of the whole barrel that a sphere flying along a ray touches first,
// and after how many metres; the first row of two equally near. Radius 0 is a ray.
func (s *Scene) SweepBarrels(r geom.Ray, radius float32) (row int, t float32, ok bool) {
	if n := len(s.barrelGrid.rows); n > 0 && n == len(s.Barrels) && !s.barrelGrid.mayHold(&r,
		s.BarrelKind.Radius+radius) {
		return 0, 0, false
	}
	if strip, narrow := s.gridStrip(r, s.BarrelKind.Radius+radius); narrow {
		return s.sweepBarrelGrid(r, radius, &strip)
	}
	end := r.At(r.Max)
	grow := s.BarrelKind.Radius + radius
	x0, x1 := min(r.Origin.X, end.X)-grow, max(r.Origin.X, end.X)+grow
	z0, z1 := min(r.Origin.Z, end.Z)-grow, max(r.Origin.Z, end.Z)+grow
	for i := range s.Barrels {
		b := &s.Barrels[i]
		// One branch: four in turn would be predicted wrong time and again.
		if geom.Bit(b.Pos.X < x0)|geom.Bit(b.Pos.X > x1)|geom.Bit(b.Pos.Z < z0)|geom.Bit(b.Pos.Z > z1) != 0 ||
			b.Health <= 0 {
			continue
		}
		if d, hit := r.Capsule(b.capsule(&s.BarrelKind, radius)); hit && d <= r.Max && (!ok || d < t) {
			row, t, ok = i, d, true
		}
	}
	return row, t, ok
}

// sweepBarrelGrid is SweepBarrels for the barrels of the squares of a strip.
func (s *Scene) sweepBarrelGrid(r geom.Ray, radius float32, strip *geom.Strip) (row int, t float32, ok bool) {
	y := &s.barrelGrid
	for z := strip.Z0; z <= strip.Z1; z++ {
		x0, x1 := strip.Row(z)
		for x := x0; x <= x1; x++ {
			c := gridCell(x, z)
			for _, i := range y.rows[y.start[c]:y.start[c+1]] {
				b := &s.Barrels[i]
				if b.Health <= 0 {
					continue
				}
				d, hit := r.Capsule(b.capsule(&s.BarrelKind, radius))
				if hit && d <= r.Max && (!ok || d < t || d == t && int(i) < row) {
					row, t, ok = int(i), d, true
				}
			}
		}
	}
	return row, t, ok
}

// barrel is the row of an id, -1 if none.
func (s *Scene) barrel(id netid.ID) int {
	for i := range s.Barrels {
		if s.Barrels[i].ID == id {
			return i
		}
	}
	return -1
}

func (s *Scene) breakBarrel(b *Barrel, by netid.ID) {
	b.Health, b.Broken = 0, s.Now
	s.Blasts.Add(Blast{
		Center: b.middle(&s.BarrelKind), Splash: s.BarrelKind.Splash, Instigator: by, Team: lagcomp.NoTeam,
		Source: b.ID, Queued: s.Now,
	})
}
