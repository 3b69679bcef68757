package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/object"
)

// GameFromPack is the game of a content pack in one of its modes, with the objects of one of its
// maps; map "" is bare ground. Heroes have the pack's ids. The error names what the pack lacks.
func GameFromPack(p *content.Pack, onMap, inMode string) (*Game, error) {
	g := &Game{Pack: p.Shared(), Barrel: p.Barrel.BarrelKind, Effects: p.EffectTable(), Cube: p.Cube, Zone: object.Zone{Radius: p.Zone.Radius,
		Height: p.Zone.Height}, HeadScale: p.Rules.HeadScale, RewindMillis: p.Rules.RewindMillis}
	for i := range p.Heroes {
		g.Heroes = append(g.Heroes, Hero{p.HeroParams(i), p.Heroes[i].Body})
	}
	for i := range p.Projectiles {
		g.Projectiles = append(g.Projectiles, p.Projectiles[i].ProjectileKind)
	}
	if len(p.Grenades) > 0 {
		g.Grenade = p.Grenades[0].GrenadeKind
	}
	for i := range p.Items {
		g.Items = append(g.Items, p.Items[i].Kind)
	}
	i := slices.IndexFunc(p.Modes, func(m content.Mode) bool { return m.Name == inMode })
	if i < 0 {
		return nil, fmt.Errorf("pack %s has no mode %q, only %s", p.Name, inMode, modes(p))
	}
	g.Mode = p.Modes[i].Params
	if onMap == "" {
		return g, nil
	}
	i = slices.IndexFunc(p.Maps, func(m content.Map) bool { return m.Name == onMap })
	switch {
	case i < 0:
		return nil, fmt.Errorf("pack %s has no map %q", p.Name, onMap)
	case !slices.Contains(p.Maps[i].Modes, inMode):
		return nil, fmt.Errorf("pack %s: %s is not played on %s", p.Name, inMode, onMap)
	}
	return g, g.addLayout(p, &p.Maps[i])
}

// GameForArena is GameFromPack on an arena, whose objects come from the pack's map of that name,
// or else from the first map with this arena. An arena unknown to the pack is bare ground, where
// Game.OnArena places capture points. Both ends call it with the same arguments and get the same
// game.
func GameForArena(p *content.Pack, ground, inMode string) (*Game, error) {
	i := slices.IndexFunc(p.Maps, func(m content.Map) bool { return m.Name == ground })
	if i < 0 {
		i = slices.IndexFunc(p.Maps, func(m content.Map) bool { return m.Arena == ground })
	}
	if i >= 0 {
		return GameFromPack(p, p.Maps[i].Name, inMode)
	}
	return GameFromPack(p, "", inMode)
}

// addLayout adds the objects of a map.
func (g *Game) addLayout(p *content.Pack, m *content.Map) error {
	l := &g.Layout
	for _, h := range m.Homes {
		l.Homes = append(l.Homes, Home(h))
	}
	for _, at := range m.Points {
		l.Points = append(l.Points, object.Zone{Center: at.At, Radius: p.Zone.Radius, Height: p.Zone.Height})
	}
	for _, b := range m.Barrels {
		l.Barrels = append(l.Barrels, b.At)
	}
	for _, c := range m.Cubes {
		l.Cubes = append(l.Cubes, c.At.Add(geom.Vec3{Y: float32(g.Cube.Edge * 0.5)}))
	}
	for _, f := range m.Areas {
		i := slices.IndexFunc(p.Areas, func(a content.Area) bool { return a.Name == f.Kind })
		if i < 0 {
			return fmt.Errorf("pack %s: map %s has an area of kind %q", p.Name, m.Name, f.Kind)
		}
		l.Areas = append(l.Areas, DamageArea{f.Box, p.Areas[i].Kind})
	}
	for _, t := range m.Teleporters {
		l.Teleporters = append(l.Teleporters, object.Teleporter{Box: t.Box, Target: t.Target, Yaw: t.Yaw})
	}
	for _, o := range m.Items {
		i := slices.IndexFunc(p.Items, func(k content.Item) bool { return k.Name == o.Kind })
		if i < 0 {
			return fmt.Errorf("pack %s: map %s has an item of kind %q", p.Name, m.Name, o.Kind)
		}
		l.Items = append(l.Items, PlacedItem{o.At, uint8(i)})
	}
	for _, o := range m.Objects {
		l.Objects = append(l.Objects, PlacedObject{o.Kind, o.At, o.Yaw})
	}
	if err := l.checkObjects(); err != nil {
		return fmt.Errorf("pack %s: map %s: %w", p.Name, m.Name, err)
	}
	return nil
}

// modes lists the modes of a pack.
func modes(p *content.Pack) string {
	var names []string
	for i := range p.Modes {
		names = append(names, p.Modes[i].Name)
	}
	return strings.Join(names, ", ")
}
