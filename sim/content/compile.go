package content

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// Tables are a pack for one tick rate, as the packages of the match take it. An id is an index.
// They are read-only; any number of lobbies share them.
type Tables struct {
	Rate        tick.Rate
	Shared      [32]byte // of the pack, see Pack.Shared
	Heroes      []CompiledHero
	Projectiles []object.CompiledProjectile // by object.Trajectory.Type, an ability.Projectile - 1
	Grenades    []object.CompiledGrenade    // by object.Grenade.Type
	Barrel      object.BarrelKind
	Cube        object.CubeKind
	Areas       []object.AreaKind
	Items       []object.ItemKind
	Effects     EffectTable
	Modes       []*mode.Rules
	Rules       Rules

	pack *Pack
}

// CompiledHero is a hero for one tick rate. It is read-only.
type CompiledHero struct {
	Name    string
	Ability *ability.Hero
	Body    *move.Body
}

// Compile converts a pack for a tick rate. An error names the row; only what a rate makes
// impossible is left to go wrong.
func (p *Pack) Compile(rate tick.Rate) (*Tables, error) {
	if !rate.Valid() {
		return nil, fmt.Errorf("pack %s: %d ticks a second, want %d to %d", p.Name, rate, tick.MinRate,
			tick.MaxRate)
	}
	t := &Tables{Rate: rate, Shared: p.shared, Barrel: p.Barrel.BarrelKind, Effects: p.EffectTable(), Cube: p.Cube, Rules: p.Rules, pack: p}
	for i := range p.Heroes {
		h := &p.Heroes[i]
		a, err := p.params(h).Compile(rate)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", p.Name, err)
		}
		body, err := h.Body.Compile()
		if err != nil {
			return nil, fmt.Errorf("pack %s: hero %s: body: %w", p.Name, h.Name, err)
		}
		t.Heroes = append(t.Heroes, CompiledHero{h.Name, a, body})
	}
	for i := range p.Projectiles {
		t.Projectiles = append(t.Projectiles, p.Projectiles[i].Compile(rate))
	}
	for i := range p.Grenades {
		t.Grenades = append(t.Grenades, p.Grenades[i].GrenadeKind.Compile(rate))
	}
	for i := range p.Areas {
		t.Areas = append(t.Areas, p.Areas[i].Kind)
	}
	for i := range p.Items {
		t.Items = append(t.Items, p.Items[i].Kind)
	}
	for i := range p.Modes {
		r, err := p.Modes[i].Compile(rate)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", p.Name, err)
		}
		t.Modes = append(t.Modes, r)
	}
	return t, nil
}

// HeroParams is hero i as package ability takes it.
func (p *Pack) HeroParams(i int) ability.HeroParams { return p.params(&p.Heroes[i]) }

// params puts a hero's abilities together. Names of abilities that it has not are left out of their
// lists.
func (p *Pack) params(h *Hero) ability.HeroParams {
	out := ability.HeroParams{Name: h.Name, Health: h.Health}
	own := func(names []string) (kept []string) {
		for _, name := range names {
			if name == "*" || slices.Contains(h.Abilities, name) {
				kept = append(kept, name)
			}
		}
		return kept
	}
	for _, name := range h.Abilities {
		i := slices.IndexFunc(p.Abilities, func(a Ability) bool { return a.Name == name })
		s := p.Abilities[i].SlotParams
		s.RunsWith, s.Interrupts = own(s.RunsWith), own(s.Interrupts)
		out.Slots = append(out.Slots, s)
	}
	return out
}

// Hero is the id of a hero, -1 if there is none of that name.
func (t *Tables) Hero(name string) int {
	return slices.IndexFunc(t.pack.Heroes, func(h Hero) bool { return h.Name == name })
}

// Mode is the id of a mode, -1 if there is none of that name.
func (t *Tables) Mode(name string) int {
	return slices.IndexFunc(t.pack.Modes, func(m Mode) bool { return m.Name == name })
}

// Map is the id of a map, -1 if there is none of that name.
func (t *Tables) Map(name string) int {
	return slices.IndexFunc(t.pack.Maps, func(m Map) bool { return m.Name == name })
}

// Item is the id of a kind of item, -1 if there is none of that name.
func (t *Tables) Item(name string) int {
	return slices.IndexFunc(t.pack.Items, func(i Item) bool { return i.Name == name })
}

// Area is the id of a kind of damage area, -1 if there is none of that name.
func (t *Tables) Area(name string) int {
	return slices.IndexFunc(t.pack.Areas, func(a Area) bool { return a.Name == name })
}

// Stage is a map, ready to play: what the owner of a match makes rows of.
type Stage struct {
	Arena       *arena.Arena
	Modes       []int // ids of those that may be played
	Homes       []Home
	Zones       []object.Zone // in the order in which they are attacked
	Points      []string      // their names
	Barrels     []geom.Vec3
	Cubes       []geom.Vec3
	Areas       []StageArea
	Teleporters []object.Teleporter
	Items       []StageItem
}

// StageItem is an item of a map.
type StageItem struct {
	At   geom.Vec3
	Kind int // id
}

// StageArea is a damage area of a map.
type StageArea struct {
	Box  geom.AABB
	Kind int // id
}

// Maps is how many maps there are.
func (t *Tables) Maps() int { return len(t.pack.Maps) }

// Stage opens the arena of map i, 0 to Maps-1, and checks that all stands inside it. Slices are
// new.
func (t *Tables) Stage(i int) (*Stage, error) {
	m := &t.pack.Maps[i]
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("pack %s: map %s: %w", t.pack.Name, m.Name, fmt.Errorf(format, args...))
	}
	s := &Stage{Homes: slices.Clone(m.Homes)}
	var err error
	if s.Arena, err = t.pack.ground(m); err != nil {
		return nil, wrong("%w", err)
	}
	for _, name := range m.Modes {
		s.Modes = append(s.Modes, t.Mode(name))
	}
	for _, p := range m.Points {
		s.Zones = append(s.Zones, object.Zone{Center: p.At, Radius: t.pack.Zone.Radius,
			Height: t.pack.Zone.Height})
		s.Points = append(s.Points, p.Name)
	}
	for _, b := range m.Barrels {
		s.Barrels = append(s.Barrels, b.At)
	}
	for _, c := range m.Cubes {
		s.Cubes = append(s.Cubes, c.At)
	}
	for _, f := range m.Areas {
		s.Areas = append(s.Areas, StageArea{f.Box, t.Area(f.Kind)})
	}
	for _, p := range m.Teleporters {
		s.Teleporters = append(s.Teleporters, object.Teleporter{Box: p.Box, Target: p.Target, Yaw: p.Yaw})
	}
	for _, p := range m.Items {
		s.Items = append(s.Items, StageItem{p.At, t.Item(p.Kind)})
	}
	if what, i := s.outside(); what != "" {
		return nil, wrong("%s[%d]: outside the arena %s", what, i, m.Arena)
	}
	return s, nil
}

// outside is what does not stand in the arena, "" if all does.
func (s *Stage) outside() (what string, i int) {
	out := func(p geom.Vec3) bool {
		b := &s.Arena.Bounds
		return p != p.Max(b.Min).Min(b.Max)
	}
	for i := range s.Zones {
		if out(s.Zones[i].Center) {
			return "point", i
		}
	}
	for i, p := range s.Barrels {
		if out(p) {
			return "barrel", i
		}
	}
	for i, p := range s.Cubes {
		if out(p) {
			return "cube", i
		}
	}
	for i := range s.Items {
		if out(s.Items[i].At) {
			return "item", i
		}
	}
	for i := range s.Teleporters {
		if out(s.Teleporters[i].Target) {
			return "teleporter", i
		}
	}
	return "", 0
}

// Ground opens the arena of a map; false if there is no map of that name. It is read again at each
// call.
func (p *Pack) Ground(onMap string) (a *arena.Arena, ok bool, err error) {
	for i := range p.Maps {
		if p.Maps[i].Name == onMap {
			a, err = p.ground(&p.Maps[i])
			return a, true, err
		}
	}
	return nil, false, nil
}

// ground opens the arena of a map with the movers that the map adds.
func (p *Pack) ground(m *Map) (*arena.Arena, error) {
	a, err := p.arena(m.Arena)
	if err != nil || len(m.Movers) == 0 {
		return a, err
	}
	movers := slices.Clone(a.Movers)
	for i := range m.Movers {
		movers = append(movers, m.Movers[i].arena())
	}
	if a, err = arena.New(a.Name, a.Bounds, a.Solids, a.Spawns, movers...); err != nil {
		return nil, fmt.Errorf("arena %s with the map's movers: %w", m.Arena, err)
	}
	return a, nil
}

// arena opens one by the name that maps use. Only what is built in, generated or an asset: never a
// path.
func (p *Pack) arena(name string) (*arena.Arena, error) {
	text, ok := p.bytes[name]
	if !ok {
		return arena.Open(name)
	}
	a, err := arena.Load(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("asset %s: %w", name, err)
	}
	a.Name = name
	return a, nil
}
