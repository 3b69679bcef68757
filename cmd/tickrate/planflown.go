package main

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/object"
	"github.com/tickrate/tickrate/sim/pvs"
)

// flown is all that flies, for players who are told of what is in a part of the map that they see, and what is their own. It comes in pages, the first of which is
// mostly enough: what nobody fires takes no time.
type flown struct {
	grid  interest.Config // of each page
	pages []page
}

// page is what flies in some slots: pageShells of projectiles, and then pageGrenades of grenades.
type page struct {
	grid  *interest.Grid
	ids   []netid.ID // by slot
	born  []tick.Tick
	of    []netid.ID // whose it is
	x, z  []float32
	team  []uint8 // none: teams are told of no flights for being theirs
	slots []int   // those of all that flies
}

// sky is what a player sees of a page.
type sky struct {
	eyes *interest.Client
	was  []uint64 // in the snapshot before
}

// flownSlots is how many projectiles, and how many grenades, may fly at a time; more are not looked at.
const (
	flownSlots   = 2048
	pageShells   = 192
	pageGrenades = 64
)

// newFlown sees what players see by a grid's cells.
func newFlown(c interest.Config) *flown {
	c.Slots = pageShells + pageGrenades
	return &flown{grid: c}
}

// page is the k-th, made for the first who asks.
func (f *flown) page(k int) *page {
	for len(f.pages) <= k {
		n := f.grid.Slots
		f.pages = append(f.pages, page{grid: interest.NewGrid(f.grid), ids: make([]netid.ID, n), born: make([]tick.Tick, n), of: make([]netid.ID, n), x: make([]float32, n),
			z: make([]float32, n), team: make([]uint8, n)})
	}
	return &f.pages[k]
}

// fill takes in what flies now; houses hide it as high up as it is.
func (f *flown) fill(m *sim.Match, walls *pvs.Lazy) {
	for k := range f.pages {
		p := &f.pages[k]
		for _, slot := range p.slots {
			p.ids[slot] = 0
		}
		p.slots = p.slots[:0]
	}
	o, ammo, now := m.Objects(), m.Kit().Ammo, m.Tick()
	put := func(p *page, slot int, id, of netid.ID, born tick.Tick, at geom.Vec3) {
		p.ids[slot], p.of[slot], p.born[slot], p.x[slot], p.z[slot] = id, of, born, at.X, at.Z
		if p.slots = append(p.slots, slot); walls != nil {
			walls.Raise(at.X, at.Y, at.Z)
		}
	}
	for i := range o.Projectiles {
		p := &o.Projectiles[i]
		at := p.Point
		if p.Struck == object.Flying && int(p.Type) < len(ammo) {
			at = p.At(&ammo[p.Type], now)
		}
		if slot := p.ID.Index() - sim.FirstProjectile; slot < flownSlots {
			put(f.page(slot/pageShells), slot%pageShells, p.ID, p.Owner, p.Tick, at)
		}
	}
	for i := range o.Grenades {
		g := &o.Grenades[i]
		if slot := g.ID.Index() - sim.FirstGrenade; slot < flownSlots {
			put(f.page(slot/pageGrenades), pageShells+slot%pageGrenades, g.ID, g.Owner, g.Thrown, g.Pos)
		}
	}
	for k := range f.pages {
		p := &f.pages[k]
		p.grid.Fill(p.ids, p.x, p.z, p.team, nil)
	}
}

// look is what a player is told of, who stands somewhere and was told last in a tick.
func (f *flown) look(l *looker, id netid.ID, x, z float32, last tick.Tick) (n flight) {
	for k := range f.pages {
		p := &f.pages[k]
		if k == len(l.skies) {
			l.skies = append(l.skies, sky{interest.NewClient(p.grid), make([]uint64, p.grid.Words())})
		}
		n.add(p.look(&l.skies[k], id, x, z, last))
	}
	return n
}

func (p *page) look(s *sky, id netid.ID, x, z float32, last tick.Tick) (n flight) {
	s.eyes.UpdateVisible(p.grid, interest.Viewer{Slot: -1, X: x, Z: z})
	seen := s.eyes.Visible()
	n.all = len(p.slots)
	for _, slot := range p.slots {
		bit, own := uint64(1)<<(slot&63), p.of[slot] == id
		sees := seen[slot>>6]&bit != 0 || own
		if sees {
			n.told++
		}
		switch {
		case p.born[slot] > last:
			if n.launches++; sees {
				n.launchesNow++
			}
		case sees && s.was[slot>>6]&bit == 0 && !own:
			n.came++
		}
	}
	copy(s.was, seen)
	return n
}
