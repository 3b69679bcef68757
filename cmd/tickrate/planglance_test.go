package main

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// What matches by themselves take to be told is what clients in a lobby over links decode: how often rows come in sight, which blocks are whole, and of which flights
// they are told, at once or later.
func TestGlancesAreWhatClientsAreTold(t *testing.T) {
	if testing.Short() {
		t.Skip("plays matches over links, by the dozen")
	}
	for _, c := range []struct {
		l       lesson
		matches int
	}{
		{lesson{72, 60, 3, "far=25", false}, 20},
		{lesson{40, 60, 3, "map=town spread=1.5", false}, 16},
	} {
		s := c.l.scenario(3)
		var solos, lobbies glances
		for range c.matches {
			s.Play.Seed++
			cfg, _, err := lobbyOf(s)
			if err != nil {
				t.Fatal(err)
			}
			g, err := newGame(s, cfg, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.warm(t.Context()); err != nil {
				t.Fatal(err)
			}
			clients := []*witness{newWitness(0, s.Lobby.Players), newWitness(1, s.Lobby.Players)}
			for range g.ticks() {
				if err := g.step(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, w := range clients {
					w.look(g.b)
				}
			}
			for _, w := range clients {
				lobbies.add(w.told)
			}
			_, alone := playWatched(t, s)
			solos.add(alone.glances)
		}
		rate := float64(s.Rates.TickHz) / float64(s.Every())
		a, b := solos.facts(rate), lobbies.facts(rate)
		t.Logf("%s: alone %+v, clients %+v", s.Name, a, b)
		for _, x := range []struct {
			name           string
			is, want, most float64 // that it may be off by: of a share, or of all
		}{
			{"rows that come in sight", a.Appear / b.Appear, 1, 0.25}, {"rows in blocks", a.Blocks, b.Blocks, 0.05},
			{"flights told", a.Flights, b.Flights, 0.03}, {"launches told", a.Launches, b.Launches, 0.03}, {"flights that come in sight", a.Came / b.Came, 1, 0.2},
		} {
			if !(math.Abs(x.is-x.want) <= x.most) {
				t.Errorf("%s: %s: %.3f, of clients %.3f", s.Name, x.name, x.is, x.want)
			}
		}
	}
}

// playWatched plays a match by itself, at which those look whom a lobby's watched clients are.
func playWatched(t *testing.T, s scenario.Scenario) (place, match) {
	t.Helper()
	at, err := openPlace(s, content.Default())
	if err != nil {
		t.Fatal(err)
	}
	p, err := newSolo(s, at)
	if err != nil {
		t.Fatal(err)
	}
	if p.looks != nil { // else it is the open, or a town whose houses hide nobody
		p.looks = p.looks[:1+watched]
		for k := range watched {
			p.looks[1+k].seat = k
		}
	}
	alone, err := p.play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return at, alone
}

// witness counts glances from what one client has decoded.
type witness struct {
	of     int       // the client's place
	at     tick.Tick // the snapshot that was looked at last
	ids    []netid.ID
	open   []uint64
	was    []uint64
	next   []uint64
	flew   []netid.ID // by slot, in the snapshot before
	flying []bool     // those of them that the client knew
	told   glances
}

func newWitness(of, players int) *witness {
	words, slots := (players+63)/64, netstate.ThingSlots(players)
	return &witness{of: of, ids: make([]netid.ID, players), open: make([]uint64, words), was: make([]uint64, words), next: make([]uint64, words), flew: make([]netid.ID, slots),
		flying: make([]bool, slots)}
}

// look takes in the client's newest snapshot, if there is a new one.
func (w *witness) look(b *lobbysim.Sim) {
	c := b.Clients[w.of]
	now := c.Newest()
	if now == w.at {
		return
	}
	first := w.at == 0
	w.at = now
	frame, seen := b.Lobby.Frame(now), c.Frame(now)
	clear(w.next)
	for slot := range w.ids {
		w.ids[slot] = frame.ID(slot)
		if seen.ID(slot) != 0 {
			w.next[slot>>6] |= 1 << (slot & 63)
		}
	}
	if !first {
		w.told.note(w.ids, w.was, w.next, w.open)
	}
	copy(w.was, w.next)
	w.flights(b, first)
}

// flights counts those; what stands about has the first slots.
func (w *witness) flights(b *lobbysim.Sim, first bool) {
	var f flight
	m, things := b.Lobby.Match(), b.Lobby.ObjectFrame(w.at)
	stand := len(m.Objects().Ports) + len(m.Objects().Zones) + len(m.Scene().Barrel) + len(m.Scene().Cube)
	var row [netstate.ThingFields]int32
	for slot := stand; slot < len(w.flew); slot++ {
		id := things.ID(slot)
		has, ok := b.Clients[w.of].ThingRow(w.at, slot, row[:])
		sees := ok && has == id && id != 0
		if id != 0 {
			f.all++
			if sees {
				f.told++
			}
			switch {
			case w.flew[slot] != id:
				if f.launches++; sees {
					f.launchesNow++
				}
			case sees && !w.flying[slot]:
				f.came++
			}
		}
		w.flew[slot], w.flying[slot] = id, sees
	}
	if !first {
		w.told.flights.add(f)
	}
}
