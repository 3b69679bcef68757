package sim

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/move"
)

// Weapon is the state of a player's rifle. It is integers throughout, so that it predicts and packs exactly.
type Weapon struct {
	Ammo      uint8 // rounds in the clip
	Reloading bool
	// Cool is the time to the next shot, or to the end of the reload, in units of 1/RoundsPerSec of a tick (shooting)
	// or ticks (reloading); <= 0 means ready. Its remainder carries over, so 14 rounds a second at 60 Hz are exactly that.
	Cool int32
	Cone int32 // half angle of the cone, 1/256 degree
}

// Step advances the rifle by tick t under the keys held and reports whether a round leaves it, and the half angle of
// the cone it leaves in, in 1/256 degree.
func (w *Weapon) Step(t tick.Tick, keys Buttons, r *Rules) (fired bool, cone int32) {
	w.Cone = max(0, w.Cone-r.narrows(t))
	if w.Reloading {
		if w.Cool--; w.Cool > 0 {
			return false, 0
		}
		w.Reloading, w.Cool, w.Ammo = false, 0, r.Clip
	} else if w.Cool > 0 {
		w.Cool -= r.RoundsPerSec
	}
	switch {
	case w.Ammo == 0, keys&Reload != 0 && w.Ammo < r.Clip:
		w.Reloading, w.Cool = true, int32(r.ticks(r.ReloadMillis))
		return false, 0
	case keys&Fire == 0:
		w.Cool = max(w.Cool, 0)
		return false, 0
	case w.Cool > 0:
		return false, 0
	}
	cone = w.Cone
	w.Ammo--
	w.Cool += int32(r.Rate)
	w.Cone = min(int32(r.ConeMaxDegrees*256), w.Cone+int32(r.ConePerShot*256))
	return true, cone
}

// fresh is a rifle as a player spawns with it.
func fresh(r *Rules) Weapon { return Weapon{Ammo: r.Clip} }

// narrows is what the cone loses in tick t, in 1/256 degree: whole units whose sum over a second is exact.
func (r *Rules) narrows(t tick.Tick) int32 {
	perSecond, rate := uint64(r.ConePerSecond*256), uint64(r.Rate)
	return int32(uint64(t)*perSecond/rate - uint64(t-1)*perSecond/rate)
}

// Aim returns the direction of the round that player id fires in tick t: within the cone around its view, evenly over
// the disc. It depends on nothing else, so clients that know the seed compute the same.
func Aim(seed uint64, id uint32, t tick.Tick, yaw, pitch geom.Angle, cone int32) geom.Vec3 {
	ahead := geom.Forward(yaw, pitch)
	if cone <= 0 {
		return ahead
	}
	bits := draw(seed, uint64(t), uint64(id))
	unit := float64(bits>>40) / (1 << 24) // [0, 1)
	out := geom.Angle(int32(math.Sqrt(unit) * float64(cone) * (geom.Turn / (360.0 * 256))))
	up, right := geom.Angle(bits).SinCos() // which way out
	sin, cos := out.SinCos()
	d := ahead.Scale(cos).Mad(geom.Forward(yaw+0x4000, 0), float32(right*sin)).Mad(geom.Forward(yaw, pitch+0x4000), float32(up*sin))
	return d.Normalize()
}

// Eye returns where a player standing at pos looks from.
func Eye(pos geom.Vec3) geom.Vec3 { return geom.Vec3{X: pos.X, Y: pos.Y + move.EyeHeight, Z: pos.Z} }
