package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// TestRow47HitRateIsOnesAim is row 47 of docs/features.md: twenty players with the same
// aim error shoot at one that runs to and fro, with no latency or 150 ms. Their hit rates are
// equal; without rewind the late ones would miss. A view older than the clamp limits is moved, and
// an invalid view shows the present.
func TestRow47HitRateIsOnesAim(t *testing.T) {
	const shooters, late = 20, 9
	play := func(claims, believed tick.Tick) (rate float64, clamped int) {
		s := newScene(t, shooters+1,
			Rules{Game: quick(func(g *Game) { g.Heroes[Terraformer].Health = 10000 })}, plain(t))
		hands, feet := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, 2))
		var places [shooters]geom.Vec3
		for i := range shooters {
			sin, cos := geom.Angle(i * geom.Turn / shooters).SinCos()
			places[i] = geom.Vec3{X: 25 * sin, Z: 25 * cos}
			s.put(i, 0, places[i])
		}
		s.put(shooters, 1, geom.Vec3{})
		target, shots, hits, strafe := s.ids[shooters], 0, 0, uint8(0)
		for range 60 * 90 {
			now := s.Tick()
			if now%20 == 0 {
				home := geom.Atan2(-s.pos.Get(target).X, -s.pos.Get(target).Z)
				strafe = uint8(home>>8) + uint8(feet.IntN(128)-64)
			}
			s.order(shooters, Command{MoveYaw: strafe, MoveMag: 255})
			s.Vital(target).Health = 10000
			for i := range shooters {
				s.ability.Get(s.ids[i]).Slots[0].Heat = 0
				yaw, pitch := geom.Angle(int16(hands.IntN(500)-250)), geom.Angle(int16(hands.IntN(600)-300))
				if now <= 3+late {
					continue
				}
				view := tick.View{From: now - claims - 3, To: now - claims, Frac: 100}
				seen, _ := s.History().At(view, target.Index())
				c := at(places[i], seen.Pos, chest)
				c.View, c.Yaw, c.Pitch = view, c.Yaw+yaw, c.Pitch+pitch
				s.order(i, c)
			}
			for _, id := range s.ids {
				s.SetClampLimits(id, lagcomp.ClampLimits{Rate: 60, Newest: now,
					Oldest: s.History().Oldest(), RTTTicks: float32(believed), InterpTicks: 3})
			}
			s.Step()
			clamped += s.Outcome().Clamped
			for i := range s.Outcome().Shots {
				shots++
				if s.Outcome().Hits[i].ID == uint32(target) {
					hits++
				}
			}
		}
		if shots < 10000 {
			t.Fatalf("%d shots", shots)
		}
		return float64(hits) / float64(shots), clamped
	}
	prompt, moved := play(0, 0)
	slow, movedToo := play(late, late)
	if d := slow - prompt; d < -0.01 || d > 0.01 || prompt < 0.2 || prompt > 0.8 || moved+movedToo != 0 {
		t.Errorf("%.3f of the shots hit at once, %.3f after 150 ms; %d and %d views were moved", prompt,
			slow, moved, movedToo)
	}
	unbelieved, moves := play(late, 0)
	if unbelieved > 0.7*prompt || moves < 10000 {
		t.Errorf("%.3f hit with views that the server does not believe, %d were moved", unbelieved, moves)
	}
	t.Logf("%.3f hit at once, %.3f after 150 ms, %.3f without belief", prompt, slow, unbelieved)
}

// TestRow69HistoryIsTheFigures is row 69 of docs/features.md in the match: for any input,
// the bones of the pose in the history of a tick are those of the animation state at that tick, and
// all stances occur.
func TestRow69HistoryIsTheFigures(t *testing.T) {
	game := rocketeers()
	game.Mode.RoundMillis, game.Mode.PostmatchMillis = 15000, 500
	s := newScript(t, 16, Rules{Seed: 69, RespawnMillis: 700, Mix: true, Game: game}, "arena-16")
	var stances [8]int
	var heroes [rig.Heroes]int
	for range 1500 {
		s.give()
		s.m.Begin()
		for i, system := range Systems() {
			s.m.Run(i)
			if system.Name != "record" {
				continue
			}
			for _, id := range s.ids {
				v := s.m.Vital(id)
				if v == nil {
					continue
				}
				state := s.m.anim.Get(id)
				var want rig.Pose
				v.PublicPose(&want, uint32(id), s.m.pos.Get(id), *s.m.look.Get(id), state)
				got, ok := s.m.History().Pose(s.m.Tick(), id.Index())
				var a, b rig.Body
				rig.Capsules(&got, &a)
				rig.Capsules(&want, &b)
				if !ok || got != want || a != b {
					t.Fatalf("tick %d: history has %+v, the figure is %+v", s.m.Tick(), got, want)
				}
				if got.Alive() == (got.Form.Stance() == rig.Dead) || state.Yaw != got.Yaw {
					t.Fatalf("tick %d: %+v of %+v", s.m.Tick(), got, *v)
				}
				stances[got.Form.Stance()]++
				heroes[got.Form.Hero()]++
			}
		}
		s.m.End()
	}
	for stance, n := range stances {
		if n < 20 {
			t.Errorf("%d poses of %v", n, rig.Stance(stance))
		}
	}
	if min(heroes[0], heroes[1]) < 5000 {
		t.Errorf("%v poses", heroes)
	}
}

// Ground that is near is felt in a fall, and not beyond a quarter of a second.
func TestLandingIsForeseen(t *testing.T) {
	ground := plain(t)
	for i, c := range []struct {
		high, speed float32
		want        bool
	}{{1, -8, true}, {1.9, -8, true}, {2.1, -8, false}, {0.2, -0.1, false}, {0.02, -0.1, true},
		{-0.01, -1, true}} {
		if got := landsSoon(geom.Vec3{X: 3, Y: c.high, Z: 3}, c.speed, ground, arena.Moment{}); got != c.want {
			t.Errorf("%d: %v m above the ground at %v m/s: %v", i, c.high, c.speed, got)
		}
	}
}

// Heroes get the skeleton of their size, and it is that which is shot at.
func TestFiguresFitBodies(t *testing.T) {
	robot, terraformer := move.RobotParams(), move.DefaultParams()
	giant := robot
	giant.HeightMetres = 4
	for i, c := range []struct {
		body move.Params
		want rig.Hero
	}{{robot, rig.Robot}, {terraformer, rig.Terraformer}, {giant, rig.Robot}} {
		if got := skeletonFor(&c.body); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
	for hero := range uint8(2) {
		m := New(1, Rules{Game: quick(nil)}, plain(t))
		id := m.JoinAsHero(hero)
		m.Step()
		m.Step()
		if p := m.Poses()[id.Index()]; p.Form.Hero() != []rig.Hero{rig.Terraformer, rig.Robot}[hero] {
			t.Errorf("hero %d is %v", hero, p.Form.Hero())
		}
	}
}
