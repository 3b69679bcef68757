package sim

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// script plays a match by itself: every input is drawn from (seed, tick, player), in integers, so
// it is the same on every machine. Players join and leave, walk, jump, and shoot at visible
// players.
type script struct {
	m    *Match
	seed uint64
	ids  []netid.ID
}

func newScript(t testing.TB, players int, rules Rules, arenaName string) *script {
	if rules.Game == nil {
		rules.Game = furnished()
	}
	a, err := arena.Open(arenaName)
	if err != nil {
		t.Fatal(err)
	}
	if rules.Game.Mode.Kind == mode.Assault { // where one can get to
		l, there, here := &rules.Game.Layout, a.TeamSpawns(0), a.TeamSpawns(1)
		l.Points = []object.Zone{object.DefaultZone(there[len(there)/2].Pos),
			object.DefaultZone(here[len(here)/2].Pos), object.DefaultZone(here[0].Pos)}
	}
	s := &script{m: New(players, rules, a), seed: rules.Seed}
	for range players {
		s.ids = append(s.ids, s.m.Join())
	}
	return s
}

func (s *script) step() {
	s.give()
	s.m.Step()
}

// free lets people come and go, and hands the commands of the coming tick in.
func (s *script) give() {
	now := s.m.Tick()
	for i, id := range s.ids {
		r := draw(s.seed, uint64(now), uint64(i))
		if r%1024 == 0 { // a player leaves, and another joins
			s.m.Leave(id)
			s.ids[i] = 0
			continue
		}
		if id == 0 {
			s.ids[i] = s.m.Join()
			continue
		}
		if r>>10%16 == 0 { // a command is lost
			continue
		}
		s.m.SetClampLimits(id, lagcomp.ClampLimits{Rate: s.m.Rules().Rate, RTTTicks: float32(i),
			InterpTicks: 6, Newest: now, Oldest: s.m.History().Oldest()})
		s.m.CommandBuffer(id).Offer(s.command(i, r))
	}
}

// command keeps a direction for two thirds of a second, and aims at the next enemy every few ticks.
func (s *script) command(i int, r uint64) Command {
	now := s.m.Tick()
	d := draw(s.seed, uint64(now/40), uint64(i)|1<<32)
	c := Command{
		Tick: now + 1 + tick.Tick(r>>20%3), Yaw: geom.Angle(d), Pitch: geom.Angle(d >> 16 & 0x0fff),
		MoveYaw: uint8(d >> 32), MoveMag: uint8(d >> 40),
	}
	c.Buttons = Buttons(d>>48)&Sprint | Buttons((r>>24)&(r>>25)&(r>>26))&Jump
	switch r >> 44 % 256 {
	case 0, 1:
		c.Buttons, c.MoveMag = Dance, 0
		return c
	case 2, 3, 4:
		c.Buttons |= Rocket
	}
	if r>>30%8 == 0 {
		c.Buttons |= Reload & Buttons(r>>34)
	}
	if z := s.m.Objects().Zones; s.m.Rules().Game.Mode.Kind == mode.Assault && d>>44&3 != 0 &&
		int(s.m.Mode().Point) < len(z) {
		me := s.m.Poses()[s.ids[i].Index()]
		to := z[s.m.Mode().Point].Center.Sub(me.Pos)
		if me.Team() == mode.Defenders && i%4 != 0 {
			to = to.Scale(-1)
		}
		c.Yaw, c.MoveYaw, c.MoveMag = geom.Atan2(to.X, to.Z), uint8(d>>32)&31-16, 255
	}
	if r>>58 == 0 {
		s.m.RequestHero(s.ids[i], uint8(r>>50&1))
	}
	if target := s.target(i); target.ID != 0 && d>>60 < 8 {
		c.Buttons |= []Buttons{Fire, Fire, Fire | Throw, Throw, Fire | Sprint, Melee, Fire | Melee,
			Throw}[d>>57&7]
		c.Yaw, c.Pitch = aimAt(s.m.Poses()[s.ids[i].Index()].Pos, target.Pos)
		c.View = tick.View{From: now - 2, To: now, Frac: uint8(r >> 40)}
	}
	return c
}

// furnished is the game with everything on the map, within 12 m of the middle.
func furnished() *Game {
	return quick(func(g *Game) {
		rifle(g).Impulse = 7
		g.Layout = Layout{
			Homes: []Home{{0, box(-50, -50, 50, -45)}, {1, box(-50, 45, 50, 50)}},
			Points: []object.Zone{object.DefaultZone(geom.Vec3{X: 8}),
				object.DefaultZone(geom.Vec3{Z: -8}), object.DefaultZone(geom.Vec3{Z: 8})},
			Barrels: []geom.Vec3{{X: 3}, {X: 4}, {X: -6, Z: 6}}, Cubes: []geom.Vec3{{X: -3, Y: 0.5},
				{X: 1, Y: 0.5, Z: 5}, {X: -6, Y: 0.5, Z: -4}, {X: 5, Y: 0.5, Z: -6}, {Y: 0.5, Z: -3}},
			Areas: []DamageArea{{box(-10, 2, -8, 4), object.AreaKind{Points: 25, PerSecond: 3}}},
			Teleporters: []object.Teleporter{{Box: box(10, 10, 12, 12), Target: geom.Vec3{X: -12, Z: -12},
				Yaw: 0x4000}},
		}
	})
}

// assault is the mode with three points and all kinds of objects; a point is captured in the given
// number of seconds.
func assault(seconds int32) *Game {
	g := furnished()
	g.Mode = mode.DefaultAssault()
	g.Mode.PrematchMillis, g.Mode.MinPlayers, g.Mode.CaptureMillis = 1000, 1, 1000*seconds
	return g
}

// rocketeers is a deathmatch in which the first hero has a rocket jump in place of its gestures.
func rocketeers() *Game {
	g := furnished()
	h := &g.Heroes[Terraformer]
	i := slices.IndexFunc(h.Slots, func(s ability.SlotParams) bool { return s.Kind == ability.Emote })
	h.Slots[i] = ability.SlotParams{Name: "rocket jump", Kind: ability.Rocket, Keys: ability.RocketKey,
		RunsWith: []string{"movement"},
		Rocket:   ability.RocketParams{ActiveMillis: 400, CooldownMillis: 900}}
	h.Body.Arc = move.Arc{Speed: 20, StartDegrees: 60, EndDegrees: -30, Millis: 500}
	return g
}

// box stands on the ground, 3 m high.
func box(x0, z0, x1, z1 float32) geom.AABB {
	return geom.AABB{Min: geom.Vec3{X: x0, Y: -1, Z: z0}, Max: geom.Vec3{X: x1, Y: 3, Z: z1}}
}

// line tells how a match stands.
func (s *script) line(b *strings.Builder) {
	o, m := s.m.Objects(), s.m.Mode()
	fmt.Fprintf(b,
		"tick %5d  hash %016x  round %d phase %d score %d:%d point %d  flying %2d grenades %2d blasts %d\n",
		s.m.Tick(), s.m.Hash(),
		m.Round, m.Phase, m.Score[0], m.Score[1], m.Point, len(o.Projectiles), len(o.Grenades),
		s.m.Scene().Blasts.Resolved)
}

// draw is a number that follows from its arguments.
func draw(seed, a, b uint64) uint64 {
	return ability.Draw(ability.DrawKey{Seed: seed ^ b<<40, Entity: uint32(b), Tick: tick.Tick(a)})
}

// target is the nearest living enemy.
func (s *script) target(i int) (best rig.Pose) {
	all := s.m.Poses()
	self := all[s.ids[i].Index()]
	if self.ID != uint32(s.ids[i]) {
		return best
	}
	nearest := float32(1e9)
	for _, p := range all {
		if d := p.Pos.Sub(self.Pos).LenSq(); p.ID != 0 && p.Alive() && p.Team() != self.Team() &&
			d < nearest {
			best, nearest = p, d
		}
	}
	return best
}

// aimAt looks about in ever smaller steps for the direction nearest to that of a target's chest.
func aimAt(from, to geom.Vec3) (yaw, pitch geom.Angle) {
	d := to.Sub(from).Add(geom.Vec3{Y: chest - 1.65})
	for step := geom.Angle(0x2000); step > 0; step /= 2 {
		for range 4 {
			for _, try := range [][2]geom.Angle{{yaw + step, pitch}, {yaw - step, pitch}, {yaw, pitch + step},
				{yaw, pitch - step}} {
				if geom.Forward(try[0], try[1]).Dot(d) > geom.Forward(yaw, pitch).Dot(d) {
					yaw, pitch = try[0], try[1]
				}
			}
		}
	}
	return yaw, pitch
}

// TestRow56MatchesArePinned plays five minutes of 32 players in each mode (with -short one): they
// end with the right result, twice with the same bits, which are those of every machine until the
// rules change. Rows 42 and 56.
func TestRow56MatchesArePinned(t *testing.T) {
	minutes := 5
	if testing.Short() || raceEnabled {
		minutes = 1
	}
	for name, game := range pinned {
		t.Run(name, func(t *testing.T) { playPinned(t, name, game, minutes, nil) })
	}
}

// pinned are the matches with golden hashes in testdata.
var pinned = map[string]func() *Game{"deathmatch": furnished, "assault": func() *Game { return assault(4) }}

// playPinned plays minutes of a match by step, or Step if that is nil, and holds them to testdata.
func playPinned(t *testing.T, name string, game func() *Game, minutes int, step func(*Match)) {
	g := game()
	g.Mode.RoundMillis = 70000
	s := newScript(t, 32, Rules{Seed: 1, RespawnMillis: 5000, Mix: true, Game: g}, "arena-64")
	if step == nil {
		step = (*Match).Step
	}
	var b strings.Builder
	rounds := 0
	for s.m.Tick() < tick.Tick(minutes*3600) {
		was := *s.m.Mode()
		s.give()
		step(s.m)
		if s.m.Tick()%900 == 0 {
			s.line(&b)
		}
		if is := s.m.Mode(); is.Phase == mode.Ended && was.Phase == mode.Active {
			rounds++
			s.judge(t)
			fmt.Fprintf(&b, "tick %5d  round %d won by %d  score %d:%d\n", s.m.Tick(), is.Round, is.Winner,
				is.Score[0], is.Score[1])
		}
	}
	if minutes == 5 && rounds < 3 {
		t.Errorf("%d rounds were played to their end", rounds)
	}
	golden(t, name, b.String(), minutes == 5)
}

// judge holds the result of a round that has just ended to what was seen of it.
func (s *script) judge(t *testing.T) {
	m := s.m.Mode()
	want := uint8(mode.Tie)
	switch {
	case s.m.Rules().Game.Mode.Kind == mode.Assault && m.Point == 3, m.Score[0] > m.Score[1] &&
		s.m.Rules().Game.Mode.Kind == mode.Deathmatch:
		want = 0
	case s.m.Rules().Game.Mode.Kind == mode.Assault, m.Score[1] > m.Score[0]:
		want = 1
	}
	points := int32(0)
	for _, id := range s.ids {
		if v := s.m.Vital(id); v != nil {
			points += int32(v.Kills)
			if v.Alive() {
				t.Errorf("tick %d: %v lives after the round", s.m.Tick(), id)
			}
		}
	}
	if m.Winner != want || s.m.Rules().Game.Mode.Kind == mode.Deathmatch && points > m.Score[0]+m.Score[1] {
		t.Errorf("tick %d: won by %d, want %d; players have %d points, teams %v", s.m.Tick(), m.Winner,
			want, points, m.Score)
	}
}

// golden compares a match with how it used to go; what is not whole, with the beginning of that.
func golden(t *testing.T, name, got string, whole bool) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update && whole {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if whole && string(want) != got || !strings.HasPrefix(string(want), got) {
		t.Errorf("the match went\n%s\nit used to go\n%s", got, want)
	}
}

// TestRow06MatchesDoNotInterfere: matches in one process, tick by tick in turns, go as each would
// alone; and so does one at another rate.
func TestRow06MatchesDoNotInterfere(t *testing.T) {
	open := func(i int) *script {
		return newScript(t, 8, Rules{Seed: uint64(i), Rate: rates[i%3], RespawnMillis: 500, Mix: true},
			"arena-16")
	}
	run := func(s *script, n int) (hashes []uint64) {
		for range n {
			s.step()
			hashes = append(hashes, s.m.Hash())
		}
		return hashes
	}
	const ticks = 400
	var alone, inTurns [3][]uint64
	for i := range alone {
		alone[i] = run(open(i), ticks)
	}
	three := [3]*script{open(0), open(1), open(2)}
	for range ticks {
		for i, s := range three {
			inTurns[i] = append(inTurns[i], run(s, 1)...)
		}
	}
	for i := range alone {
		if !slices.Equal(alone[i], inTurns[i]) {
			t.Errorf("match %d went another way beside the others", i)
		}
		if i > 0 && slices.Equal(alone[i], alone[0]) {
			t.Errorf("matches 0 and %d are the same", i)
		}
	}
}

// The hash sees every number that lasts: a change of any of them changes it.
func TestHashSeesEverything(t *testing.T) {
	for i, c := range []struct {
		name   string
		change func(m *Match, id netid.ID)
	}{
		{"nothing", func(*Match, netid.ID) {}},
		{"the tick", func(m *Match, _ netid.ID) { ecs.Resource[Clock](m.World).Tick++ }},
		{"points", func(m *Match, _ netid.ID) { m.Mode().Score[1]++ }},
		{"the phase's time", func(m *Match, _ netid.ID) { m.Mode().Left++ }},
		{"whose turn it is to spawn", func(m *Match, _ netid.ID) { m.Mode().Turn[0]++ }},
		{"a projectile", func(m *Match, _ netid.ID) {
			m.launch(object.Trajectory{}, tick.View{})
			m.World.Flush()
		}},
		{"a grenade", func(m *Match, _ netid.ID) {
			m.throw(object.Grenade{})
			m.World.Flush()
		}},
		{"a teleport that is due", func(m *Match, id netid.ID) {
			m.teleporting.Add(id, object.TeleportRequest{ID: id})
			m.World.Flush()
		}},
		{"a blast that waits", func(m *Match, _ netid.ID) { m.Scene().Blasts.Add(object.Blast{}) }},
		{"a barrel", func(m *Match, _ netid.ID) { m.Scene().Barrels[0].Health-- }},
		{"a cube", func(m *Match, _ netid.ID) { m.Scene().Cubes[0].Rot[0]++ }},
		{"an area", func(m *Match, _ netid.ID) { m.Objects().areaHits.Next()[0]++ }},
		{"a teleporter", func(m *Match, _ netid.ID) { m.Objects().Ports[0].Effect++ }},
		{"a zone", func(m *Match, _ netid.ID) { m.Objects().Occupied[0][1]++ }},
		{"the view of the last shot", func(m *Match, id netid.ID) { m.clampLimits.Get(id).LastInstant++ }},
		{"hero", func(m *Match, id netid.ID) { m.vital.Get(id).Hero++ }},
		{"hero asked for", func(m *Match, id netid.ID) { m.vital.Get(id).RequestedHero++ }},
		{"life", func(m *Match, id netid.ID) { m.vital.Get(id).Life++ }},
		{"pushes", func(m *Match, id netid.ID) { m.vital.Get(id).Pushes++ }},
		{"watches", func(m *Match, id netid.ID) {
			m.spectating.Add(id, Spectating{1})
			m.World.Flush()
		}},
		{"died", func(m *Match, id netid.ID) { m.vital.Get(id).Died = 9 }},
		{"members", func(m *Match, _ netid.ID) { m.Score().Members[0]++ }},
		{"position", func(m *Match, id netid.ID) { m.pos.Get(id).Z += 1. / 4096 }},
		{"velocity", func(m *Match, id netid.ID) { m.vel.Get(id).Y += 1. / 1024 }},
		{"loco", func(m *Match, id netid.ID) { m.state.Get(id).Loco++ }},
		{"jumps", func(m *Match, id netid.ID) { m.state.Get(id).Jumps++ }},
		{"since", func(m *Match, id netid.ID) { m.state.Get(id).Since++ }},
		{"held", func(m *Match, id netid.ID) { m.state.Get(id).Held++ }},
		{"yaw", func(m *Match, id netid.ID) { m.look.Get(id).Yaw++ }},
		{"pitch", func(m *Match, id netid.ID) { m.look.Get(id).Pitch++ }},
		{"health", func(m *Match, id netid.ID) { m.vital.Get(id).Health-- }},
		{"team", func(m *Match, id netid.ID) { m.vital.Get(id).Team ^= 1 }},
		{"kills of one", func(m *Match, id netid.ID) { m.vital.Get(id).Kills++ }},
		{"deaths", func(m *Match, id netid.ID) { m.vital.Get(id).Deaths++ }},
		{"respawn", func(m *Match, id netid.ID) { m.vital.Get(id).Respawn = 9 }},
		{"ammo", func(m *Match, id netid.ID) { m.ability.Get(id).Slots[0].Load-- }},
		{"active", func(m *Match, id netid.ID) { m.ability.Get(id).Active ^= 1 }},
		{"asked", func(m *Match, id netid.ID) { m.ability.Get(id).Asked ^= 1 }},
		{"cool", func(m *Match, id netid.ID) { m.ability.Get(id).Slots[7].Cool-- }},
		{"cone", func(m *Match, id netid.ID) { m.ability.Get(id).Slots[0].Heat++ }},
		{"who is there",
			func(m *Match, id netid.ID) {
				m.Leave(id)
				m.Score().Members[m.vital.Get(id).Team]++
				m.World.Flush()
			}},
	} {
		m := New(3, Rules{Game: furnished()}, plain(t))
		id := m.Join()
		m.Join()
		m.Step()
		before := m.Hash()
		c.change(m, id)
		if same := m.Hash() == before; same != (i == 0) {
			t.Errorf("%d %s: the hash is the same: %v", i, c.name, same)
		}
	}
}

// The order of the systems is part of the rules: it decides which player dies first.
func TestSystemsInOrder(t *testing.T) {
	var names []string
	for _, s := range Systems() {
		names = append(names, s.Name)
		if s.Purpose == "" || s.run == nil {
			t.Errorf("system %q does nothing, or does not say what", s.Name)
		}
	}
	want := []string{"commands", "heroes", "respawn", "teleport", "abilities", "move", "animate", "record",
		"fire", "combat", "projectiles", "grenades",
		"areas", "blasts", "cubes", "damage", "zones", "mode"}
	for _, k := range kinds { // each behind the one that its kind names
		for _, added := range k.systems {
			i := slices.Index(names, added.Name)
			if i < 1 || names[i-1] != added.after {
				t.Fatalf("systems %v: %s is not behind %s", names, added.Name, added.after)
			}
			names = slices.Delete(names, i, i+1)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("systems %v, want %v", names, want)
	}
	whole, parts := newScript(t, 8, Rules{Seed: 3, Mix: true}, "arena-16"),
		newScript(t, 8, Rules{Seed: 3, Mix: true}, "arena-16")
	for range 200 {
		whole.step()
		at := parts.m.Tick()
		parts.step()
		if whole.m.Hash() != parts.m.Hash() {
			t.Fatalf("tick %d: two matches from one script differ", at+1)
		}
	}
	for range 200 { // Step is Begin, each system once in this order, End
		whole.m.Step()
		parts.m.Begin()
		for i := range Systems() {
			parts.m.Run(i)
		}
		parts.m.End()
		if whole.m.Hash() != parts.m.Hash() {
			t.Fatalf("tick %d: Step is not its parts", whole.m.Tick())
		}
	}
}

// An empty match ticks on, and all players may leave.
func TestEmptyMatch(t *testing.T) {
	m := New(4, Rules{}, plain(t))
	m.Step()
	id := m.Join()
	m.Step()
	m.Leave(id)
	m.Step()
	m.Step()
	if m.Tick() != 4 || *m.Score() != (Score{}) || m.World.Len() != 0 || m.Poses()[0].ID != 0 {
		t.Errorf("tick %d, score %+v, %d players, %+v", m.Tick(), *m.Score(), m.World.Len(), m.Poses()[0])
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	s := newScene(t, 64, Rules{Mix: true, Game: furnished()}, plain(t))
	for i := range s.ids {
		s.put(i, uint8(i&1), geom.Vec3{X: float32(i%8) * 4, Z: float32(i/8) * 4})
	}
	yaw, shots := geom.Angle(0), 0
	tick := func() {
		yaw += 500
		for i := range s.ids {
			s.order(i, Command{Yaw: yaw + geom.Angle(i*977), MoveMag: 255, Buttons: []Buttons{Fire, Fire,
				Fire, Throw, Melee}[int(s.Tick()/40)%5] | Jump})
		}
		s.step()
		shots += len(s.Outcome().Shots)
	}
	if n := alloctest.In(200, tick); n != 0 || shots < 500 {
		t.Errorf("%g allocations a tick, %d shots", n, shots)
	}
}

// HitFilter is the nearest point of the grid, halves up, for every position that move leaves; poses
// are idempotent.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axis := func(name string) float32 {
			return float32(rapid.Int32Range(-8192000, 8192000).Draw(t,
				name)) / 4096
		}
		pos := geom.Vec3{X: axis("x"), Y: axis("y"), Z: axis("z")}
		look := Look{geom.Angle(rapid.Uint16().Draw(t, "yaw")),
			geom.Angle(rapid.Int16Range(-0x4000, 0x4000).Draw(t, "pitch"))}
		v := Vital{Team: rapid.Uint8Range(0, 1).Draw(t, "team"), Life: rapid.Uint8().Draw(t, "life"),
			Respawn: tick.Tick(rapid.Uint32Range(0, 1).Draw(t, "respawn"))}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "figure"), 0))
		a := anim.State{
			Phase: r.Uint32(), Yaw: seenYaw(look.Yaw), Hips: geom.Angle(r.Uint32()),
			Move: geom.Angle(r.Uint32()), Gait: uint16(r.Uint32()),
			Bank: int16(r.Uint32()), Squat: uint16(r.Uint32()), Stance: rig.Stance(r.IntN(8)),
			Hero: rig.Hero(r.IntN(2)),
		}
		var p rig.Pose
		v.PublicPose(&p, 77, &pos, look, &a)
		near := func(got, want float32) bool {
			d := want - got
			return d >= -0.5/PublicPosPerMetre && d < 0.5/PublicPosPerMetre
		}
		if !near(p.Pos.X, pos.X) || !near(p.Pos.Y, pos.Y) || !near(p.Pos.Z, pos.Z) {
			t.Fatalf("%v is seen at %v", pos, p.Pos)
		}
		if d := (p.Yaw - look.Yaw).Signed(); d < -7 || d > 8 || p.Yaw&15 != 0 {
			t.Fatalf("yaw %#x is seen as %#x", look.Yaw, p.Yaw)
		}
		if d := (p.Pitch - look.Pitch).Signed(); d < -7 || d > 8 || p.Pitch&15 != 0 ||
			p.Pitch.Signed() < -0x4000 || p.Pitch.Signed() > 0x4000 {
			t.Fatalf("pitch %#x is seen as %#x", look.Pitch, p.Pitch)
		}
		if p.ID != 77 || p.Flags != rig.Flags(v.Respawn == 0, v.Team, v.Life) {
			t.Fatalf("%+v is seen as %+v", v, p)
		}
		var again rig.Pose
		if v.PublicPose(&again, 77, &p.Pos, Look{p.Yaw, p.Pitch}, &a); again != p {
			t.Fatalf("%+v seen again is %+v", p, again)
		}
	})
}

func TestRulesTicks(t *testing.T) {
	for i, c := range []struct {
		rate   tick.Rate
		millis int32
		want   tick.Tick
	}{{60, 1500, 90}, {128, 1500, 192}, {20, 1500, 30}, {60, 10000, 600}, {60, 1, 1}, {60, 17, 2},
		{128, 10000, 1280}, {20, 0, 1}, {128, 1 << 30, 137438954}} {
		if got := (Rules{Rate: c.rate}).ticks(c.millis); got != c.want {
			t.Errorf("%d: %d ms at %d Hz are %d ticks, want %d", i, c.millis, c.rate, got, c.want)
		}
	}
}
