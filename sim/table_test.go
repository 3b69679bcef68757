package sim

import (
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/object"
)

// TestRow11TableHasNoConflicts is row 11 of docs/features.md: what systems read and write
// is said, and what cannot be right is found.
func TestRow11TableHasNoConflicts(t *testing.T) {
	for _, c := range Conflicts(Systems()) {
		t.Error(c)
	}
	for i, c := range []struct {
		table []System
		want  string
	}{
		{[]System{{Name: "a", Reads: []Datum{dActions}}}, "a reads actions before it is written"},
		{[]System{{Name: "a", Reads: []Datum{dVital}}, {Name: "a"}}, "a is there twice"},
		{[]System{{Name: "a", Reads: []Datum{"soup"}}}, "a reads soup, which is not in the list of data"},
		{[]System{{Name: "a", Writes: []Datum{"soup"}}}, "a writes soup, which is not in the list of data"},
		{[]System{{Name: "a", Writes: []Datum{dActions}}}, "a writes actions, which is not read"},
		{[]System{{Name: "a", Writes: []Datum{dLook}}, {Name: "b", Writes: []Datum{dLook}}},
			"b writes look over an unread value of a"},
		{[]System{{Name: "a", Writes: []Datum{dLook}}, {Name: "b", Reads: []Datum{dLook},
			Writes: []Datum{dLook}}}, ""},
		{[]System{{Name: "a", Writes: []Datum{dEvents}}, {Name: "b", Writes: []Datum{dEvents}}}, ""},
	} {
		got := strings.Join(Conflicts(c.table), "\n")
		if got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	swapped := slices.Clone(Systems()) // what the order is for
	at := slices.IndexFunc(swapped, func(s System) bool { return s.Name == "move" })
	swapped[at], swapped[at-1] = swapped[at-1], swapped[at]
	if len(Conflicts(swapped)) == 0 {
		t.Error("motion before abilities is no conflict")
	}
}

// print is what a datum is now, as a number.
func (c *columns) print(d Datum, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	s, o := c.scratch, c.objects
	switch d {
	case dCommandBuffers:
		write(&h, ecs.Resource[commandBuffers](c.match.World).of)
	case dClampLimits:
		write(&h, c.clampLimits)
	case dCommand:
		write(&h, c.command)
	case dLook:
		write(&h, c.look)
	case dVital:
		write(&h, c.vital)
	case dAbility:
		write(&h, c.ability)
	case dAnim:
		write(&h, c.anim)
	case dMotion:
		write(&h, c.pos)
		write(&h, c.vel)
		write(&h, c.state)
	case dInput:
		write(&h, s.input)
		write(&h, s.bodyTeams)
	case dActions:
		write(&h, s.actions)
	case dTeams:
		write(&h, s.team)
		write(&h, s.alive)
	case dPoses:
		p := ecs.Resource[poses](c.match.World)
		write(&h, p.of)
		write(&h, p.acts)
	case dHistory:
		maphash.WriteComparable(&h, c.history.Newest())
	case dShots:
		write(&h, c.outcome.Shots)
		write(&h, c.outcome.Punches)
		write(&h, c.outcome.Hits)
	case dAreas:
		write(&h, o.areaHits.Next())
	case dBarrels:
		write(&h, c.scene.Barrels)
	case dCubes:
		write(&h, c.scene.Cubes)
	case dTeleporters:
		write(&h, o.Ports)
	case dZones:
		write(&h, o.Occupied)
	case dBlasts:
		write(&h, c.scene.Blasts.Waiting())
		maphash.WriteComparable(&h, c.scene.Blasts.Resolved)
	case dDamage:
		maphash.WriteComparable(&h, c.scene.Damage.Len())
	case dDeaths:
		write(&h, s.killDetails)
		write(&h, s.kills)
	case dMode:
		maphash.WriteComparable(&h, *c.mode)
		maphash.WriteComparable(&h, *c.score)
	case dEvents:
		write(&h, c.outcome.Events)
	case dAnnounced:
		write(&h, c.outcome.Announcements)
	default: // the rows of a kind, and its changes that wait
		i := slices.IndexFunc(kinds, func(k *kindSpec) bool { return k.datum == d })
		if i < 0 {
			panic("no print of " + string(d))
		}
		ids, columns := c.match.memory(kinds[i])
		write(&h, ids)
		for _, column := range columns {
			_, _ = h.Write(column.Bytes)
		}
		maphash.WriteComparable(&h, c.match.World.Queued(c.match.kinds[kinds[i].page]))
	}
	return h.Sum64()
}

func write[T comparable](h *maphash.Hash, rows []T) {
	for i := range rows {
		maphash.WriteComparable(h, rows[i])
	}
}

// TestRow11SystemsWriteWhatTheySay plays a match and looks at everything between any two systems: what a
// system changed is in its row, and what is in its row it changes some time.
func TestRow11SystemsWriteWhatTheySay(t *testing.T) {
	seed := maphash.MakeSeed()
	wrote := map[string]map[Datum]bool{}
	for _, s := range Systems() {
		wrote[s.Name] = map[Datum]bool{}
	}
	for _, game := range []*Game{rocketeers(), assault(1)} {
		game.Mode.RoundMillis, game.Mode.PostmatchMillis = 5000, 500
		game.Layout.Areas[0].Kind.BurnMillis = 800
		ground, err := arena.Open("arena-16")
		if err != nil {
			t.Fatal(err)
		}
		game.Items = []object.ItemKind{{Heal: 10, Radius: 3, RespawnMillis: 2000},
			{Gives: object.GivesAmmo, Radius: 3, RespawnMillis: 100}}
		for i, at := range ground.Spawns { // on every spawn
			game.Layout.Items = append(game.Layout.Items, PlacedItem{at.Pos, uint8(i % 2)})
			game.Layout.Cubes = append(game.Layout.Cubes, at.Pos.Add(geom.Vec3{X: 1, Y: 1, Z: 2}))
			for _, k := range kinds {
				if k.byName {
					game.Layout.Objects = append(game.Layout.Objects, PlacedObject{Kind: k.name, Pos: at.Pos})
				}
			}
		}
		s := newScript(t, 16, Rules{Seed: 5, RespawnMillis: 700, Mix: true, Game: game}, "arena-16")
		now := map[Datum]uint64{}
		for range 900 {
			s.give()
			s.m.Begin()
			c := &ecs.Resource[scratch](s.m.World).now
			for _, d := range Data() {
				now[d.Name] = c.print(d.Name, seed)
			}
			for i, system := range Systems() {
				s.m.Run(i)
				for _, d := range Data() {
					p := c.print(d.Name, seed)
					if p == now[d.Name] {
						continue
					}
					now[d.Name] = p
					wrote[system.Name][d.Name] = true
					if !slices.Contains(system.Writes, d.Name) {
						t.Fatalf("tick %d: %s changed %s", s.m.Tick(), system.Name, d.Name)
					}
				}
			}
			s.m.End()
		}
	}
	for _, s := range Systems() {
		for _, d := range s.Writes {
			if !wrote[s.Name][d] {
				t.Errorf("%s never wrote %s", s.Name, d)
			}
		}
	}
}

// TestRow07PlayIsTheMatch: what a client plays for itself is what the match plays, tick by tick and
// bit by bit, for whomever nothing befell from outside: with every ability, either hero, in the
// midst of a fight.
func TestRow07PlayIsTheMatch(t *testing.T) {
	played, actions, heroes := 0, map[ability.ActionKind]int{}, [2]int{}
	for seed := range uint64(3) {
		s := newScript(t, 16, Rules{Seed: seed, Rate: rates[seed], RespawnMillis: 700, Mix: true,
			Game: rocketeers()}, "arena-16")
		k := s.m.Game()
		before := map[netid.ID]Self{}
		vitals := map[netid.ID]Vital{}
		ground := s.m.Scene().Arena
		var out ability.Actions
		for range 1500 {
			s.step()
			for _, id := range s.ids {
				motion, abilities, v := s.m.Self(id)
				now := Self{motion, abilities, v.Hero, v.Team}
				was, known := before[id]
				before[id] = now
				old := vitals[id]
				vitals[id] = v
				if !known || !v.Alive() || !old.Alive() || old.Pushes != v.Pushes || id == 0 {
					continue
				}
				k.StepPlayer(&was, s.m.command.Get(id), ground, &out)
				if was != now {
					t.Fatalf("seed %d tick %d %v: played %+v, the match has %+v", seed, s.m.Tick(), id, was,
						now)
				}
				played++
				heroes[v.Hero]++
				for _, a := range out.All() {
					actions[a.Kind]++
				}
			}
		}
	}
	if played < 30000 || heroes[0] < 10000 || heroes[1] < 10000 {
		t.Errorf("%d ticks compared, %v", played, heroes)
	}
	for _, kind := range []ability.ActionKind{ability.ActionShot, ability.ActionProjectile,
		ability.ActionGrenade, ability.ActionMelee, ability.ActionEmote, ability.ActionLaunch} {
		if actions[kind] < 10 {
			t.Errorf("action %d happened %d times", kind, actions[kind])
		}
	}
}
