package sim

import (
	"flag"
	"math"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
)

// rates are those that tests run at.
var rates = []tick.Rate{20, 60, 128}

var update = flag.Bool("update", false, "rewrite the goldens")

// plain is flat ground without walls, and spawns for each team at its own end.
func plain(t testing.TB) *arena.Arena {
	solids := []arena.Solid{arena.NewSolid(arena.Box, geom.Vec3{X: -64, Y: -1, Z: -64},
		geom.Vec3{X: 64, Z: 64})}
	var spawns []arena.Spawn
	for i := range 8 {
		spawns = append(spawns, arena.Spawn{Pos: geom.Vec3{X: float32(4*i - 16), Z: -50}, Team: 0},
			arena.Spawn{Pos: geom.Vec3{X: float32(4*i - 16), Z: 50}, Yaw: 0x8000, Team: 1})
	}
	a, err := arena.New("plain", geom.AABB{Min: geom.Vec3{X: -64, Y: -1, Z: -64},
		Max: geom.Vec3{X: 64, Y: 32, Z: 64}}, solids, spawns)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// quick is a game whose round begins at once, with one player, and rifles without impulse; change
// may edit it.
func quick(change func(*Game)) *Game {
	g := DefaultGame()
	g.Mode.PrematchMillis, g.Mode.MinPlayers = 0, 1
	rifle(g).Impulse = 0
	if change != nil {
		change(g)
	}
	return g
}

// rifle is what the first hero shoots with.
func rifle(g *Game) *ability.GunParams { return &g.Heroes[Terraformer].Slots[0].Gun }

// deadly sets the damage of a rifle round, in points.
func deadly(points int16) *Game { return quick(func(g *Game) { rifle(g).Damage = points }) }

// scene is a match whose players stand where a test puts them.
type scene struct {
	*Match
	ids []netid.ID
}

func newScene(t testing.TB, players int, rules Rules, a *arena.Arena) *scene {
	if rules.Game == nil {
		rules.Game = quick(nil)
	}
	s := &scene{Match: New(players, rules, a)}
	for range players {
		s.ids = append(s.ids, s.Join())
	}
	s.Step()
	return s
}

// setMotion moves player i and gives it a team.
func (s *scene) put(i int, team uint8, pos geom.Vec3) {
	*s.pos.Get(s.ids[i]) = pos
	s.Vital(s.ids[i]).Team = team
}

// order offers player i's command for the coming tick.
func (s *scene) order(i int, c Command) {
	c.Tick = s.Tick() + 1
	if c.Buttons&(Fire|Throw|Melee) != 0 && c.View == (tick.View{}) {
		c.View = tick.View{From: s.Tick(), To: s.Tick()}
	}
	s.CommandBuffer(s.ids[i]).Offer(c)
}

// step plays a tick in which the server trusts every view of the newest tick.
func (s *scene) step() {
	for _, id := range s.ids {
		s.SetClampLimits(id, lagcomp.ClampLimits{Rate: s.Rules().Rate, Newest: s.Tick(),
			Oldest: s.History().Oldest(), InterpTicks: 8})
	}
	s.Step()
}

// at is a shot from pos at a player at target, y metres above its feet.
func at(pos, target geom.Vec3, y float32) Command {
	d := target.Sub(pos)
	flat := math.Hypot(float64(d.X), float64(d.Z))
	return Command{Buttons: Fire, Yaw: geom.Atan2(d.X, d.Z), Pitch: geom.Degrees(math.Atan2(float64(y)-1.65,
		flat) * 180 / math.Pi)}
}

const head, chest = 1.6, 1.0 // metres above the feet
