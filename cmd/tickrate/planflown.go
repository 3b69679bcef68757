package main

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/object"
	"github.com/tickrate/tickrate/sim/sight"
)

// flown is all that flies, for players who are told of what is in a part of the map that they see, and what is their own.
type flown struct {
	grid  *interest.Grid
	ids   []ecs.NetID // by slot
	born  []tick.Tick
	of    []ecs.NetID // whose it is
	x, z  []float32
	team  []uint8 // none: teams are told of no flights for being theirs
	slots []int   // those of all that flies
}

// flownSlots is how many projectiles, and how many grenades, may fly at a time; more are not looked at.
const flownSlots = 2048

// newFlown sees what players see by a grid's cells.
func newFlown(c interest.Config) *flown {
	c.Slots = 2 * flownSlots
	return &flown{grid: interest.NewGrid(c), ids: make([]ecs.NetID, c.Slots), born: make([]tick.Tick, c.Slots), of: make([]ecs.NetID, c.Slots), x: make([]float32, c.Slots),
		z: make([]float32, c.Slots), team: make([]uint8, c.Slots)}
}

// fill takes in what flies now; houses hide it as high up as it is.
func (f *flown) fill(m *sim.Match, walls *sight.Lazy) {
	for _, slot := range f.slots {
		f.ids[slot] = 0
	}
	o, ammo, now := m.Objects(), m.Kit().Ammo, m.Tick()
	f.slots = f.slots[:0]
	put := func(slot int, id, of ecs.NetID, born tick.Tick, x, y, z float32) {
		f.ids[slot], f.of[slot], f.born[slot], f.x[slot], f.z[slot] = id, of, born, x, z
		if f.slots = append(f.slots, slot); walls != nil {
			walls.Raise(x, y, z)
		}
	}
	for i := range o.Projectiles {
		p := &o.Projectiles[i]
		at := p.Point
		if p.Struck == object.Flying && int(p.Type) < len(ammo) {
			at = p.At(&ammo[p.Type], now)
		}
		if slot := p.ID.Index() - sim.FirstProjectile; slot < flownSlots {
			put(slot, ecs.MakeNetID(slot, p.ID.Generation()), p.Owner, p.Tick, at.X, at.Y, at.Z)
		}
	}
	for i := range o.Grenades {
		g := &o.Grenades[i]
		if slot := g.ID.Index() - sim.FirstGrenade; slot < flownSlots {
			slot += flownSlots
			put(slot, ecs.MakeNetID(slot, g.ID.Generation()), g.Owner, g.Thrown, g.Pos.X, g.Pos.Y, g.Pos.Z)
		}
	}
	f.grid.Fill(f.ids, f.x, f.z, f.team, nil)
}

// look is what a player is told of, who stands somewhere and was told last in a tick. was is what it saw then, and becomes what it sees.
func (f *flown) look(eyes *interest.Client, was []uint64, id ecs.NetID, x, z float32, last tick.Tick) (n flight) {
	eyes.See(f.grid, interest.Viewer{Slot: -1, X: x, Z: z})
	seen := eyes.Seen()
	n.all = len(f.slots)
	for _, slot := range f.slots {
		bit, own := uint64(1)<<(slot&63), f.of[slot] == id
		sees := seen[slot>>6]&bit != 0 || own
		if sees {
			n.told++
		}
		switch {
		case f.born[slot] > last:
			if n.launches++; sees {
				n.launchesNow++
			}
		case sees && was[slot>>6]&bit == 0 && !own:
			n.came++
		}
	}
	copy(was, seen)
	return n
}
