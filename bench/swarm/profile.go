package swarm

import (
	"github.com/tickrate/tickrate/ecs/geom"
)

// Profile is how wildly the generated players play. Its zero value means those of DefaultProfile.
type Profile struct {
	Bursts    float32 // of half a second at nobody in particular, a second
	Throws    float32 // uses of the second weapon a second, in sight of an enemy
	Crowd     float32 // share of players who stay in the middle of the map
	CrowdNear float32 // and within so many metres of it
}

// DefaultProfile is what NewBot plays by.
var DefaultProfile = Profile{Bursts: 0.15, Throws: 0.5}

// NewBotWithProfile returns the brain of bot number n, with habits of its own.
func NewBotWithProfile(seed uint64, n int, h Profile) *Bot {
	if h == (Profile{}) {
		h = DefaultProfile
	}
	w := newBot(seed, n)
	w.habit = h
	lot := w.dice // of its own: who crowds must not change what else is drawn
	lot.next()
	w.crowds = lot.chance(h.Crowd)
	return w
}

// place draws where to go next.
func (w *Bot) place(b geom.AABB) geom.Vec3 {
	p := geom.Vec3{
		X: b.Min.X + 1 + w.dice.unit()*(b.Max.X-b.Min.X-2),
		Z: b.Min.Z + 1 + w.dice.unit()*(b.Max.Z-b.Min.Z-2),
	}
	if !w.crowds {
		return p
	}
	middle, half := geom.Vec3{X: (b.Min.X + b.Max.X) / 2, Z: (b.Min.Z + b.Max.Z) / 2}, geom.Vec3{X: (b.Max.X - b.Min.X) / 2, Z: (b.Max.Z - b.Min.Z) / 2}
	near := geom.Vec3{X: min(w.habit.CrowdNear, half.X), Z: min(w.habit.CrowdNear, half.Z)}
	return geom.Vec3{X: middle.X + (p.X-middle.X)*near.X/half.X, Z: middle.Z + (p.Z-middle.Z)*near.Z/half.Z}
}
