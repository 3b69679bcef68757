package main

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/content"
)

// What players come to do in matches by themselves is what they do in a lobby over links, with clients between: with the same seeds, over some matches, for
// slow links and who comes and goes, too.
func TestSoloIsAsALobby(t *testing.T) {
	for _, c := range []struct {
		l       lesson
		matches int
	}{
		{lesson{20, 60, 3, "", false}, 16},
		{lesson{20, 100, 2, "link=delay=60ms", false}, 16},
		{lesson{20, 30, 1, "leaves=6 spectators=7", false}, 16},
		{lesson{24, 60, 3, "far=25 spread=3", false}, 12},
		{lesson{24, 30, 1, "map=town", false}, 24},
	} {
		s := c.l.scenario(4)
		if s.Measure.WarmSeconds = 1; testing.Short() {
			c.matches /= 4
		}
		s.Measure.Seconds = 2
		var solos, lobbies tale
		for k := range c.matches {
			s.Play.Seed++
			over, err := playMatch(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			at, alone := playWatched(t, s)
			lobbies.add(over)
			solos.add(alone)
			if k == 0 {
				sameBegin(t, c.l, at)
			}
		}
		f := asked(s)
		a, b := solos.facts(f), lobbies.facts(f)
		for _, x := range []struct {
			name       string
			is, want   float64
			most, less float64 // that it may be off by
		}{
			{"alive", a.Alive, b.Alive, 0.04, 0.08}, {"shots", a.Shots, b.Shots, 0.12, 0.25}, {"launches", a.Launches, b.Launches, 0.14, 0.3},
			{"flights", a.Flights, b.Flights, 0.14, 0.3}, {"visible", a.Visible, b.Visible, 0.03, 0.06},
		} {
			if testing.Short() {
				x.most = x.less
			}
			if x.name == "visible" && f.Far == 0 && !f.Walls {
				continue
			}
			if math.Abs(x.is/x.want-1) > x.most {
				t.Errorf("%s: %s %.3f, in lobbies %.3f", s.Name, x.name, x.is, x.want)
			}
		}
	}
}

// sameBegin holds the begin of a match to that in a lobby: the same come in in the same ticks.
func sameBegin(t *testing.T, l lesson, at place) {
	t.Helper()
	s := l.scenario(4)
	s.Play.Seed++
	cfg, _, err := lobbyOf(s)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGame(s, cfg, true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newSolo(s, at)
	if err != nil {
		t.Fatal(err)
	}
	p.leave, g.leave = 0, 0
	used := func(m *sim.Match) (n int) {
		for slot := range m.Poses() { // but for who looks on, of whom there is nothing to play
			id := m.World.At(slot)
			if in := m.Inbox(id); in != nil && in.Count.Used > 0 && !m.Vital(id).Watches {
				n++
			}
		}
		return n
	}
	for i := range l.hz {
		if err := g.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.step()
		m := g.b.Lobby.Match()
		for slot, pose := range m.Poses() {
			if mine := p.m.Poses()[slot]; mine.ID != pose.ID {
				t.Fatalf("%s, tick %d: in slot %d is %x, in a lobby %x", s.Name, i+1, slot, mine.ID, pose.ID)
			}
		}
		if i == l.hz-1 && used(p.m) != used(m) {
			t.Errorf("%s: after a second %d play, in a lobby %d", s.Name, used(p.m), used(m))
		}
	}
}

// A match by itself is on the map of the scenario's lobby, and houses hide in it whom they hide there.
func TestPlacesAreTheLobbys(t *testing.T) {
	tables := 0
	for _, unlike := range []string{"", "far=30 spread=2", "map=town spread=0.5", "map=town spread=0.5 far=30"} {
		s := lesson{20, 60, 3, unlike, true}.scenario(4)
		for range 8 {
			s.Play.Seed++
			cfg, _, err := lobbyOf(s)
			if err != nil {
				t.Fatal(err)
			}
			at, err := openPlace(s, content.Default())
			if err != nil {
				t.Fatal(err)
			}
			p, err := newSolo(s, at)
			if err != nil {
				t.Fatal(err)
			}
			hides := p.walls != nil
			if at.arena.Hash() != cfg.Arena.Hash() || hides != (cfg.PVS != nil) || (p.grid != nil) != (hides || s.Lobby.FarMetres > 0) {
				t.Errorf("%s: on another map, or houses hide %v", s.Name, hides)
			}
			for range 2 * 60 {
				p.step()
			}
			p.count(0)
			if asked := s.Lobby.Map == "town" || s.Lobby.FarMetres > 0; asked != (p.told.eyes > 0) || !hides && s.Lobby.FarMetres == 0 && p.told.seen != 19*p.told.eyes {
				t.Errorf("%s: %d players see %d others", s.Name, p.told.eyes, p.told.seen)
			}
			if hides && cfg.PVS != nil {
				if tables++; !cfg.PVS.Fits(p.walls.Config()) {
					t.Errorf("%s: houses hide by cells %+v, want %+v", s.Name, p.walls.Config(), cfg.PVS.Config())
				}
			}
		}
	}
	if tables == 0 || tables == 16 {
		t.Errorf("%d of 16 towns are worth a table: the others were not tried", tables)
	}
}

// The same scenario is played to the same end, another one is not, nor one on other maps or with other dice.
func TestPlayed(t *testing.T) {
	s := lesson{4, 20, 3, "", false}.scenario(4)
	of := func(dice uint64) capacity.Played {
		p, err := playAll(t.Context(), s, dice, 2*playedBatch)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := of(playedSeed)
	if of(playedSeed) != one || one.Matches != 2*playedBatch || one.Ground != s.Play.Seed || !(one.Alive > 0.3 && one.Alive < 1) || !(one.Unsure.Bytes(one.Alive) < 0.1) {
		t.Errorf("%+v, and %+v", one, of(playedSeed))
	}
	if of(playedSeed+1000) == one {
		t.Error("other dice fall alike")
	}
	s.Play.Seed++
	other := of(playedSeed)
	if other.Ground = one.Ground; other == one {
		t.Error("on other maps all plays alike")
	}
	s.Play.Seed--
	s.Play.Bursts = 1
	if of(playedSeed) == one {
		t.Error("who fires more plays alike")
	}
	s = lesson{8, 30, 3, "map=town spread=0.5 spectators=3", false}.scenario(4)
	if p := of(playedSeed); !(p.Visible > 2.9 && p.Visible <= 7) {
		t.Errorf("in a town %+v", p)
	}
}

// What was played of a scenario is kept for whatever plays alike, such as another codec; what nobody waits for is not played. The dice are those of no match that
// is measured, nor of one that a prediction is verified with.
func TestPlayedIsKept(t *testing.T) {
	s := lesson{12, 30, 3, "", true}.scenario(4)
	one, err := playedOf(t.Context(), s, opening)
	if err != nil || one.Matches < 2*playedBatch {
		t.Fatalf("%+v, %v", one, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s.Network.Codec, s.Lobby.Lobbies, s.Name = "range", 5, "another"
	if again, err := playedOf(gone, s, opening); again != one || err != nil {
		t.Errorf("%+v, %v: want %+v again", again, err, one)
	}
	s.Lobby.Players++
	if p, err := playedOf(gone, s, opening); err == nil || p.Matches != 0 {
		t.Errorf("%+v though nobody waits for it", p)
	}
	for after := time.Millisecond; after < 400*time.Millisecond; after *= 3 { // nor is a part of it said to be all, whenever it ends
		s.Lobby.Players++
		soon, cancel := context.WithTimeout(t.Context(), after)
		if p, err := playedOf(soon, s, opening); err == nil && p.Matches < 2*playedBatch || err != nil && p != (capacity.Played{}) {
			t.Errorf("%+v and %v after %v", p, err, after)
		}
		cancel()
	}
	for _, l := range lessons() {
		s := l.scenario(matchSeconds)
		least := 2 * playedBatch
		if windowOf(s) == longRun {
			least = playedLong
		}
		if most := mostPlayed(s); most < least || most > lessonSeeds || s.Play.Seed+4*heldSeed+lessonSeeds > playedSeed {
			t.Errorf("%s: %d matches, of seed %d", s.Name, most, s.Play.Seed)
		}
	}
}
