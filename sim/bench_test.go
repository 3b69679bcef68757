package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/object"
)

// war is a match in which all players run, jump and look about, 15 of 100 fire, and no player dies,
// so that all ticks cost the same. Robots hold their fire while there is a projectile in flight for
// every fifth player: flights last longer on a larger map, and the work per player must not depend
// on that.
type war struct {
	m    *Match
	ids  []netid.ID
	cmds []Command

	robot []bool
	all   bool // fire
}

func newWar(t testing.TB, players int, mix bool) *war { return newSharedWar(t, players, mix, nil) }

// newSharedWar is newWar with a runner of systems.
func newSharedWar(t testing.TB, players int, mix bool, r parallel.Runner) *war {
	g := DefaultGame()
	for i := range g.Heroes {
		g.Heroes[i].Health = 10000
	}
	for i := range players / 20 {
		g.Layout.Barrels = append(g.Layout.Barrels, geom.Vec3{X: float32(i), Z: float32(i % 7)})
	}
	w := &war{m: New(players, Rules{Seed: 1, Game: g}, arena.Generate(players, 1)),
		cmds: make([]Command, players)}
	for i := range players {
		hero := uint8(Terraformer)
		if mix && i%2 == 0 {
			hero = Robot
		}
		w.ids = append(w.ids, w.m.JoinAsHero(hero))
		w.robot = append(w.robot, hero == Robot)
	}
	w.m.SetWorkers(r)
	for range 240 {
		w.tick(nil)
	}
	return w
}

// tick plays a tick; each, if not nil, is called around the systems.
func (w *war) tick(each func(i int)) {
	now := w.m.Tick()
	full := 5*w.live() >= len(w.ids)
	for i, id := range w.ids {
		r := draw(1, uint64(now/30), uint64(i))
		if 4*i == 3*len(w.ids) { // as a lobby does while it tells of connections
			w.m.Wake()
		}
		c := &w.cmds[i]
		c.Tick, c.View = now+1, tick.View{}
		c.Yaw += geom.Angle(r >> 54)
		c.Pitch, c.MoveYaw, c.MoveMag = geom.Angle(r>>16&0x3ff)-0x200, uint8(r>>32), 255
		c.Buttons = Buttons(r>>48)&Sprint | Jump*Buttons(r>>50&r>>51&1)
		if w.all || (uint64(i)*7+uint64(now/30))%100 < 15 {
			if c.Buttons = Fire; full && w.robot[i] {
				c.Buttons = 0
			}
			if r>>40&7 == 0 {
				c.Buttons = Throw
			}
			if now > 8 {
				c.View = tick.View{From: now - 6, To: now - 3, Frac: uint8(r)}
			}
		}
		w.m.SetClampLimits(id, lagcomp.ClampLimits{Rate: 60, RTTTicks: 3, InterpTicks: 6, Newest: now,
			Oldest: w.m.History().Oldest()})
		w.m.CommandBuffer(id).Offer(*c)
	}
	w.m.Begin()
	for i := range systems {
		if each != nil {
			each(i)
		}
		w.m.Run(i)
	}
	if each != nil {
		each(len(systems))
	}
	w.m.End()
}

func (w *war) live() (n int) {
	for i := range w.m.Objects().Projectiles {
		if w.m.Objects().Projectiles[i].Hit == object.Flying {
			n++
		}
	}
	return n
}

// BenchmarkTick is a whole tick of a firefight with both heroes, by player, and the part of each
// system that takes more than a twentieth of it.
func BenchmarkTick(b *testing.B) {
	for _, players := range []int{32, 1000} {
		for _, mix := range []bool{true} {
			b.Run(fmt.Sprintf("players=%d/mix=%v", players, mix), func(b *testing.B) {
				w := newWar(b, players, mix)
				sums := make([]time.Duration, len(systems)+1)
				live, shots := 0, 0
				b.ReportAllocs()
				last := time.Duration(0)
				for b.Loop() {
					w.tick(func(i int) {
						now := b.Elapsed()
						if i > 0 {
							sums[i-1] += now - last
						}
						last = now
					})
					live += w.live()
					shots += len(w.m.Outcome().Shots) + len(w.m.Outcome().Punches)
				}
				total := time.Duration(0)
				for i := range systems {
					total += sums[i]
				}
				for i := range systems {
					if took := float64(sums[i]); took > float64(total)/20 {
						b.ReportMetric(took/float64(b.N*players), systems[i].Name+"-ns/player")
					}
				}
				b.ReportMetric(float64(total)/float64(b.N*players), "ns/player")
				b.ReportMetric(float64(live)/float64(b.N), "projectiles/tick")
				b.ReportMetric(float64(shots)/float64(b.N), "shots/tick")
			})
		}
	}
}
