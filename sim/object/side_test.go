package object

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
)

func TestRow07Hostility(t *testing.T) {
	const a, b, pet, rocket netid.ID = 1 << 8, 2 << 8, 3 << 8, 4 << 8
	red := func(id, owner netid.ID) Side { return Side{ID: id, Owner: owner, Team: 0} }
	blue := func(id, owner netid.ID) Side { return Side{ID: id, Owner: owner, Team: 1} }
	free := func(id, owner netid.ID) Side { return Side{ID: id, Owner: owner, Team: lagcomp.NoTeam} }
	marked := func(s Side, m Marks) Side { s.Marks = m; return s }
	for i, c := range []struct {
		what               string
		attacker, target   Side
		hostile            bool
		gun, fist, explode bool // who is harmed by what
	}{
		{"of two teams", red(a, 0), blue(b, 0), true, true, true, true},
		{"of one team", red(a, 0), red(b, 0), false, false, true, false},
		{"itself", red(a, 0), red(a, 0), false, false, false, true},
		{"itself, named as owner", red(a, a), red(a, 0), false, false, false, true},
		{"an enemy's pet", red(a, 0), blue(pet, b), true, true, true, true},
		{"a friend's pet", red(a, 0), red(pet, b), false, false, true, false},
		{"its own pet", red(a, 0), red(pet, a), false, false, true, false},
		{"a pet its master", red(pet, a), red(a, 0), false, false, false, true},
		{"a pet's fellow pet", red(pet, a), red(rocket, a), false, false, true, false},
		{"a projectile its shooter", red(rocket, a), red(a, 0), false, false, false, true},
		{"a projectile an enemy", red(rocket, a), blue(b, 0), true, true, true, true},
		{"a projectile a friend", red(rocket, a), red(b, 0), false, false, true, false},
		{"a projectile a projectile", red(rocket, a), blue(pet, b), true, true, true, true},
		{"everybody for himself", free(a, 0), free(b, 0), true, true, true, true},
		{"himself", free(a, 0), free(a, 0), false, false, false, true},
		{"his rocket himself", free(rocket, a), free(a, 0), false, false, false, true},
		{"a team against none", red(a, 0), free(b, 0), true, true, true, true},
		{"a passer-by", red(a, 0), marked(blue(b, 0), Neutral), false, false, false, false},
		{"a barrel", red(a, 0), marked(free(b, 0), Thing), false, true, true, true},
		{"a barrel with a team", red(a, 0), marked(red(b, 0), Thing), false, true, true, true},
		{"one just spawned", red(a, 0), marked(blue(b, 0), Protected), true, false, false, false},
		{"by one just spawned", marked(red(a, 0), Protected), blue(b, 0), true, true, true, true},
	} {
		if got := Hostile(c.attacker, c.target); got != c.hostile || got != Hostile(c.target, c.attacker) {
			t.Errorf("%d %s: hostile %v, back %v", i, c.what, got, Hostile(c.target, c.attacker))
		}
		for way, want := range map[Harm]bool{HarmEnemies: c.gun, HarmEveryone: c.fist, HarmEnemiesAndSelf: c.explode} {
			spared := c.target.Team == way.Spare(c.attacker.Team) && c.target.Team != lagcomp.NoTeam
			if c.target.Marks == 0 && c.target.ID != c.attacker.owner() && c.target.owner() != c.attacker.owner() && spared == want {
				t.Errorf("%d %s: way %d: the sweep says otherwise", i, c.what, way)
			}
			if got := Harms(way, c.attacker, c.target); got != want {
				t.Errorf("%d %s: way %d harms: %v", i, c.what, way, got)
			}
		}
	}
}

func TestRow07Root(t *testing.T) {
	owners := map[netid.ID]netid.ID{2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 7, 8: 9, 9: 8}
	for id, want := range map[netid.ID]netid.ID{1: 1, 2: 1, 3: 1, 5: 1, 6: 2, 7: 7, 8: 8, 9: 9, 10: 10} {
		if got := Root(id, func(id netid.ID) netid.ID { return owners[id] }); got != want {
			t.Errorf("root of %d: %d, want %d", id, got, want)
		}
	}
}
