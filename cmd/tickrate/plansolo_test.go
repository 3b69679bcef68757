package main

import (
	"context"
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/sim"
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
			at, err := openPlace(s)
			if err != nil {
				t.Fatal(err)
			}
			lobbies.add(over)
			alone, err := playSolo(s, at)
			if err != nil {
				t.Fatal(err)
			}
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
			if x.name == "visible" && f.Far == 0 {
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

// The same scenario is played to the same end, whatever its own seed and codec are; another one is not. Matches that are asked for in vain are not played.
func TestPlayed(t *testing.T) {
	s := lesson{4, 20, 3, "", false}.scenario(4)
	of := func() capacity.Played {
		playedKnown.Clear()
		p, err := playedOf(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := of()
	s.Play.Seed, s.Network.Codec, s.Lobby.Lobbies = 77, "range", 5
	if of() != one || one.Matches < 2*playedBatch || !(one.Alive > 0.3 && one.Alive < 1) || !(one.Unsure.Bytes(one.Alive) < 0.1) {
		t.Errorf("%+v, and %+v", one, of())
	}
	s.Play.Bursts = 1
	if of() == one {
		t.Error("who fires more plays alike")
	}
	s = lesson{8, 30, 3, "map=town spread=0.5 spectators=3", false}.scenario(4)
	if p := of(); !(p.Visible > 2.9 && p.Visible <= 7) {
		t.Errorf("in a town %+v", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	playedKnown.Clear()
	if p, err := playedOf(ctx, s); err == nil || p.Matches != 0 {
		t.Errorf("%+v though nobody waits for it", p)
	}
}
