package sim

import (
	"bytes"
	"errors"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/object"
)

// saved plays a scripted match for the given number of ticks and saves it.
func saved(t testing.TB, game *Game, players, ticks int) (*script, []byte) {
	t.Helper()
	s := newScript(t, players, Rules{Seed: 7, RespawnMillis: 700, Mix: true, Game: game}, "arena-16")
	for range ticks {
		s.step()
	}
	state, err := s.m.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, state
}

func (s *script) load(t testing.TB, state []byte) *Match {
	t.Helper()
	rules := *s.m.Rules()
	m, err := Load(s.m.World.Slots(), rules, s.m.Scene().Arena, state)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// lasts prints everything of a match that the table says lasts. What comes from outside is not in
// it, but for what Hash has of it.
func lasts(m *Match, seed maphash.Seed) map[Datum]uint64 {
	c := m.open()
	defer c.close()
	out := map[Datum]uint64{}
	for _, d := range Data() {
		if d.Sort == Persistent {
			out[d.Name] = c.print(d.Name, seed)
		}
	}
	return out
}

// TestSaveLoadGoesOn saves matches of both modes in the midst of everything, loads them, and plays
// 1000 ticks more of both from the same diaries: the same in every datum after every tick, and what
// is saved at the end is the same bytes.
func TestSaveLoadGoesOn(t *testing.T) {
	seed := maphash.MakeSeed()
	for name, game := range map[string]*Game{"deathmatch": rocketeers(), "assault": assault(1)} {
		t.Run(name, func(t *testing.T) {
			game.Mode.RoundMillis, game.Mode.PostmatchMillis = 9000, 500
			s, state := saved(t, game, 16, 333)
			copied := s.load(t, state)
			if again, err := copied.Save(nil); err != nil || !bytes.Equal(again, state) {
				t.Fatalf("loaded and saved again, it is another state: %v, %v",
					Differ(state, again, copied), err)
			}
			var d TickInputs
			s.m.SetInputLog(&d)
			s.m.SetHitFilter(func(s *lagcomp.Sweep, id uint32) bool { return (s.Except+id)%3 != 0 })
			unseen, flying := 0, 0
			for i := range 1000 {
				if i == 500 && s.m.SetRespawn(900) != nil {
					t.Fatal("respawn")
				}
				s.step()
				unseen += len(d.Hidden)
				flying += len(s.m.Objects().Projectiles) + len(s.m.Objects().Grenades)
				if err := copied.Replay(&d); err != nil {
					t.Fatal(err)
				}
				want, got := lasts(s.m, seed), lasts(copied, seed)
				for _, row := range Data() {
					if want[row.Name] != got[row.Name] {
						t.Fatalf("tick %d: %s is another", s.m.Tick(), row.Name)
					}
				}
				if s.m.Hash() != copied.Hash() || !slices.Equal(s.m.Outcome().Events,
					copied.Outcome().Events) {
					t.Fatalf("tick %d: another match", s.m.Tick())
				}
			}
			if unseen == 0 || flying == 0 || s.m.Mode().Round == 0 {
				t.Errorf("too quiet: %d unseen, %d flying, round %d", unseen, flying, s.m.Mode().Round)
			}
		})
	}
}

// TestSaveHasEverything: each datum that the table of systems calls persistent or external is in a part,
// and structs with handwritten save code have exactly the fields that the code covers. New
// components need no change: all of the kind are saved. A new field of a struct below must be
// saved, or derived from what is.
func TestSaveHasEverything(t *testing.T) {
	held := map[Datum]bool{}
	for _, p := range parts {
		for _, d := range p.holds {
			held[d] = true
		}
	}
	for _, k := range kinds { // the kinds' part holds what they declare as state
		for i := range k.columns {
			held[k.datum] = held[k.datum] || k.columns[i].use&inState != 0 && k.datum != dZones
		}
	}
	for _, d := range Data() {
		if (d.Sort == Persistent || d.Sort == External) != held[d.Name] {
			t.Errorf("%s is %v, and in the parts of a saved state: %v", d.Name, d.Sort, held[d.Name])
		}
	}
	for _, c := range []struct {
		of     reflect.Type
		fields string
	}{
		{reflect.TypeFor[Match](), "World resources components hooks"},
		{reflect.TypeFor[resources](),
			"rules kit clock arena history score mode scene objects outcome " +
				"scratch commandBuffers poses spawns"},
		{reflect.TypeFor[Objects](),
			"Projectiles Grenades Areas Ports Zones Occupied Homes Spawns areaHits occupants"},
		{reflect.TypeFor[object.Scene](),
			"Arena Players Rate Now Damage Blasts ProjectileKinds GrenadeKinds " +
				"BarrelKind CubeKind Barrels Cubes barrelGrid sceneScratch"},
		{reflect.TypeFor[object.Blasts](), "Budget Deferred Merged Resolved list"},
		{reflect.TypeFor[object.AreaHits](), "slots next"},
		{reflect.TypeFor[CommandBuffer](), "Count last taken newest repeats ring"},
		{reflect.TypeFor[spawns](), "joinAs"},
		{reflect.TypeFor[poses](), "of acts"},
		{reflect.TypeFor[rig.Pose](), "Pos Yaw Pitch Flags Phase ID Form Move Gait Bank Hips Aim Air Squat"},
		{reflect.TypeFor[Rules](), "Rate Seed RewindMillis RespawnMillis Mix Game"},
	} {
		var names []string // in any order: what is saved has a type of its own, see parts
		for i := range c.of.NumField() {
			names = append(names, c.of.Field(i).Name)
		}
		want := strings.Fields(c.fields)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%v has %s; saved is %s", c.of, names, want)
		}
	}
}

// Every method that changes a match from outside is recorded in its inputs: a new method is either
// recorded or listed here as one that need not be.
func TestInputsHaveEveryChange(t *testing.T) {
	const recorded = "RequestHero Join JoinAsHero JoinAt JoinFrom JoinSpectatorAt JoinSpectatorFrom Leave SetRespawn " +
		"JoinSpectator CommandBuffer SetClampLimits SetHitFilter SetViewResolver "
	const reads = "AbilityStates Checksums ClampLimits Entities Entity Game Harms Hash HitFilter History InputLog Kinds LastView " +
		"Layout Mode NextTeam Objects Outcome Poses PrefetchCommand PrefetchCommands Root " +
		"RoundStatus Rules Save Scene Score Self SelfInto SetShotLog Spectates Tick ViewResolver Vital "
	const plays = "Begin ContinueFrom End InterruptedInputs Replay ReplayTimed Run SetInputLog SetWorkers Step Wake "
	m := reflect.TypeFor[*Match]()
	for i := range m.NumMethod() {
		if name := m.Method(i).Name; !strings.Contains(" "+recorded+reads+plays, " "+name+" ") {
			t.Errorf("Match.%s is not in the lists of this test: can it change a match?", name)
		}
	}
}

// A diary replays a match from its beginning, too, spectators and full lobbies included.
func TestDiaryFromTheBeginning(t *testing.T) {
	s := newScript(t, 16, Rules{Seed: 3, Game: assault(1)}, "arena-16")
	live := New(16, *s.m.Rules(), s.m.Scene().Arena)
	copied := New(16, *s.m.Rules(), s.m.Scene().Arena)
	s.m, s.ids = live, nil
	var d TickInputs
	live.SetInputLog(&d)
	for i := range 16 {
		if i%5 == 4 {
			live.JoinSpectator()
			continue
		}
		s.ids = append(s.ids, live.JoinAsHero(uint8(i%2)))
	}
	if live.Join() != 0 {
		t.Fatal("not full")
	}
	for range 600 {
		s.step()
		if err := copied.Replay(&d); err != nil {
			t.Fatal(err)
		}
		if live.Hash() != copied.Hash() {
			t.Fatalf("tick %d", live.Tick())
		}
	}
}

// A saved match has commands that wait. If the live match drops them, for another client of the player,
// the replay does not play them, neither for a tick without a command nor in place of the recorded one.
func TestReplayTakesRecordedCommandsOnly(t *testing.T) {
	s := newScript(t, 2, Rules{Seed: 3}, "arena-16")
	live, id := s.m, s.ids[0]
	for range 30 {
		s.step()
	}
	in := live.CommandBuffer(id)
	ahead := live.Tick() + 5
	for t := ahead; t < ahead+20; t++ {
		in.Offer(Command{Tick: t, MoveYaw: 64, MoveMag: 255})
	}
	state, err := live.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := Load(2, *live.Rules(), live.Scene().Arena, state)
	if err != nil {
		t.Fatal(err)
	}
	in.DropWaiting()
	in.Offer(Command{Tick: ahead + 10, MoveYaw: 128, MoveMag: 255})
	var d TickInputs
	live.SetInputLog(&d)
	for range 40 {
		live.Step()
		if err := copied.Replay(&d); err != nil {
			t.Fatal(err)
		}
		if live.Hash() != copied.Hash() {
			t.Fatalf("tick %d differs; the saved commands are for ticks %d to %d", live.Tick(), ahead, ahead+19)
		}
	}
}

// Replay refuses a diary of another match, and names what cannot be.
func TestReplayRefuses(t *testing.T) {
	for _, c := range []struct {
		d    TickInputs
		want string
	}{
		{TickInputs{Tick: 9}, "a diary of tick 9 after tick 0"},
		{TickInputs{Tick: 1, Changes: []Change{{ChangeJoin, 77, 0}}}, "join of 0.77, 0, cannot be"},
		{TickInputs{Tick: 1, Changes: []Change{{ChangeJoin, netid.Make(0, 1), 99}}}, "cannot be"},
		{TickInputs{Tick: 1, Changes: []Change{{ChangeLeave, 257, 0}}}, "leave of 1.1"},
		{TickInputs{Tick: 1, Changes: []Change{{ChangeKinds, 0, 0}}}, "? of 0.0"},
		{TickInputs{Tick: 1, Changes: []Change{{ChangeRespawn, 0, -5}}}, "respawn"},
		{TickInputs{Tick: 1, Commands: []PlayerCommand{{257, Command{Tick: 1}}}},
			"a command for tick 1 of 1.1"},
	} {
		s := newScript(t, 4, Rules{}, "arena-16")
		m := New(4, *s.m.Rules(), s.m.Scene().Arena)
		if err := m.Replay(&c.d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestSaveRefusesWhileSomebodyComes(t *testing.T) {
	s, _ := saved(t, furnished(), 4, 10)
	s.m.Leave(s.ids[0])
	if _, err := s.m.Save(nil); !errors.Is(err, ErrPending) {
		t.Error(err)
	}
}

// Every proper prefix of a state is refused, and so is another's.
func TestLoadRefuses(t *testing.T) {
	s, state := saved(t, furnished(), 6, 200)
	rules, ground := *s.m.Rules(), s.m.Scene().Arena
	for n := 0; n < len(state); n += 1 + len(state)/150 {
		if _, err := Load(6, rules, ground, state[:n]); !errors.Is(err, ErrState) {
			t.Fatalf("%d of %d bytes: %v", n, len(state), err)
		}
	}
	if _, err := Load(6, rules, ground, append(slices.Clone(state), 0)); !errors.Is(err, ErrState) {
		t.Error("one byte more:", err)
	}
	if _, err := Load(7, rules, ground, state); !errors.Is(err, ErrState) || !strings.Contains(err.Error(),
		"6 slots, expected 7") {
		t.Error(err)
	}
	other := rules
	other.Game = quick(func(*Game) {})
	if _, err := Load(6, other, ground, state); !errors.Is(err, ErrState) {
		t.Error("another layout of the map:", err)
	}
}

// A state with a kind, component or column that this build has not is refused with its name and
// what was expected.
func TestSchemaNamesWhatIsUnknown(t *testing.T) {
	if err := CheckSchema(Schema()); err != nil {
		t.Error(err)
	}
	for i, c := range []struct{ from, to, want string }{
		{"player|", "golem|", `unknown kind or part "golem", expected one of: player, projectile, grenade`},
		{"grenade|object.Grenade ", "grenade|object.Granite ",
			`kind grenade: unknown component "object.Granite", expected object.Grenade`},
		{" Health int16", " Wealth int16",
			`component sim.Vital: unknown column "Wealth int16", expected "Health int16"`},
		{" Health int16", " Health int32",
			`component sim.Vital: unknown column "Health int32", expected "Health int16"`},
		{" Effect uint32", "",
			`kind teleporter: component object.Teleporter: unknown column "none", expected "Effect uint32"`},
		{"|sim.Look Yaw uint16 Pitch uint16", "",
			`kind player: unknown component "sim.Vital", expected sim.Look`},
		{Schema(), "", "unknown kind or part"},
	} {
		text := strings.Replace(Schema(), c.from, c.to, 1)
		if text == Schema() {
			t.Fatalf("%d: the schema has no %q:\n%s", i, c.from, Schema())
		}
		if err := CheckSchema(text); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v\nwant %s", i, err, c.want)
		}
	}
	if n := len(Schema()); n > 8000 {
		t.Errorf("%d bytes of schema", n)
	}
}

// FuzzLoad: whatever is loaded, if it is, can be played.
func FuzzLoad(f *testing.F) {
	s, state := saved(f, furnished(), 4, 150)
	rules, ground := *s.m.Rules(), s.m.Scene().Arena
	f.Add(uint32(20), byte(1), uint32(90), byte(7))
	f.Add(uint32(400), byte(255), uint32(500), byte(128))
	body := uint32(13)
	f.Add(body+20, byte(1), body+90, byte(7))
	f.Add(body+400, byte(255), body+500, byte(128))
	f.Fuzz(func(t *testing.T, at uint32, to byte, and uint32, too byte) {
		hostile := slices.Clone(state)
		hostile[int(at)%len(hostile)] = to
		hostile[int(and)%len(hostile)] = too
		m, err := Load(4, rules, ground, hostile)
		if err != nil {
			if !errors.Is(err, ErrState) || m != nil {
				t.Fatal(err)
			}
			return
		}
		for range 40 {
			m.Step()
		}
		_ = m.Hash()
	})
}
