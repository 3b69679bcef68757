package lobbysim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
)

// newChatLobby opens a lobby. All clients have joined and have the whole roster.
func newChatLobby(t *testing.T, clients int) *Sim {
	t.Helper()
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Clients: clients, Seed: 57, Link: bad,
		Lobby: server.Config{Arena: a, ArenaName: "arena-64", Players: clients + 2}})
	if err != nil {
		t.Fatal(err)
	}
	step(t, b, 240)
	for i, c := range b.Clients {
		for slot := range clients {
			if p, ok := c.Chat.Player(slot); !ok || p.Name == "" {
				t.Fatalf("client %d does not know slot %d", i, slot)
			}
		}
		for _, ok := c.Chat.Next(); ok; _, ok = c.Chat.Next() { // lines about joins
		}
	}
	return b
}

func step(t *testing.T, b *Sim, ticks int) {
	t.Helper()
	for range ticks {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// Row 57 through the whole stack, on links with loss, duplicates and reordering: each line arrives
// once, in its sender's order, at its recipients alone and with the same text.
func TestRow57LinesThroughTheStack(t *testing.T) {
	const n, rounds = 12, 24
	b := newChatLobby(t, n)
	name := func(i int) string { return fmt.Sprintf("bot %d", i) }
	team := func(i int) int8 {
		p, _ := b.Clients[0].Chat.Player(b.Clients[i].ID().Index())
		return p.Team
	}
	heard := make([][]string, n)
	want := make([][]string, n) // by sender order: checked by sender below
	for round := range rounds {
		for i := range n {
			if (round+i)%3 != 0 { // a line in 1.5 s each at most
				continue
			}
			text := fmt.Sprintf("%d.%d %s", i, round, strings.Repeat("ä", round*5%122))
			line, to := text, func(j int) bool { return true }
			switch (round + i) / 3 % 3 {
			case 1:
				line, to = "/team "+text, func(j int) bool { return team(j) == team(i) }
			case 2:
				line = fmt.Sprintf(`/w "%s" %s`, name((i+1)%n), text)
				to = func(j int) bool { return j == i || j == (i+1)%n }
			}
			if err := b.Clients[i].Chat.Say(line); err != nil {
				t.Fatal(err)
			}
			for j := range n {
				if to(j) {
					want[j] = append(want[j], name(i)+"|"+strings.TrimSpace(text))
				}
			}
		}
		step(t, b, 40)
		collectLines(b, heard)
	}
	step(t, b, 120)
	collectLines(b, heard)
	for j := range n {
		for i := range n { // the order of one sender's lines is the order in which all hear them
			of := func(all []string) (some []string) {
				for _, line := range all {
					if strings.HasPrefix(line, name(i)+"|") {
						some = append(some, line)
					}
				}
				return some
			}
			if got, want := fmt.Sprintf("%q", of(heard[j])), fmt.Sprintf("%q", of(want[j])); got != want {
				t.Errorf("%d heard of %d\n%s\nwant\n%s", j, i, got, want)
			}
		}
		if len(heard[j]) != len(want[j]) {
			t.Errorf("%d heard %d lines, want %d", j, len(heard[j]), len(want[j]))
		}
	}
	if c := &b.Lobby.Stats.Count; c[metrics.ChatUndelivered].Load() != 0 ||
		c[metrics.ChatLines].Load() != n*rounds/3 {
		t.Errorf("%d said, %d not heard", c[metrics.ChatLines].Load(), c[metrics.ChatUndelivered].Load())
	}
}

func collectLines(b *Sim, heard [][]string) {
	for i, c := range b.Clients {
		for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
			if l.Kind != client.LineKilled && l.Kind != client.LineRound {
				heard[i] = append(heard[i], l.FromName+"|"+l.Text)
			}
		}
	}
}

// A client formats lines as the server's own text does, and derives joins and leaves from the
// roster.
func TestRow57LinesInWords(t *testing.T) {
	skipUnderRace(t)
	b := newChatLobby(t, 3)
	a := b.Clients[0]
	if client.LineKind(chat.Announcement) != client.LineAnnouncement ||
		client.LineKind(chat.Whisper) != client.LineWhisper ||
		client.LineKind(chat.Notice) != client.LineNotice {
		t.Error("kinds have other numbers")
	}
	words := func(c *client.Client) (all []string) {
		for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
			if l.Kind != client.LineKilled && l.Kind != client.LineRound {
				all = append(all, string(l.Append(nil, c.ID())))
			}
		}
		return all
	}
	for _, line := range []string{"hi", `/w "bot 1" psst`, "/dance"} {
		if err := a.Chat.Say(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Chat.Console("map"); err != nil {
		t.Fatal(err)
	}
	step(t, b, 60)
	var want []string
	for _, m := range []chat.Message{
		{Kind: chat.All, Seconds: 4, From: 1, FromName: "bot 0", Text: []byte("hi")},
		{Kind: chat.Whisper, Seconds: 4, From: uint32(a.ID()), FromName: "bot 0", ToName: "bot 1",
			Text: []byte("psst")},
		{Kind: chat.Notice, Seconds: 4,
			Text: []byte("no such command: expected /all, /team, /whisper or /reply")},
	} {
		want = append(want, string(m.Append(nil, uint32(a.ID()))))
	}
	want = append(want, "map arena-64")
	if got := words(a); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	words(b.Clients[1])
	b.Leave(2)
	step(t, b, 60)
	if err := b.Connect(2); err != nil {
		t.Fatal(err)
	}
	step(t, b, 120)
	if got := fmt.Sprint(words(b.Clients[1])); got != "[* bot 2 has left * bot 2 has come in]" {
		t.Error(got)
	}
	for i, c := range []struct {
		line string
		want error
	}{{"", client.ErrLine}, {"\xff", client.ErrLine}, {strings.Repeat("x", 257), client.ErrLine},
		{strings.Repeat("x", 256), nil}} {
		if err := a.Chat.Say(c.line); err != c.want {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
	if p, ok := a.Chat.Player(-1); ok || p.ID != 0 {
		t.Error("slot -1 has a player")
	}
	if _, ok := a.Chat.Player(1 << 20); ok {
		t.Error("slot 1<<20 has a player")
	}
}

// Row 57: kill lines name killer and victim by names that the client knows, as often as the lobby
// counts kills.
func TestRow57KillsAreLines(t *testing.T) {
	skipUnderRace(t)
	b := newChatLobby(t, 12)
	kills := b.Lobby.Stats.Count[metrics.Kills].Load()
	killLines := make([]uint64, len(b.Clients))
	for range 60 {
		step(t, b, 30)
		for i, c := range b.Clients {
			for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
				if l.Kind == client.LineRound {
					continue
				}
				words := string(l.Append(nil, c.ID()))
				if words := strings.TrimPrefix(words, "* bot "); strings.HasSuffix(words,
					" died of its own doing") { // grenades do that
					continue // which the lobby does not count as a kill
				}
				if l.Kind != client.LineKilled || !strings.HasPrefix(words, "* bot ") ||
					!strings.Contains(words, " killed bot ") {
					t.Errorf("client %d got the line %q", i, words)
				}
				killLines[i]++
			}
		}
	}
	kills = b.Lobby.Stats.Count[metrics.Kills].Load() - kills
	for i, n := range killLines {
		if n+5 < kills || n > kills+5 || kills < 3 { // some are still on the link
			t.Errorf("client %d got %d kill lines of %d", i, n, kills)
		}
	}
}

// Rosters converge over bad links while players join and leave: each client ends with the names of
// the present players alone.
func TestNamesHoldWhilePlayersComeAndGo(t *testing.T) {
	skipUnderRace(t)
	b := newChatLobby(t, 10)
	for round := range 20 {
		i := 1 + round*7%9
		b.Leave(i)
		if err := b.Connect(i); err != nil {
			t.Fatal(err)
		}
		step(t, b, 20)
	}
	step(t, b, 5*60)
	there := map[netid.ID]string{}
	for i, c := range b.Clients {
		if st, why := c.State(); st != client.Joined {
			t.Fatalf("client %d: %v, %v", i, st, why)
		}
		there[c.ID()] = ""
	}
	for i, c := range b.Clients {
		seen := 0
		for slot := range c.Welcome().MaxPlayers {
			p, ok := c.Chat.Player(int(slot))
			if !ok {
				continue
			}
			seen++
			name, is := there[p.ID]
			if !is || name != "" && name != p.Name {
				t.Errorf("client %d knows %+v; the others say %q", i, p, name)
			}
			there[p.ID] = p.Name
		}
		if seen != len(b.Clients) {
			t.Errorf("client %d knows %d of %d", i, seen, len(b.Clients))
		}
	}
}
