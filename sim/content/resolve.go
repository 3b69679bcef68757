package content

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// row is the key of row i of a list.
func row(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// nameForm is the form of a row's name: ASCII letters, digits, space, underscore, dot and hyphen.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _.-]*$`)

// generated is the form of an arena's name that makes one.
var generated = regexp.MustCompile(`^gen:[1-9][0-9]{0,4}:[0-9]{1,19}$`)

// names checks that a list has names, each once.
func (r *reader) names(list string, n int, name func(int) string, taken map[string]bool) error {
	for i := range n {
		s := name(i)
		if !nameForm.MatchString(s) {
			return r.fail(row(list, i)+".name",
				"%q, want letters, digits, spaces and _.-, a letter or digit first", s)
		}
		if taken[s] {
			return r.fail(row(list, i)+".name", "%q twice", s)
		}
		taken[s] = true
	}
	return nil
}

// known checks that a list of references names rows there are, each once.
func (r *reader) known(at string, refs []string, what string, rows map[string]bool) error {
	for i, s := range refs {
		if !rows[s] {
			return r.fail(at, "%q, want the name of a row of [[%s]]", s, what)
		}
		if slices.Contains(refs[:i], s) {
			return r.fail(at, "%q twice", s)
		}
	}
	return nil
}

// nameSets are the names of a pack's rows, by what they name.
type nameSets struct{ abilities, areas, items, modes, assets map[string]bool }

// rowNames collects the names of all rows, and checks that each is there once.
func (r *reader) rowNames(p *Pack) (*nameSets, error) {
	names := &nameSets{abilities: map[string]bool{}, areas: map[string]bool{}, items: map[string]bool{},
		modes: map[string]bool{}, assets: map[string]bool{}}
	flying := map[string]bool{} // projectiles and grenades share their names
	for _, l := range []struct {
		name  string
		n     int
		of    func(int) string
		taken map[string]bool
	}{
		{"hero", len(p.Heroes), func(i int) string { return p.Heroes[i].Name }, map[string]bool{}},
		{"ability", len(p.Abilities), func(i int) string { return p.Abilities[i].Name }, names.abilities},
		{"projectile", len(p.Projectiles), func(i int) string { return p.Projectiles[i].Name }, flying},
		{"grenade", len(p.Grenades), func(i int) string { return p.Grenades[i].Name }, flying},
		{"area", len(p.Areas), func(i int) string { return p.Areas[i].Name }, names.areas},
		{"effect", len(p.Effects), func(i int) string { return p.Effects[i].Name }, map[string]bool{}},
		{"item", len(p.Items), func(i int) string { return p.Items[i].Name }, names.items},
		{"mode", len(p.Modes), func(i int) string { return p.Modes[i].Name }, names.modes},
		{"map", len(p.Maps), func(i int) string { return p.Maps[i].Name }, map[string]bool{}},
		{"asset", len(p.Assets), func(i int) string { return p.Assets[i].Name }, names.assets},
	} {
		if err := r.names(l.name, l.n, l.of, l.taken); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// resolve checks what one key alone does not tell, and turns names into ids.
func (r *reader) resolve(p *Pack) error {
	names, err := r.rowNames(p)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name string
		n    int
	}{{"hero", len(p.Heroes)}, {"mode", len(p.Modes)}, {"map", len(p.Maps)}} {
		if l.n == 0 {
			return r.fail(l.name, "missing, want at least one [[%s]]", l.name)
		}
	}
	for i := range p.Abilities {
		if err := r.ability(p, &p.Abilities[i], row("ability", i), names.abilities); err != nil {
			return err
		}
	}
	for i := range p.Heroes {
		if err := r.hero(p, &p.Heroes[i], row("hero", i), names.abilities); err != nil {
			return err
		}
	}
	for i := range p.Modes {
		if _, err := p.Modes[i].Compile(checkRate); err != nil {
			return r.fail(row("mode", i), "%v", err)
		}
	}
	for i := range p.Maps {
		if err := r.mapRow(p, &p.Maps[i], row("map", i), names); err != nil {
			return err
		}
	}
	for i := range p.Assets {
		a := &p.Assets[i]
		if !fs.ValidPath(a.File) {
			return r.fail(row("asset", i)+".file", "%q, want a path below the pack", a.File)
		}
		if _, err := hex.DecodeString(a.SHA256); err != nil || strings.ToLower(a.SHA256) != a.SHA256 {
			return r.fail(row("asset", i)+".sha256", "want 64 digits 0-9 a-f")
		}
	}
	return cmp.Or(r.splashes(p), r.effects(p))
}

// bound is a rule between two keys.
type bound struct {
	broken     bool
	key, wants string
}

// bounds returns an error for the first broken rule. at is the path of the row.
func (r *reader) bounds(at string, list []bound) error {
	for _, b := range list {
		if b.broken {
			return r.fail(at+"."+b.key, "want %s", b.wants)
		}
	}
	return nil
}

// splashes checks that the inner and outer values of each splash are in order.
func (r *reader) splashes(p *Pack) error {
	check := func(at string, s *object.Splash) error {
		return r.bounds(at+".splash", []bound{
			{s.FalloffStart > s.Radius, "falloff_start_m", "at most radius_m"},
			{s.MinDamage > s.Damage, "min_damage", "at most damage"},
			{s.MinImpulse > s.Impulse, "min_impulse", "at most impulse"},
		})
	}
	for i := range p.Projectiles {
		if err := check(row("projectile", i), &p.Projectiles[i].Splash); err != nil {
			return err
		}
	}
	for i := range p.Grenades {
		if err := check(row("grenade", i), &p.Grenades[i].Splash); err != nil {
			return err
		}
	}
	if p.Barrel.Height < 2*p.Barrel.Radius {
		return r.fail("barrel.height_m", "want at least twice radius_m")
	}
	return check("barrel", &p.Barrel.Splash)
}

// ability checks the references of an ability, and its keys against each other.
func (r *reader) ability(p *Pack, a *Ability, at string, abilities map[string]bool) error {
	if err := r.known(at+".runs_with", a.RunsWith, "ability", abilities); err != nil {
		return err
	}
	if !slices.Equal(a.Interrupts, []string{"*"}) {
		if err := r.known(at+".interrupts", a.Interrupts, "ability", abilities); err != nil {
			return err
		}
	}
	switch a.Kind {
	case ability.Gun:
		return r.gun(p, a, at)
	case ability.Launcher:
		return r.checkGrenades(p, a, at)
	case ability.Melee:
		return r.bounds(at, []bound{{a.Melee.ImpactMillis >= a.Melee.PeriodMillis, "impact_ms",
			"less than period_ms"}})
	case ability.Rocket:
		return r.bounds(at, []bound{{a.Rocket.CooldownMillis < a.Rocket.ActiveMillis, "cooldown_ms",
			"at least active_ms"}})
	}
	return nil
}

// projectile is the row of a name, -1 if there is none.
func (p *Pack) projectile(name string) int {
	return slices.IndexFunc(p.Projectiles, func(o Projectile) bool { return o.Name == name })
}

// gun gives a gun its projectile, and the projectile's range.
func (r *reader) gun(p *Pack, a *Ability, at string) error {
	g := &a.Gun
	if a.Flies != "" {
		i := p.projectile(a.Flies)
		if i < 0 {
			return r.fail(at+".fires", "%q, want the name of a row of [[projectile]]", a.Flies)
		}
		g.Projectile, g.Range = ability.Hitscan+1+ability.Projectile(i), p.Projectiles[i].Range
	}
	return r.bounds(at, []bound{
		{g.MostPerSec > g.RoundsPerSec && g.ConeDegrees > 0, "cone_degrees", "0 of what has most_per_sec"},
		{float64(g.ReloadMillis) < math.Floor(1000/float64(g.RoundsPerSec)), "reload_ms",
			"at least the time between two shots"},
	})
}

// checkGrenades gives a launcher its projectile and its range, or its grenade.
func (r *reader) checkGrenades(p *Pack, a *Ability, at string) error {
	l := &a.Launcher
	if i := p.projectile(a.Flies); i >= 0 {
		l.Projectile, l.Range = ability.Hitscan+1+ability.Projectile(i), p.Projectiles[i].Range
	} else if slices.ContainsFunc(p.Grenades, func(g Grenade) bool { return g.Name == a.Flies }) {
		l.Projectile = ability.Grenade
	} else {
		return r.fail(at+".throws", "%q, want the name of a row of [[projectile]] or [[grenade]]", a.Flies)
	}
	grenade := l.Projectile == ability.Grenade
	return r.bounds(at, []bound{
		{grenade && l.Speed == 0, "speed", "more than 0 for a grenade"},
		{!grenade && l.Speed != 0, "speed", "none: a projectile has its own velocity"},
		{l.CooldownMillis < l.ActiveMillis, "cooldown_ms", "at least active_ms"},
	})
}

// hero checks the references and the body of a hero, and compiles it once.
func (r *reader) hero(p *Pack, h *Hero, at string, abilities map[string]bool) error {
	if err := r.known(at+".abilities", h.Abilities, "ability", abilities); err != nil {
		return err
	}
	b := &h.Body
	if err := r.bounds(at+".body", []bound{
		{b.HeightMetres < float32(2*b.RadiusMetres)+0.01, "height_m", "more than twice radius_m"},
		{b.EyeMetres > b.HeightMetres, "eye_m", "at most height_m"},
		{b.JumpMetres > move.TopSpeed*float32(b.JumpMillis)/1000, "jump_m",
			fmt.Sprintf("at most %d m/s in jump_ms", move.TopSpeed)},
	}); err != nil {
		return err
	}
	if _, err := b.Compile(); err != nil {
		return r.fail(at+".body", "%v", err)
	}
	// What is left to find is about the hero's list as a whole.
	if _, err := p.params(h).Compile(checkRate); err != nil {
		return r.fail(at+".abilities", "%v", err)
	}
	return nil
}

// checkRate is the rate at which a pack is checked: the most rounds a second that a gun may have.
const checkRate tick.Rate = 128

// anywhere is the bounds of the largest arena.
var anywhere = geom.AABB{Min: geom.Vec3{X: -arena.Limit, Y: -arena.Limit, Z: -arena.Limit},
	Max: geom.Vec3{X: arena.Limit, Y: arena.Limit, Z: arena.Limit}}

// mapRow checks the references and the places of a map.
func (r *reader) mapRow(p *Pack, m *Map, at string, names *nameSets) error {
	if err := r.known(at+".modes", m.Modes, "mode", names.modes); err != nil {
		return err
	}
	if !names.assets[m.Arena] && !slices.Contains(arena.Names(), m.Arena) && !generated.MatchString(m.Arena) {
		return r.fail(at+".arena", "%q, want gen:PLAYERS:SEED, an asset, or %s", m.Arena,
			strings.Join(arena.Names(), ", "))
	}
	for i := range p.Assets {
		if a := &p.Assets[i]; a.Name == m.Arena && a.Needed != Both {
			return r.fail(at+".arena", "asset %q is for one side, want both", a.Name)
		}
	}
	if err := r.names(at+".point", len(m.Points), func(i int) string { return m.Points[i].Name },
		map[string]bool{}); err != nil {
		return err
	}
	for i := range m.Areas {
		if !names.areas[m.Areas[i].Kind] {
			return r.fail(at+"."+row("area", i)+".kind", "%q, want the name of a row of [[area]]",
				m.Areas[i].Kind)
		}
	}
	for i := range m.Items {
		if !names.items[m.Items[i].Kind] {
			return r.fail(at+"."+row("item", i)+".kind", "%q, want the name of a row of [[item]]",
				m.Items[i].Kind)
		}
	}
	for i := range m.Movers {
		mover := m.Movers[i].arena()
		if err := mover.Check(anywhere); err != nil {
			return r.fail(at+"."+row("mover", i), "%v", err)
		}
	}
	for i := range p.Modes {
		o := &p.Modes[i]
		if o.Kind == mode.Assault && slices.Contains(m.Modes, o.Name) && int(o.Points) != len(m.Points) {
			return r.fail(at+".point", "%d capture points, want the %d of mode %q", len(m.Points), o.Points,
				o.Name)
		}
	}
	return nil
}
