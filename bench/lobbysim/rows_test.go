package lobbysim

// Rows 5 and 6 of docs/features.md, over the whole stack.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/sim/mode"
)

// TestRow05StringsBesideTheColumns: the world's columns are plain memory, and what has no place
// there (names, what heroes and modes are called) lies in ordinary Go values beside them. These
// values of an entity are the same on the server and with every client, through renames by the
// server, departures and reused slots, over lossy links.
func TestRow05StringsBesideTheColumns(t *testing.T) {
	skipUnderRace(t)
	wanted := []string{"ada", "ada", "  grace\thopper ", "日本の長い名前をもつ人ですよね", "<b>", "\u202eevil", "", "zoë"}
	s := modeLobby{mode: "assault", players: len(wanted), link: bad,
		change: func(p *mode.Params) { p.PrematchMillis = 500 }}.open(t)
	for i := range wanted {
		i, was := i, s.cfg.ChangeClient
		s.cfg.ChangeClient = func(n int, cfg *client.Config) {
			if was(n, cfg); n == i {
				cfg.Name = wanted[i]
			}
		}
		s.Leave(i)
		s.step(t, 300*time.Millisecond)
		if err := s.Connect(i); err != nil {
			t.Fatal(err)
		}
	}
	s.step(t, 3*time.Second)
	listed, err := s.Lobby.Execute(s.Now(), nil, "list", console.Caller{Rank: console.Admin})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Lobby.Match()
	names := map[string]bool{}
	for i, c := range s.Clients {
		for slot := range wanted {
			player, ok := c.Chat.Player(slot)
			first, _ := s.Clients[0].Chat.Player(slot)
			if !ok || player.Name == "" || player != first || m.World.At(slot) != player.ID ||
				m.Vital(player.ID) == nil || int8(m.Vital(player.ID).Team) != player.Team {
				t.Fatalf("client %d has %+v in slot %d, the first %+v, the match %v",
					i, player, slot, first, m.World.At(slot))
			}
			if !slices.ContainsFunc(listed,
				func(line string) bool { return strings.Contains(line, player.Name) }) {
				t.Errorf("client %d says %q, the server's console\n%s",
					i, player.Name, strings.Join(listed, "\n"))
			}
			names[player.Name] = true
		}
		ours, theirs := c.Game(), m.Rules().Game
		for id := range theirs.Heroes {
			if ours.Heroes[id].Name != theirs.Heroes[id].Name {
				t.Errorf("client %d calls hero %d %q, the server %q",
					i, id, ours.Heroes[id].Name, theirs.Heroes[id].Name)
			}
		}
		if ours.Mode.Name != "assault" || ours.Mode.Name != theirs.Mode.Name {
			t.Errorf("client %d plays %q", i, ours.Mode.Name)
		}
	}
	if len(names) != len(wanted) {
		t.Errorf("%d names of %d players: %v", len(names), len(wanted), names)
	}
}

// TestRow06LobbiesDoNotInterfere plays two lobbies of other modes, maps and sizes in turns, tick by
// tick, and each goes as it does alone: neither servers nor clients nor the bots' brains keep
// anything outside.
func TestRow06LobbiesDoNotInterfere(t *testing.T) {
	skipUnderRace(t)
	make2 := func(n int) *modeTest {
		shorten := func(p *mode.Params) { p.PrematchMillis, p.RespawnMillis = 500, 1000 }
		if n == 0 {
			l := modeLobby{arena: "town:12:7", mode: "assault", players: 12, link: bad, change: shorten}
			return l.open(t)
		}
		return modeLobby{mode: "deathmatch", players: 7, change: shorten,
			link:  impair.Profile{Delay: 35 * time.Millisecond},
			brain: func(_ *modeTest, n int) swarm.Brain { return swarm.NewBot(77, n) }}.open(t)
	}
	const ticks = 900
	next := func(s *modeTest, a *Agreement) string {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		s.Compare(a)
		return fmt.Sprintf("%016x %016x", s.Lobby.Match().Hash(), a.Hash)
	}
	var aside [2][]string
	for n := range aside {
		s, a := make2(n), &Agreement{}
		for range ticks {
			aside[n] = append(aside[n], next(s, a))
		}
	}
	both, agreed := [2]*modeTest{make2(0), make2(1)}, [2]Agreement{}
	for at := range ticks {
		for n, s := range both {
			if got := next(s, &agreed[n]); got != aside[n][at] {
				t.Fatalf("tick %d: lobby %d beside another: %s, alone %s", at+1, n, got, aside[n][at])
			}
		}
	}
	for n := range agreed {
		if agreed[n].Differing != 0 || agreed[n].Snapshots < 1000 {
			t.Errorf("lobby %d: %+v", n, agreed[n])
		}
	}
	if aside[0][ticks-1] == aside[1][ticks-1] {
		t.Error("the lobbies are the same")
	}
}
