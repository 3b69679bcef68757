package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/sim"
)

// namedClient returns a client that has joined under a name.
func (l *testLobby) namedClient(name string) *testClient {
	l.t.Helper()
	c := l.newClient("")
	c.connect(nil)
	r := l.goodReady()
	r.Name = name
	c.queueReliable(r.Append(nil))
	return c
}

// playTicks plays n ticks, in which all connected clients send and receive.
func (l *testLobby) playTicks(n int) {
	l.t.Helper()
	for range n {
		for _, c := range l.clients {
			if c.peer != nil && c.netcode.State() == netcode.Connected {
				if c.receive(); c.netcode.State() == netcode.Connected {
					c.sendSections(c.commands(1)...)
				}
			}
		}
		l.tick()
	}
}

// receivedRoster returns the roster rows by slot and the chat lines that the client has received,
// and forgets them.
func (c *testClient) receivedRoster() (rows map[int]protocol.RosterRow, lines []string) {
	t := c.host.t
	t.Helper()
	rows = map[int]protocol.RosterRow{}
	half := ""
	for _, e := range c.messages[1:] {
		switch e[0] {
		case protocol.MessageRoster:
			for rest := e[1:]; len(rest) > 0; {
				var r protocol.RosterRow
				var err error
				if r, rest, err = protocol.ParseRosterRow(rest); err != nil {
					t.Fatalf("%x: %v", e, err)
				}
				rows[int(r.NetID>>8)] = r
			}
		case protocol.MessageChat:
			m, more, err := protocol.ParseChat(e)
			if err != nil || !protocol.ValidText(m.Text, protocol.MaxLine) && !more {
				t.Fatalf("%x: %v", e, err)
			}
			var from protocol.RosterRow
			if m.From != 0 {
				from = rows[int(m.From>>8)]
			}
			if from.NetID != m.From {
				t.Fatalf("a line of %x, which no roster message announced", m.From)
			}
			text := fmt.Sprintf("%d %s: %s", m.Kind, from.Name, m.Text)
			if more {
				half = text
			} else {
				lines = append(lines, text)
			}
		case protocol.MessageChatContinued:
			lines = append(lines, half+string(e[1:]))
		}
	}
	return rows, lines
}

func (c *testClient) names() (names []string) {
	rows, _ := c.receivedRoster()
	for slot := range c.host.lobby.cfg.Players {
		if r, ok := rows[slot]; ok && r.Name != "" {
			names = append(names, r.Name)
		}
	}
	return names
}

// Whatever names players choose, each has a unique printable name, and all clients know it.
func TestNamesAreUniqueAndToldToAll(t *testing.T) {
	l := newTestLobby(t, Config{Players: 16})
	wishes := []string{"Ann", "Ann", "ann", "", "\u202e\u200b", "\xff\xfe", "player 3",
		"a very long name indeed", "A VERY LONG NAME", `Bob "the" Bo`, "Ann 2", strings.Repeat("ä", 32)}
	want := []string{"Ann", "Ann 2", "ann 3", "player 3", "player 4", "player 5", "player 3 2",
		"a very long name", "A VERY LONG NA 2", "Bob the Bo", "Ann 2 2", strings.Repeat("ä", 16)}
	for _, w := range wishes {
		l.namedClient(w)
		l.playTicks(2)
	}
	l.playTicks(30)
	for i, c := range l.clients {
		if got := c.names(); !slices.Equal(got, want) {
			t.Errorf("%d knows %q, want %q", i, got, want)
		}
	}
	first, _ := l.clients[0].receivedRoster()
	last, _ := l.clients[11].receivedRoster()
	if first[0].New || !first[5].New || last[0].New || last[11].New {
		t.Errorf("who is new: %+v, %+v", first, last)
	}
	l.clients[1].leave()
	l.playTicks(10)
	again := l.namedClient("ANN 2")
	l.playTicks(30)
	if got := again.names(); got[1] != "ANN 2" {
		t.Errorf("after somebody left: %q", got)
	}
	if got := l.clients[0].names(); got[1] != "ANN 2" {
		t.Errorf("the others know %q", got)
	}
	l.lobby.match.Vital(l.clients[2].id()).Team ^= 1
	l.playTicks(90)
	rows, _ := l.clients[0].receivedRoster()
	if rows[2].Team != int8(l.lobby.match.Vital(l.clients[2].id()).Team) {
		t.Errorf("changed sides: %+v", rows[2])
	}
}

// A muted player stays muted over a map change, and is unmuted after a reconnect.
func TestMuteOutlivesTheMap(t *testing.T) {
	l := newTestLobby(t, Config{})
	ann := l.namedClient("Ann")
	l.playTicks(5)
	r, c := &l.lobby.roster, ann.state()
	slot := c.id.Index()
	r.players[slot].Muted = true
	r.newMatch()
	r.add(c, "Ann")
	if !r.players[slot].Muted {
		t.Error("the player may speak after a map change")
	}
	r.disconnect(slot)
	r.add(c, "Ann")
	if r.players[slot].Muted {
		t.Error("the player is muted after a reconnect")
	}
}

// Names are unique if many players want the same one. Finding a free name takes at most as many
// tries as there are players with chosen names.
func TestSameNameOfMany(t *testing.T) {
	s := newRoster(&core{cfg: Config{Players: 2048}})
	seen := map[string]bool{}
	for slot := range int32(2048) {
		name, _ := s.unique(slot, "0123456789abcdefgh")
		if seen[chat.NameKey(name)] || len(name) > chat.MaxName || chat.CleanName(name) != name {
			t.Fatalf("%d: %q", slot, name)
		}
		seen[chat.NameKey(name)] = true
		s.slots[chat.NameKey(name)] = slot
	}
}

// The last client of a full lobby soon has the whole roster. No snapshot to it exceeds the join
// budget, and a limited connection keeps to its rate.
func TestLateJoinerIsToldInBudget(t *testing.T) {
	alone(t)
	for _, kbps := range []int{0, 64} {
		l := newTestLobby(t, Config{Players: 130, Kbps: kbps})
		for i := range 128 {
			l.namedClient(fmt.Sprintf("somebody %d", i))
		}
		l.playTicks(20)
		late := l.namedClient("late")
		began, largest := l.now, 0
		for len(late.names()) < 129 && l.now-began < 20*time.Second {
			late.bytes = 0
			l.playTicks(1)
			largest = max(largest, late.bytes)
		}
		took := (l.now - began).Seconds()
		if n := len(late.names()); n != 129 || took > map[int]float64{0: 2, 64: 12}[kbps] || largest > 4800 {
			t.Errorf("kbps %d: knows %d after %.1f s, most in a tick %d bytes", kbps, n, took, largest)
		}
		t.Logf("kbps %d: 129 names in %.1f s, most in a tick %d bytes", kbps, took, largest)
	}
}

// Names, chat and idle checks allocate nothing in a tick without joins, lines and team changes.
func TestSocialTickAllocatesNothing(t *testing.T) {
	l := newTestLobby(t, Config{Players: 64, IdleWarn: time.Hour, IdleKick: 2 * time.Hour})
	for i := range 64 {
		l.namedClient(fmt.Sprint("n", i))
	}
	l.playTicks(60)
	c := &l.lobby.conns[0]
	l.lobby.inbound.window[0] = sim.Command{Tick: 1}
	if n := alloctest.In(200, func() {
		l.lobby.inbound.housekeeping(l.now)
		l.lobby.roster.sendNames(l.now, c, l.lobby.replication.spacing(&c.repl))
		l.lobby.inbound.window[0].Yaw++
		l.lobby.idle.input(0, l.lobby.inbound.window[:1])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
