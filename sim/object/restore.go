package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/move"
)

// Valid reports whether p is a projectile that Launch and the steps could have made, as far as
// anything depends on it.
func (p *Projectile) Valid() bool {
	return onWireGrid(p.Start, geom.Vec3{}) && p.dir == geom.Forward(p.Yaw, p.Pitch) &&
		p.Hit <= OutOfRange && finite(p.Point) && finite(p.Normal)
}

// Valid reports whether g is a grenade that Throw and the steps could have made.
func (g *Grenade) Valid() bool { return onWireGrid(g.Pos, g.Vel) }

// Valid reports whether c is a cube that the steps could have made.
func (c *Cube) Valid() bool { return onWireGrid(c.Pos, c.Vel) }

// Valid reports whether a blast has a finite place and an allowed strength.
func (b *Blast) Valid() bool {
	s := &b.Splash
	for _, v := range []float32{s.Radius, s.FalloffStart, s.Damage, s.MinDamage, s.Impulse, s.MinImpulse,
		s.OwnerFraction} {
		if !(v >= 0 && v <= 1<<20) {
			return false
		}
	}
	return finite(b.Center)
}

func onWireGrid(pos, vel geom.Vec3) bool {
	m := move.Round(move.Motion{Pos: pos, Vel: vel})
	return m.Pos == pos && m.Vel == vel
}

// finite reports whether a place is on any map: within 2^20 m.
func finite(p geom.Vec3) bool {
	const far = 1 << 20
	return geom.Abs(p.X) <= far && geom.Abs(p.Y) <= far && geom.Abs(p.Z) <= far
}
