package sim

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// events counts those of a tick by kind and cause, and sums what hits took.
func (s *scene) events() (n map[EventKind]map[object.Cause]int, points int) {
	n = map[EventKind]map[object.Cause]int{EventHit: {}, EventKill: {}}
	for _, e := range s.Outcome().Events {
		n[e.Kind][e.Cause]++
		if e.Kind == EventHit {
			points += int(e.Amount)
		}
	}
	return n, points
}

// as makes player i a hero where it stands.
func (s *scene) as(i int, hero uint8) {
	s.Vital(s.ids[i]).Hero = hero
	*s.ability.Get(s.ids[i]) = s.Game().Hero(hero).NewState()
}

// A rivet needs its time to the enemy, takes 12 points and throws it; its row lingers a second and
// is gone.
func TestRow53Rivet(t *testing.T) {
	s := newScene(t, 2, Rules{}, plain(t))
	s.as(0, Robot)
	a, b := geom.Vec3{}, geom.Vec3{Z: 20}
	s.put(0, 0, a)
	s.put(1, 1, b)
	s.step()
	aim := at(a, b, chest)
	aim.Pitch = 0
	s.order(0, aim)
	s.step()
	fired := s.Tick()
	if n := len(s.Objects().Projectiles); n != 1 {
		t.Fatalf("%d projectiles", n)
	}
	id := s.Objects().Projectiles[0].ID
	for len(s.Outcome().Events) == 0 && s.Tick() < fired+60 {
		s.step()
	}
	flown := s.Tick() - fired // 20 m less the radii, at 80 m/s, one or two ticks late
	want := Event{EventHit, 0, object.CauseProjectile, s.Tick(), s.ids[0], s.ids[1], 12}
	if e := s.Outcome().Events; len(e) != 1 || e[0] != want || flown < 14 || flown > 17 {
		t.Errorf("after %d ticks %+v, want %+v", flown, e, want)
	}
	motion, _, v := s.Self(s.ids[1])
	if v.Pushes != 1 || motion.Vel.Z < 6.5 || v.Health != 88 {
		t.Errorf("the hit one: %+v %+v", v, motion)
	}
	for range 59 {
		s.step()
	}
	if p := s.Objects().Projectiles; len(p) != 1 || p[0].ID != id || p[0].Hit != object.HitBody ||
		p[0].Victim != s.ids[1] {
		t.Fatalf("it does not linger: %+v", p)
	}
	if s.step(); len(s.Objects().Projectiles) != 0 {
		t.Error("it is still there")
	}
}

// A grenade explodes between enemies: the enemy takes all, its thrower a fifth, a friend nothing,
// and all but the friend are thrown.
func TestRow53Grenade(t *testing.T) {
	s := newScene(t, 3, Rules{}, plain(t))
	s.as(0, Robot)
	s.put(0, 0, geom.Vec3{})
	s.put(1, 1, geom.Vec3{Z: 1.9})
	s.put(2, 0, geom.Vec3{X: 1})
	s.step()
	s.order(0, Command{Buttons: Throw})
	s.step()
	if len(s.Objects().Grenades) != 1 {
		t.Fatalf("%d grenades", len(s.Objects().Grenades))
	}
	for len(s.Outcome().Events) == 0 && s.Tick() < 60 {
		s.step()
	}
	n, points := s.events()
	a, b, c := s.Vital(s.ids[0]), s.Vital(s.ids[1]), s.Vital(s.ids[2])
	if n[EventHit][object.CauseBlast] != 2 || points != 48 || a.Health != 92 || b.Health != 60 ||
		c.Health != 100 || a.Pushes != 1 || b.Pushes != 1 || c.Pushes != 0 {
		t.Errorf("%v, %d points; thrower %+v, enemy %+v, friend %+v", n, points, *a, *b, *c)
	}
}

// A punch lands a tenth of a second after the key, though that was let go, and kills friends too,
// which brings no point.
func TestRow53MeleeHitsFriends(t *testing.T) {
	s := newScene(t, 2, Rules{}, plain(t))
	s.put(0, 0, geom.Vec3{})
	s.put(1, 0, geom.Vec3{Z: 2})
	s.step()
	s.order(0, Command{Buttons: Melee})
	s.step()
	began := s.Tick()
	for len(s.Outcome().Events) == 0 && s.Tick() < began+60 {
		s.order(0, Command{View: tick.View{From: s.Tick(), To: s.Tick()}})
		s.step()
	}
	n, _ := s.events()
	if s.Tick() != began+6 || n[EventKill][object.CauseMelee] != 1 || s.Vital(s.ids[1]).Alive() ||
		s.Vital(s.ids[0]).Kills != 0 || s.Mode().Score != [2]int32{} {
		t.Errorf("after %d ticks %v; %+v, score %v", s.Tick()-began, n, *s.Vital(s.ids[0]), s.Mode().Score)
	}
}

// A shot breaks a barrel, which breaks the next a tick later, which kills the player beside it: the
// kill is the shooter's.
func TestRow55BarrelsChain(t *testing.T) {
	g := quick(func(g *Game) {
		rifle(g).Damage = 10
		g.Layout.Barrels = []geom.Vec3{{Z: 10}, {Z: 16}}
	})
	s := newScene(t, 2, Rules{Game: g}, plain(t))
	s.put(0, 0, geom.Vec3{})
	s.put(1, 1, geom.Vec3{Z: 21})
	s.step()
	s.Vital(s.ids[1]).Health = 50
	s.order(0, Command{Buttons: Fire, Pitch: geom.Degrees(-5)})
	s.step()
	fired := s.Tick()
	for len(s.Outcome().Events) == 0 && s.Tick() < fired+10 {
		s.step()
	}
	n, _ := s.events()
	if s.Tick() != fired+2 || n[EventKill][object.CauseBlast] != 1 || s.Vital(s.ids[0]).Kills != 1 ||
		s.Vital(s.ids[1]).Alive() ||
		s.Scene().Barrels[0].Broken != fired || s.Scene().Barrels[1].Broken != fired+1 {
		t.Errorf("%d ticks after the shot %v; barrels %+v; shooter %+v", s.Tick()-fired, n,
			s.Scene().Barrels, *s.Vital(s.ids[0]))
	}
}

// A player that steps into a teleporter stands at its target from the next tick on, in another
// life, at the same speed.
func TestRow55Teleporter(t *testing.T) {
	g := quick(func(g *Game) {
		g.Layout.Teleporters = []object.Teleporter{{Box: box(-1, 5, 1, 7), Target: geom.Vec3{X: 30, Z: 30},
			Yaw: 0x4000}}
	})
	s := newScene(t, 1, Rules{Game: g}, plain(t))
	s.put(0, 0, geom.Vec3{})
	for n := range 120 {
		before, _, was := s.Self(s.ids[0])
		s.order(0, Command{MoveMag: 255})
		s.step()
		now, _, v := s.Self(s.ids[0])
		if now.Pos.X < 20 {
			if v.Life != 0 {
				t.Fatalf("tick %d: %+v", n, v)
			}
			continue
		}
		if before.Pos.Z < 5 || v.Life != was.Life+1 || v.Pushes != was.Pushes+1 || now.Pos.X < 30 ||
			now.Pos.X > 30.2 || s.Poses()[0].Flags>>8 != uint16(v.Life) {
			t.Errorf("from %+v to %+v, %+v", before, now, v)
		}
		return
	}
	t.Error("it never jumped")
}

// A burning place takes 25 points three times a second, and a death in it has no killer.
func TestRow50DamageArea(t *testing.T) {
	g := quick(func(g *Game) {
		g.Layout.Areas = []DamageArea{{box(-2, -2, 2, 2), object.AreaKind{Points: 25, PerSecond: 3}}}
	})
	s := newScene(t, 1, Rules{Game: g}, plain(t))
	s.put(0, 0, geom.Vec3{})
	var hits []tick.Tick
	for s.Vital(s.ids[0]).Alive() && s.Tick() < 200 {
		s.step()
		for _, e := range s.Outcome().Events {
			if e.Kind == EventHit {
				hits = append(hits, s.Tick())
			}
		}
	}
	e := s.Outcome().Events
	v := s.Vital(s.ids[0])
	if len(hits) != 4 || hits[3]-hits[0] != 60 || len(e) != 2 ||
		e[1] != (Event{EventKill, 0, object.CauseArea, s.Tick(), 0, s.ids[0], 0}) || v.Deaths != 1 ||
		v.Kills != 0 {
		t.Errorf("hits in %v, then %+v; %+v", hits, e, *v)
	}
	if a := s.Outcome().Announcements; len(a) != 1 || a[0].Kind != mode.PlayerDied {
		t.Errorf("announced %+v", a)
	}
}

// TestRow54HeroInBaseOnly: a player becomes another hero at home at once, elsewhere when it spawns
// next; one that there is not it never becomes.
func TestRow54HeroInBaseOnly(t *testing.T) {
	g := quick(func(g *Game) {
		g.Layout.Homes = []Home{{0, box(-10, -10, 10, 10)}, {1, box(20, -10, 40, 10)}}
		rifle(g).Damage = 100
	})
	for i, c := range []struct {
		at   geom.Vec3
		now  bool
		team uint8
	}{{geom.Vec3{}, true, 0}, {geom.Vec3{X: 30}, false, 0}, {geom.Vec3{X: 30}, true, 1},
		{geom.Vec3{X: 15}, false, 0}} {
		s := newScene(t, 2, Rules{Game: g, RespawnMillis: 500}, plain(t))
		s.put(0, c.team, c.at)
		s.put(1, 1-c.team, c.at.Add(geom.Vec3{Z: 5}))
		s.step()
		if s.RequestHero(s.ids[0], 2) || s.RequestHero(netid.Make(9, 1), 0) ||
			!s.RequestHero(s.ids[0], Robot) {
			t.Fatalf("%d: asking", i)
		}
		s.Vital(s.ids[0]).Health = 7
		s.step()
		v := s.Vital(s.ids[0])
		if now := v.Hero == Robot; now != c.now || now != (v.Health == 100) || now != (v.Life == 1) ||
			now != (s.ability.Get(s.ids[0]).Slots[0].Load == 80) {
			t.Errorf("%d: at %v of team %d: %+v", i, c.at, c.team, *v)
		}
		s.order(1, Command{Buttons: Fire, Yaw: 0x8000})
		s.step()
		for range 40 {
			s.step()
		}
		v = s.Vital(s.ids[0])
		if self, _, _ := s.Self(s.ids[0]); v.Deaths != 1 || !v.Alive() || v.Hero != Robot ||
			s.Game().Body(v.Hero).Eye(self.Pos).Y-self.Pos.Y != 1.9 {
			t.Errorf("%d: after its death %+v", i, *v)
		}
	}
}

// A spectator has no body, belongs to no team, counts for nothing, and leaves without a trace.
func TestRow70Spectator(t *testing.T) {
	s := newScene(t, 2, Rules{}, plain(t))
	s.Leave(s.ids[1])
	s.ids = s.ids[:1]
	s.step()
	watcher := s.JoinSpectator()
	s.step()
	s.CommandBuffer(watcher).Offer(Command{Tick: s.Tick() + 1, MoveMag: 255, Buttons: Fire | Throw,
		View: tick.View{From: 1, To: 1}})
	for range 700 {
		s.step()
	}
	v := s.Vital(watcher)
	if v == nil || v.Alive() || !s.Spectates(watcher) || s.Poses()[watcher.Index()].ID != 0 ||
		s.Score().Members != [2]uint16{1, 0} || len(s.Outcome().Shots) != 0 || v.Team != 255 {
		t.Errorf("%+v, %+v, members %v", v, s.Poses()[watcher.Index()], s.Score().Members)
	}
	s.Leave(watcher)
	s.step()
	if s.Score().Members != [2]uint16{1, 0} || s.World.Len() != 1 {
		t.Errorf("members %v, %d rows", s.Score().Members, s.World.Len())
	}
}

// When time is up all players die and none respawns; then points are reset, barrels whole, and all
// players spawn at once.
func TestRow56RoundEnds(t *testing.T) {
	g := quick(func(g *Game) {
		g.Mode.RoundMillis, g.Mode.PostmatchMillis = 1000, 500
		g.Layout.Barrels = []geom.Vec3{{Z: 5}}
		rifle(g).Damage = 100
	})
	s := newScene(t, 3, Rules{Game: g, RespawnMillis: 400}, plain(t))
	s.Leave(s.ids[2]) // makes room for a newcomer
	s.ids = s.ids[:2]
	s.put(0, 0, geom.Vec3{})
	s.put(1, 1, geom.Vec3{X: 8})
	s.step()
	s.order(0, at(geom.Vec3{}, geom.Vec3{X: 8}, chest))
	s.step()
	s.order(0, Command{Buttons: Fire, Pitch: geom.Degrees(-8)})
	for range 70 {
		if s.step(); s.Mode().Phase == mode.Ended {
			break
		}
		s.order(0, Command{Buttons: Fire, Pitch: geom.Degrees(-8)})
	}
	if m := s.Mode(); m.Phase != mode.Ended || m.Winner != 0 || s.Vital(s.ids[0]).Alive() ||
		s.Vital(s.ids[1]).Alive() || s.Vital(s.ids[0]).Kills != 1 || s.Scene().Barrels[0].Health != 0 {
		t.Fatalf("%+v, %+v, %+v, %+v", *m, *s.Vital(s.ids[0]), *s.Vital(s.ids[1]), s.Scene().Barrels)
	}
	ended := s.Tick()
	joined := s.Join()
	for s.Mode().Phase == mode.Ended {
		s.step()
		if s.Vital(s.ids[0]).Alive() || s.Vital(joined).Alive() {
			t.Fatalf("tick %d: somebody lives", s.Tick())
		}
	}
	if n := s.Tick() - ended; n != 30 {
		t.Errorf("it took %d ticks", n)
	}
	s.step()
	for _, id := range append(s.ids, joined) {
		if v := s.Vital(id); !v.Alive() || v.Kills != 0 || v.Deaths != 0 {
			t.Errorf("%v in the next round: %+v", id, *v)
		}
	}
	if m := s.Mode(); m.Round != 1 || m.Score != [2]int32{} || s.Scene().Barrels[0].Health != 10 {
		t.Errorf("%+v, %+v", *m, s.Scene().Barrels)
	}
}

// The built-in pack is the default game, hero by hero and id by id; what a pack has
// not is said.
func TestGameOfPack(t *testing.T) {
	p := content.Default()
	g, err := GameFromPack(p, "", "deathmatch")
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultGame()
	if g.Heroes[Terraformer].Name != "terraformer" || g.Heroes[Robot].Name != "robot" {
		t.Errorf("heroes %q, %q", g.Heroes[0].Name, g.Heroes[1].Name)
	}
	want.RewindMillis, want.Pack, want.Effects = g.RewindMillis, p.Shared(), p.EffectTable()
	want.Items = []object.ItemKind{{Heal: 50, Radius: 1, RespawnMillis: 20000},
		{Gives: object.GivesAmmo, Radius: 1, RespawnMillis: 15000}}
	for i := range g.Heroes { // the pack knows every ability of a hero's by name only
		a, b := g.Heroes[i], want.Heroes[i]
		ka, errA := a.Compile(60)
		kb, errB := b.Compile(60)
		if errA != nil || errB != nil || a.Body != b.Body || a.Health != b.Health || a.Name != b.Name ||
			ka.NewState() != kb.NewState() {
			t.Errorf("hero %d: %+v, want %+v", i, a, b)
		}
	}
	g.Heroes, want.Heroes = nil, nil
	if !reflect.DeepEqual(g, want) {
		t.Errorf("%+v\nwant\n%+v", g, want)
	}
	for _, c := range [][3]string{{"nowhere", "deathmatch", "no map"}, {"", "chess", "no mode"}} {
		if _, err := GameFromPack(p, c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%v: %v", c, err)
		}
	}
	for i := range p.Maps {
		for _, m := range p.Maps[i].Modes {
			g, err := GameFromPack(p, p.Maps[i].Name, m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (Rules{Game: g}).Compile(); err != nil {
				t.Errorf("%s on %s: %v", m, p.Maps[i].Name, err)
			}
		}
	}
}

// Name cannot be played is refused, and said why.
func TestRulesThatCannotBe(t *testing.T) {
	for i, c := range []struct {
		change func(*Game)
		want   string
	}{
		{func(g *Game) { g.Heroes = nil }, "0 heroes"},
		{func(g *Game) { g.Heroes[0].Health = 0 }, "Health: 0"},
		{func(g *Game) { g.Heroes[1].Body.RadiusMetres = 9 }, "hero robot: body: RadiusMetres"},
		{func(g *Game) { g.Projectiles = g.Projectiles[:1] }, "projectile 3 of 1"},
		{func(g *Game) { g.Grenade.LifeMillis = 0 }, "throws grenades"},
		{func(g *Game) { g.Projectiles[0].Radius = 11 }, "projectile Rivet: radius 11"},
		{func(g *Game) { g.HeadScale = 0 }, "0 times"},
		{func(g *Game) { g.Mode.RoundMillis = 1 }, "RoundMillis"},
		{func(g *Game) { g.Mode, g.Layout.Points = mode.DefaultAssault(), make([]object.Zone, 2) },
			"2 capture points: expected 3"},
	} {
		g := DefaultGame()
		c.change(g)
		if _, err := (Rules{Game: g}).Compile(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

// A player that asks for heroes many times in a tick takes one entry of a recording: the last.
func TestHeroRequestsTakeOneEntry(t *testing.T) {
	s := newScene(t, 1, Rules{Game: quick(func(*Game) {})}, plain(t))
	var d TickInputs
	s.SetInputLog(&d)
	for n := range 1000 {
		s.RequestHero(s.ids[0], uint8(n)&1*Robot)
	}
	if len(d.Changes) != 1 || d.Changes[0] != (Change{ChangeHero, s.ids[0], Robot}) {
		t.Errorf("%d changes: %v", len(d.Changes), d.Changes[:min(len(d.Changes), 4)])
	}
}
