package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/impair"
)

// TestRow40DiscontinuitiesAreNotInterpolated is row 40 of docs/features.md at
// discontinuities: a player that dies, spawns or teleports is shown before or after, never between.
// Values that are not numbers (alive, team, life, hero) are those of the older snapshot. All other
// players are at the server's position, within the error of a straight line between two snapshots.
func TestRow40DiscontinuitiesAreNotInterpolated(t *testing.T) {
	for _, link := range []impair.Profile{{Delay: 25 * time.Millisecond},
		{Delay: 25 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.1}} {
		y := newObjectsTest(t, 8, link, func(c *Config) { c.Lobby.Rules.RespawnMillis = 700 })
		was := map[tick.Tick][]rig.Pose{}
		shown, edges, far, worst := 0, 0, 0, float32(0)
		y.run(40*time.Second, func() {
			m := y.Lobby.Match()
			was[m.Tick()] = append([]rig.Pose(nil), m.Poses()...)
			for i, c := range y.Clients {
				v := c.View()
				for slot := range m.Poses() {
					p, ok := c.Pose(slot)
					if !ok || v.From == 0 || i == slot {
						continue
					}
					shown++
					near, same := float32(1e9), false
					for at := v.From - min(v.From, 12); at <= v.To+12; at++ { // as far as rows may be lost
						for _, q := range was[at] {
							if q.ID == p.ID && q.Flags == p.Flags && q.Form.Hero() == p.Form.Hero() {
								near, same = min(near, p.Pos.Sub(q.Pos).Len()), true
							}
						}
					}
					if !same {
						t.Fatalf("client %d, view %v: %+v is a pose of no tick", i, v, p)
					}
					if a, b := was[v.From], was[v.To]; a != nil && b != nil &&
						rig.Discontinuous(&a[slot], &b[slot]) {
						edges++
						if a[slot].Pos.Sub(b[slot].Pos).Len() > 3 {
							far++
						}
					}
					worst = max(worst, near)
				}
			}
		})
		// Between two snapshots a player moves at most 1.5 m, and is shown at most half of that
		// off.
		if shown < 50000 || edges < 100 || far < 20 || worst > 0.75 {
			t.Errorf("%v: %d poses, %d across discontinuities, %d of more than 3 m, up to %.2f m off",
				link, shown, edges, far, worst)
		}
		t.Logf("%d poses, %d across discontinuities, %d of more than 3 m, up to %.2f m off",
			shown, edges, far, worst)
	}
}
