package swarm

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Bots of a crowd stay near the middle, the others spread over the map, and profiles of other bots
// change no bot's draws.
func TestProfile(t *testing.T) {
	field := geom.AABB{Min: geom.Vec3{X: -50, Y: -4, Z: -30}, Max: geom.Vec3{X: 50, Y: 20, Z: 30}}
	inside := func(h Profile, n int) (all int) {
		w := NewBotWithProfile(3, n, h)
		for range 200 {
			if p := w.place(field); geom.Abs(p.X) <= 5.01 && geom.Abs(p.Z) <= 5.01 {
				all++
			}
		}
		return all
	}
	crowd, half := Profile{Crowd: 1, CrowdNear: 5}, Profile{Crowd: 0.5, CrowdNear: 5}
	members := 0
	for n := range 100 {
		if got := inside(crowd, n); got != 200 {
			t.Fatalf("bot %d of a crowd: %d of 200 places inside", n, got)
		}
		if got := inside(DefaultProfile, n); got > 20 {
			t.Fatalf("bot %d: %d of 200 places in the middle", n, got)
		}
		if inside(half, n) == 200 {
			members++
		}
	}
	if members < 30 || members > 70 {
		t.Errorf("half of them crowd, and that is %d of 100", members)
	}
	if *NewBot(3, 7) != *NewBotWithProfile(3, 7, Profile{}) {
		t.Error("no habit is not the default one")
	}
}
