package swarm

import (
	"github.com/tickrate/tickrate/ecs/geom"
)

// Profile is how a Bot plays. Its zero value means DefaultProfile.
type Profile struct {
	Bursts    float32 // half seconds of random fire, a second
	Throws    float32 // uses of the second weapon a second, in sight of an enemy
	Crowd     float32 // share of bots that stay in the middle of the map
	CrowdNear float32 // and within that many metres of it
}

// DefaultProfile is the profile of NewBot.
var DefaultProfile = Profile{Bursts: 0.15, Throws: 0.5}

// NewBotWithProfile returns bot n with a profile.
func NewBotWithProfile(seed uint64, n int, h Profile) *Bot {
	if h == (Profile{}) {
		h = DefaultProfile
	}
	w := newBot(seed, n)
	w.profile = h
	draw := w.rng // a copy: the draw must not change the others
	draw.next()
	w.crowds = draw.chance(h.Crowd)
	return w
}

// place draws the next goal.
func (w *Bot) place(b geom.AABB) geom.Vec3 {
	p := geom.Vec3{
		X: b.Min.X + 1 + w.rng.unit()*(b.Max.X-b.Min.X-2),
		Z: b.Min.Z + 1 + w.rng.unit()*(b.Max.Z-b.Min.Z-2),
	}
	if !w.crowds {
		return p
	}
	middle := geom.Vec3{X: (b.Min.X + b.Max.X) / 2, Z: (b.Min.Z + b.Max.Z) / 2}
	half := geom.Vec3{X: (b.Max.X - b.Min.X) / 2, Z: (b.Max.Z - b.Min.Z) / 2}
	near := geom.Vec3{X: min(w.profile.CrowdNear, half.X), Z: min(w.profile.CrowdNear, half.Z)}
	return geom.Vec3{X: middle.X + (p.X-middle.X)*near.X/half.X, Z: middle.Z + (p.Z-middle.Z)*near.Z/half.Z}
}
