package main

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/object"
	"github.com/tickrate/tickrate/sim/sight"
)

// flown is what of all that flies players are told of: what is in a part of the map that they see, and what is their own.
type flown struct {
	grid  *interest.Grid
	looks []*interest.Client
	were  [][]uint64
	ids   []ecs.NetID // by slot
	born  []tick.Tick
	of    []ecs.NetID // whose it is
	x, z  []float32
	team  []uint8
	slots []int // those of all that flies

	all, told, fresh, toldNew, appeared int // of the look at hand: what flies, what of it is told, what set out since the last one, what of that is told, and what else came in sight
}

// flownSlots is how many projectiles, and how many grenades, may fly at a time; more are not looked at.
const flownSlots = 2048

// newFlown sees what players see by a grid's cells.
func newFlown(c interest.Config, eyes int) *flown {
	c.Slots = 2 * flownSlots
	f := &flown{grid: interest.NewGrid(c), ids: make([]ecs.NetID, c.Slots), born: make([]tick.Tick, c.Slots), of: make([]ecs.NetID, c.Slots), x: make([]float32, c.Slots),
		z: make([]float32, c.Slots), team: make([]uint8, c.Slots)}
	for range eyes {
		f.looks, f.were = append(f.looks, interest.NewClient(f.grid)), append(f.were, make([]uint64, f.grid.Words()))
	}
	return f
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

// look is what the i-th player is told of, who stands somewhere and was told last in a tick.
func (f *flown) look(i int, id ecs.NetID, x, z float32, last tick.Tick) {
	f.looks[i].See(f.grid, interest.Viewer{Slot: -1, X: x, Z: z})
	f.told, f.fresh, f.toldNew, f.appeared = 0, 0, 0, 0
	seen, were := f.looks[i].Seen(), f.were[i]
	f.all = len(f.slots)
	for _, slot := range f.slots {
		bit := uint64(1) << (slot & 63)
		sees := seen[slot>>6]&bit != 0 || f.of[slot] == id
		if sees {
			f.told++
		}
		switch {
		case f.born[slot] > last:
			if f.fresh++; sees {
				f.toldNew++
			}
		case sees && were[slot>>6]&bit == 0 && f.of[slot] != id:
			f.appeared++
		}
	}
	copy(were, seen)
}
