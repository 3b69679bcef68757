package sim

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// One against one: 100 points, 7 a hit, twice that on the head, dead at the 15th body hit or the
// 8th on the head.
func TestDamage(t *testing.T) {
	for i, c := range []struct {
		height float32
		part   rig.Part
		points int16
		hits   int
	}{{chest, rig.PartTorso, 7, 15}, {head, rig.PartHead, 14, 8}} {
		s := newScene(t, 2, Rules{}, plain(t))
		a, b := geom.Vec3{}, geom.Vec3{X: 3, Z: 4}
		s.put(0, 0, a)
		s.put(1, 1, b)
		s.step() // so that history has seen them there
		hits, health := 0, int16(100)
		for s.Vital(s.ids[1]).Alive() && s.Tick() < 300 {
			s.ability.Get(s.ids[0]).Slots[0].Heat = 0 // the spread has its own test
			s.order(0, at(a, b, c.height))
			s.step()
			for _, e := range s.Outcome().Events {
				if e.Kind == EventHit {
					hits++
					health -= c.points
					want := Event{EventHit, c.part, object.CauseShot, s.Tick(), s.ids[0], s.ids[1],
						uint16(c.points)}
					if e != want || s.Vital(s.ids[1]).Health != max(health, 0) {
						t.Fatalf("%d: hit %d was %+v, leaves %d points; want %+v, %d", i, hits, e,
							s.Vital(s.ids[1]).Health, want, health)
					}
				}
			}
		}
		v, k := s.Vital(s.ids[1]), s.Vital(s.ids[0])
		if hits != c.hits || v.Health != 0 || v.Deaths != 1 || k.Kills != 1 ||
			s.Mode().Score != [2]int32{1, 0} || s.Score().Members != [2]uint16{1, 1} {
			t.Errorf("%d: %d hits; victim %+v, killer %+v, score %+v", i, hits, *v, *k, *s.Mode())
		}
		if e := s.Outcome().Events; len(e) != 2 ||
			e[1] != (Event{EventKill, c.part, object.CauseShot, s.Tick(), s.ids[0], s.ids[1], 1}) {
			t.Errorf("%d: the last tick told %+v", i, e)
		}
	}
}

// Twelve shoot one in one tick, and each of them would kill: one kill, one death, one point, and
// the late ones hit a corpse that takes no more.
func TestKillIsCreditedOnce(t *testing.T) {
	const shooters = 12
	s := newScene(t, shooters+1, Rules{Game: deadly(100)}, plain(t))
	places := make([]geom.Vec3, shooters)
	s.put(shooters, 1, geom.Vec3{})
	for i := range shooters {
		sin, cos := geom.Angle(i * geom.Turn / shooters).SinCos()
		places[i] = geom.Vec3{X: 8 * sin, Z: 8 * cos}
		s.put(i, 0, places[i])
	}
	s.step()
	for i := range shooters {
		s.order(i, at(places[i], geom.Vec3{}, chest))
	}
	s.step()
	out := s.Outcome()
	if len(out.Shots) != shooters || len(out.Hits) != shooters {
		t.Fatalf("%d shots, %d hits", len(out.Shots), len(out.Hits))
	}
	for i, h := range out.Hits {
		if h.ID != uint32(s.ids[shooters]) || h.Part == rig.NoPart || h.Part == rig.PartHead {
			t.Errorf("shot %d hit %+v", i, h)
		}
	}
	kills, credited := 0, 0
	for _, e := range out.Events {
		if e.Kind == EventKill {
			kills++
		}
	}
	for _, id := range s.ids {
		credited += int(s.Vital(id).Kills)
	}
	v := s.Vital(s.ids[shooters])
	if kills != 1 || len(out.Events) != 2 || credited != 1 || s.Mode().Score != [2]int32{1, 0} ||
		v.Deaths != 1 || v.Health != 0 {
		t.Errorf("%d kills told in %d events, %d credited, score %v, victim %+v", kills, len(out.Events),
			credited, s.Mode().Score, *v)
	}
}

// Two players that shoot each other in one tick both die: no slot has priority.
func TestDuel(t *testing.T) {
	s := newScene(t, 2, Rules{Game: deadly(100)}, plain(t))
	a, b := geom.Vec3{}, geom.Vec3{Z: 10}
	s.put(0, 0, a)
	s.put(1, 1, b)
	s.step()
	s.order(0, at(a, b, chest))
	s.order(1, at(b, a, chest))
	s.step()
	if s.Vital(s.ids[0]).Alive() || s.Vital(s.ids[1]).Alive() || s.Mode().Score != [2]int32{1, 1} {
		t.Errorf("%+v and %+v, score %v", *s.Vital(s.ids[0]), *s.Vital(s.ids[1]), s.Mode().Score)
	}
}

// A shot does not hit through a wall, beyond its range, a team mate, or with an impossible view.
func TestShotsThatMiss(t *testing.T) {
	for i, c := range []struct {
		name string
		team uint8
		rng  float32
		b    geom.Vec3
		view tick.View
		hits int
	}{
		0: {"an enemy", 1, 500, geom.Vec3{Z: 10}, tick.View{}, 1},
		1: {"a friend", 0, 500, geom.Vec3{Z: 10}, tick.View{}, 0},
		2: {"just in range", 1, 10, geom.Vec3{Z: 10}, tick.View{}, 1},
		3: {"out of range", 1, 9, geom.Vec3{Z: 10}, tick.View{}, 0},
		// clamped to now
		4: {"a view of the future", 1, 500, geom.Vec3{Z: 10}, tick.View{From: 4000, To: 4000}, 1},
		5: {"no view", 1, 500, geom.Vec3{Z: 10}, tick.View{From: 3, To: 2}, 1}, // likewise
	} {
		s := newScene(t, 2, Rules{Game: quick(func(g *Game) { rifle(g).Range = c.rng })}, plain(t))
		s.put(0, 0, geom.Vec3{})
		s.put(1, c.team, c.b)
		s.step()
		cmd := at(geom.Vec3{}, c.b, chest)
		cmd.View = c.view
		s.order(0, cmd)
		s.step()
		if n := len(s.Outcome().Events); n != c.hits || len(s.Outcome().Shots) != 1 {
			t.Errorf("%d %s: %d events of %d shots, want %d", i, c.name, n, len(s.Outcome().Shots), c.hits)
		}
	}
}

// A dead player neither moves, shoots nor is hit; after 10 s it stands, whole and armed, at a spawn
// of its team.
func TestDeathAndRespawn(t *testing.T) {
	for _, rate := range rates {
		s := newScene(t, 2, Rules{Rate: rate, Game: deadly(100)}, plain(t))
		a, b := geom.Vec3{}, geom.Vec3{Z: 10}
		s.put(0, 0, a)
		s.put(1, 1, b)
		s.step()
		s.ability.Get(s.ids[1]).Slots[0].Load = 3
		s.vel.Get(s.ids[1]).X = 5 // it was walking
		s.order(0, at(a, b, chest))
		s.step()
		died := s.Tick()
		v := s.Vital(s.ids[1])
		if v.Alive() || v.Respawn != died+tick.Tick(rate)*10 {
			t.Fatalf("%d Hz: %+v in tick %d", rate, *v, died)
		}
		where, _, _ := s.Self(s.ids[1])
		for s.Tick() < died+tick.Tick(rate)*10-1 {
			s.order(1, Command{Buttons: Fire | Jump | Sprint, Yaw: 0x8000, MoveMag: 255})
			s.order(0, at(a, b, chest))
			s.step()
			self, a, now := s.Self(s.ids[1])
			if p := s.Poses()[1]; p.Alive() {
				t.Fatalf("%d Hz, tick %d: others see the corpse as %+v", rate, s.Tick(), p)
			}
			if now.Alive() || a.Slots[0].Count != 0 || now.Deaths != 1 || self.Loco != move.Dead ||
				self.Pos != where.Pos {
				t.Fatalf("%d Hz, tick %d: %+v, %+v; died at %v", rate, s.Tick(), now, self, where.Pos)
			}
			if e := s.Outcome().Events; len(e) != 0 {
				t.Fatalf("%d Hz, tick %d: %+v", rate, s.Tick(), e)
			}
		}
		s.order(1, Command{})
		s.step()
		self, w, now := s.Self(s.ids[1])
		if !now.Alive() || now.Health != 100 || w.Slots[0].Load != 25 || now.Deaths != 1 ||
			self.Pos.Z != 50 || math.Mod(float64(self.Pos.X), 4) != 0 || self.Loco == move.Dead {
			t.Errorf("%d Hz: after 10 s %+v, %+v, %+v", rate, now, w, self)
		}
		if a, b := s.Poses()[1], s.Poses()[0]; a.Flags != rig.Flags(true, 1, 1) ||
			b.Flags != rig.Flags(true, 0, 0) {
			t.Errorf("%d Hz: flags %#x and %#x", rate, a.Flags, b.Flags)
		}
	}
}

// A new player goes to the smaller team; players that left are not counted.
func TestTeamsAreBalanced(t *testing.T) {
	m := New(16, Rules{Seed: 4}, plain(t))
	var ids []netid.ID
	for i := range 16 {
		ids = append(ids, m.Join())
		if i%3 == 2 {
			m.Step()
		}
	}
	m.Step()
	count := func() (n [2]uint16) {
		for _, id := range ids {
			n[m.Vital(id).Team]++
		}
		return n
	}
	if n := count(); n != [2]uint16{8, 8} || m.Score().Members != n {
		t.Fatalf("teams %v, score %+v", n, *m.Score())
	}
	if m.Join() != 0 {
		t.Error("a seventeenth came in")
	}
	var stay []netid.ID
	for _, id := range ids { // all but one of team 0 leave
		if m.Vital(id).Team == 1 || len(stay) == 0 {
			stay = append(stay, id)
			continue
		}
		m.Leave(id)
		m.Leave(id) // twice is once
	}
	ids = stay
	m.Step()
	if n := count(); n != [2]uint16{1, 8} || m.Score().Members != n {
		t.Fatalf("after leaving teams %v, score %+v", n, *m.Score())
	}
	for range 7 {
		ids = append(ids, m.Join())
	}
	m.Step()
	if n := count(); n != [2]uint16{8, 8} || m.Score().Members != n {
		t.Errorf("after joining teams %v, score %+v", n, *m.Score())
	}
	for _, id := range ids { // each player stands at its own end
		if self, _, v := m.Self(id); self.Pos.Z != []float32{-50, 50}[v.Team] {
			t.Errorf("%v of team %d is at %v", id, v.Team, self.Pos)
		}
	}
}

// The id of a player that left stays invalid, and the next player of its slot has another
// generation.
func TestIdentities(t *testing.T) {
	m := New(2, Rules{}, plain(t))
	seen, other := map[netid.ID]bool{}, m.Join()
	for i := range 200 {
		id := m.Join()
		if id == 0 || seen[id] || id == other {
			t.Fatalf("round %d: %v again", i, id)
		}
		if m.CommandBuffer(id) == nil || m.Vital(id) != nil {
			t.Fatalf("round %d: %v has no inbox, or a row before its tick", i, id)
		}
		if i%5 == 4 { // gone before it ever stood there
			m.Leave(id)
			m.Step()
		} else {
			m.Step()
			m.Leave(id)
			if m.Vital(id) == nil {
				t.Fatalf("round %d: %v is gone before the end of the tick", i, id)
			}
			if m.Join() != 0 {
				t.Fatalf("round %d: its slot was given away before the end of the tick", i)
			}
			m.Step()
		}
		if m.Vital(id) != nil || m.CommandBuffer(id) != nil || m.World.Alive(id) {
			t.Fatalf("round %d: %v is still there", i, id)
		}
		if self, w, v := m.Self(id); self != (move.Motion{}) || w != (ability.State{}) || v != (Vital{}) {
			t.Fatalf("round %d: %v is still told of", i, id)
		}
		m.Leave(id)
		seen[id] = true
	}
	if m.Score().Members != [2]uint16{1, 0} {
		t.Errorf("members %v", m.Score().Members)
	}
}
