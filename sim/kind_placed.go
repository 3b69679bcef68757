package sim

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// SpawnPoint is a place where players spawn.
type SpawnPoint struct {
	arena.Spawn
	Base int8 // the capture point whose base it belongs to; -1: none
}

func init() {
	declareKind(&kindSpec{
		name: "barrel", page: pageBarrel, datum: dBarrels,
		columns: []columnSpec{column[object.Barrel](full)},
		count:   func(m *Match) int { return len(m.layout().Barrels) },
		place: func(m *Match) {
			placeBarrels(m)
			m.scene.PlaceBarrels()
		},
		restart: placeBarrels,
		bind:    func(m *Match) { m.scene.Barrels = rowsOf[object.Barrel](m, pageBarrel) },
		valid: func(m *Match) error {
			for i := range m.scene.Barrels {
				whole := m.scene.BarrelKind.NewBarrel(netid.Make(FirstBarrel+i, 1), m.layout().Barrels[i])
				b := &m.scene.Barrels[i]
				if b.ID != whole.ID || b.Pos != whole.Pos || b.Health > whole.Health {
					return wrong("barrel", *b)
				}
			}
			return nil
		},
	})
	declareKind(&kindSpec{
		name: "cube", page: pageCube, datum: dCubes,
		columns: []columnSpec{column[object.Cube](full)},
		count:   func(m *Match) int { return len(m.layout().Cubes) },
		place:   placeCubes,
		restart: placeCubes,
		bind:    func(m *Match) { m.scene.Cubes = rowsOf[object.Cube](m, pageCube) },
		valid: func(m *Match) error {
			for i := range m.scene.Cubes {
				// one that never moved is where content put it
				c := &m.scene.Cubes[i]
				if c.ID != netid.Make(FirstCube+i, 1) || !c.Valid() && c.Pos != m.layout().Cubes[i] {
					return wrong("cube", *c)
				}
			}
			return nil
		},
	})
	declareKind(&kindSpec{
		name: "teleporter", page: pageTeleporter, datum: dTeleporters,
		columns: []columnSpec{column[object.Teleporter](full)},
		count:   func(m *Match) int { return len(m.layout().Teleporters) },
		place:   func(m *Match) { copy(m.objects.Ports, m.layout().Teleporters) },
		bind:    func(m *Match) { m.objects.Ports = rowsOf[object.Teleporter](m, pageTeleporter) },
		valid: func(m *Match) error {
			for i := range m.objects.Ports {
				want := m.layout().Teleporters[i]
				want.Effect = m.objects.Ports[i].Effect
				if m.objects.Ports[i] != want || want.Effect > m.Tick() {
					return wrong("teleporter", m.objects.Ports[i])
				}
			}
			return nil
		},
	})
	declareKind(&kindSpec{
		name: "capture point", page: pagePoint, datum: dZones,
		columns: []columnSpec{column[object.Zone](derived), column[mode.Occupancy](full)},
		count:   func(m *Match) int { return len(m.layout().Points) },
		place:   func(m *Match) { copy(m.objects.Zones, m.layout().Points) },
		bind: func(m *Match) {
			m.objects.Zones = rowsOf[object.Zone](m, pagePoint)
			m.objects.Occupied = rowsOf[mode.Occupancy](m, pagePoint)
		},
	})
	declareKind(&kindSpec{
		name: "damage area", page: pageArea, datum: dAreas,
		columns: []columnSpec{column[object.Area](derived)},
		count:   func(m *Match) int { return len(m.layout().Areas) },
		place: func(m *Match) {
			for i, a := range m.layout().Areas {
				m.objects.Areas[i] = object.Area(a)
			}
		},
		bind: func(m *Match) { m.objects.Areas = rowsOf[object.Area](m, pageArea) },
	})
	declareKind(&kindSpec{
		name: "home", page: pageHome, datum: dZones,
		columns: []columnSpec{column[Home](derived)},
		count:   func(m *Match) int { return len(m.layout().Homes) },
		place:   func(m *Match) { copy(m.objects.Homes, m.layout().Homes) },
		bind:    func(m *Match) { m.objects.Homes = rowsOf[Home](m, pageHome) },
	})
	declareKind(&kindSpec{
		name: "spawn point", page: pageSpawnPoint, datum: dMode,
		columns: []columnSpec{column[SpawnPoint](derived)},
		count:   func(m *Match) int { return len(m.arena.Spawns) },
		place: func(m *Match) {
			for i, s := range m.arena.Spawns {
				m.objects.Spawns[i] = SpawnPoint{s, nearestBase(m.layout(), s.Pos)}
			}
		},
		bind: func(m *Match) { m.objects.Spawns = rowsOf[SpawnPoint](m, pageSpawnPoint) },
	})
}

// layout is what the map of the match places.
func (m *Match) layout() *Layout { return &m.kit.game.Layout }

// placeBarrels writes all barrels whole.
func placeBarrels(m *Match) {
	for i, pos := range m.layout().Barrels {
		m.scene.Barrels[i] = m.scene.BarrelKind.NewBarrel(netid.Make(FirstBarrel+i, 1), pos)
	}
}

// placeCubes writes all cubes at their places, still.
func placeCubes(m *Match) {
	for i, pos := range m.layout().Cubes {
		c := object.SpawnCubes(1, geom.Vec3{}, &m.scene.CubeKind,
			func(int) netid.ID { return netid.Make(FirstCube+i, 1) }, nil)[0]
		c.Pos = pos
		m.scene.Cubes[i] = c
	}
}

// checkItems checks the items of the map and their kinds.
func (g *Game) checkItems() error {
	for i := range g.Items {
		if k := &g.Items[i]; k.RespawnMillis < 0 || k.RespawnMillis > object.MaxItemRespawn || k.Heal < 0 {
			return fmt.Errorf("item kind %d: %d points, gone for %d ms: expected 0 or more, and at most %d ms", i,
				k.Heal, k.RespawnMillis, object.MaxItemRespawn)
		}
	}
	for i := range g.Layout.Items {
		if k := g.Layout.Items[i].Kind; int(k) >= len(g.Items) {
			return fmt.Errorf("item %d of the map: kind %d: expected one of %d", i, k, len(g.Items))
		}
	}
	return nil
}

// checkObjects checks the objects that a map places by name.
func (l *Layout) checkObjects() error {
	for i := range l.Objects {
		if k := kindNamed(l.Objects[i].Kind); k == nil || !k.byName {
			return fmt.Errorf("object %d of the map: kind %q: expected one of: %s", i, l.Objects[i].Kind,
				placeableNames())
		}
	}
	return nil
}
