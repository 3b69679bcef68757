package content

import (
	"reflect"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, want\n%+v", what, got, want)
	}
}

// The default pack is FPSSample's numbers, as the packages have them.
func TestRow15DefaultPackIsTheReference(t *testing.T) {
	p := Default()
	same(t, "heroes", len(p.Heroes), 2)
	same(t, "robot", p.HeroParams(1), ability.RobotParams())
	same(t, "terraformer", p.HeroParams(0), ability.TerraformerParams())
	same(t, "robot's body", p.Heroes[1].Body, move.RobotParams())
	same(t, "terraformer's body", p.Heroes[0].Body, move.DefaultParams())
	var ammo []object.ProjectileKind
	for _, o := range p.Projectiles {
		ammo = append(ammo, o.ProjectileKind)
	}
	same(t, "projectiles", ammo, object.DefaultProjectiles())
	same(t, "grenades", len(p.Grenades), 1)
	same(t, "grenade", p.Grenades[0].GrenadeKind, object.DefaultGrenade())
	same(t, "barrel", p.Barrel.BarrelKind, object.DefaultBarrel())
	same(t, "cube", p.Cube, object.DefaultCube())
	same(t, "area", p.Areas[0].Kind, object.AreaKind{Points: 25, PerSecond: 3})
	same(t, "deadly area", p.Areas[1].Kind, object.AreaKind{Instant: true})
	same(t, "zone", object.Zone{Radius: p.Zone.Radius, Height: p.Zone.Height},
		object.DefaultZone(geom.Vec3{}))
	same(t, "assault", p.Modes[0].Params, mode.DefaultAssault())
	same(t, "deathmatch", p.Modes[1].Params, mode.DefaultDeathmatch())
	same(t, "rules", p.Rules, Rules{HeadScale: 2, RewindMillis: 400})
}

// Packages ability and object name projectiles alike.
func TestRow15ProjectileIDs(t *testing.T) {
	p := Default()
	for id, name := range map[ability.Projectile]string{
		ability.Rivet: "Rivet", ability.RocketShell: "Rocket", ability.GooRocket: "GooRocket",
	} {
		same(t, name, p.Projectiles[id-1].Name, name)
	}
}

// Both ends have the same effects with the same ids, whichever side a pack was read for, and each
// reference is one of them. Looks and their assets are the client's alone.
func TestRow15EffectsAreEqualOnBothEnds(t *testing.T) {
	whole := Default().EffectTable()
	for _, side := range []Side{Server, Client} {
		p := DefaultFor(side)
		same(t, side.String(), p.EffectTable(), whole)
		tables, err := p.Compile(128)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "tables", tables.Effects, whole)
		e, ok := p.Effect(whole.ID("goo explosion"))
		_, image := p.Asset("burst")
		if !ok || e.Name != "goo explosion" || e.Kind != Spatial || image != (side == Client) ||
			(e.Look.Image == "burst" && e.Look.Mark == 1.25) != (side == Client) {
			t.Errorf("%v: %v, %+v, image %v", side, ok, e, image)
		}
	}
	for id, want := range map[EffectID]string{
		whole.Abilities[0][0]: "rifle round", whole.Abilities[0][1]: "goo shot", whole.Abilities[0][3]: "punch",
		whole.Abilities[1][0]: "rivet shot", whole.Abilities[1][1]: "grenade throw",
		whole.Impacts[ability.Rivet-1]: "rivet impact", whole.Explosions[ability.GooRocket-1]: "goo explosion",
		whole.Grenade: "grenade explosion", whole.Barrel: "barrel explosion", whole.Impacts[1]: "",
		EffectID(200): "",
	} {
		same(t, "name", whole.Name(id), want)
	}
	if _, ok := Default().Effect(EffectID(len(whole.Names)) + 1); ok || whole.ID("x") != 0 {
		t.Error("an effect that the pack has not")
	}
}

// Every map of the default pack can be played: its objects stand free of solids, and both modes
// have their points and spawns.
func TestRow15DefaultMaps(t *testing.T) {
	tables, err := Default().Compile(60)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ids", []int{tables.Hero("robot"), tables.Mode("deathmatch"), tables.Map("arena-64"),
		tables.Area("deadly"), tables.Hero("x")}, []int{1, 1, 1, 1, -1})
	for i := range Default().Maps {
		s, err := tables.Stage(i)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "modes", s.Modes, []int{0, 1})
		same(t, "points", s.Points, []string{"A", "B", "C"})
		free := func(what string, p geom.Vec3, radius float32) {
			box := geom.AABB{Min: p.Add(geom.Vec3{X: -radius, Y: 0.1, Z: -radius}),
				Max: p.Add(geom.Vec3{X: radius, Y: 2.2, Z: radius})}
			if s.Arena.Overlaps(box) {
				t.Errorf("%s: %s at %v is in something solid", s.Arena.Name, what, p)
			}
		}
		for _, z := range s.Zones {
			free("point", z.Center, 0.5)
		}
		for _, b := range s.Barrels {
			free("barrel", b, 0.3)
		}
		for _, c := range s.Cubes {
			free("cube", c, 0.5)
		}
		for i := range s.Teleporters {
			free("target", s.Teleporters[i].Target, 0.5)
			for j := range s.Teleporters {
				box, target := s.Teleporters[j].Box, s.Teleporters[i].Target
				if target == target.Max(box.Min).Min(box.Max) {
					t.Errorf("%s: teleporter %d leads into %d", s.Arena.Name, i, j)
				}
			}
		}
		for team, h := range s.Homes {
			same(t, "home", int(h.Team), team)
			spawns := 0
			for _, p := range s.Arena.TeamSpawns(h.Team) {
				if p.Pos == p.Pos.Max(h.Box.Min).Min(h.Box.Max) {
					spawns++
				}
			}
			if spawns == 0 {
				t.Errorf("%s: nobody of team %d spawns at home", s.Arena.Name, team)
			}
		}
	}
}

// The words of files convert to the constants of the packages.
func TestRow15Words(t *testing.T) {
	for i := range abilityKeys {
		switch k := &abilityKeys[i]; k.name {
		case "kind":
			for i, word := range k.choices {
				same(t, "kind", ability.Kind(i+k.first).String(), word)
			}
			same(t, "one kind more", ability.Kind(len(k.choices)+k.first).String(), "?")
		case "keys":
			for i, want := range []uint16{ability.Jump, ability.SprintKey, ability.Primary,
				ability.Secondary, ability.ReloadKey,
				ability.MeleeKey, ability.EmoteVictory, ability.EmoteDefeat, ability.EmoteDance,
				ability.RocketKey} {
				same(t, k.choices[i], uint16(1)<<i, want)
			}
			same(t, "keys", len(k.choices), 10)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	f := files()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(f); err != nil {
			b.Fatal(err)
		}
	}
}
