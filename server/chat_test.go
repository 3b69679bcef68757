package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// sendLine sends a chat line in one message, or in two if it is long.
func (c *testClient) sendLine(tag byte, line string) {
	c.host.t.Helper()
	event, rest, more := protocol.AppendLine(nil, tag, []byte(line))
	c.queueReliable(event)
	for more {
		event, rest, more = protocol.AppendLine(nil, tag, rest)
		c.queueReliable(event)
	}
}

// Row 57 through the lobby: lines go to their recipients alone, and bad ones are refused with a
// reason to the sender.
func TestRow57LobbyRoutesLines(t *testing.T) {
	l := newTestLobby(t, Config{})
	ann, bob, anna, zoe := l.namedClient("Ann"), l.namedClient("Bob"),
		l.namedClient("Anna B"), l.namedClient("Zoë")
	all := []*testClient{ann, bob, anna, zoe}
	l.playTicks(20)
	team := func(of *testClient) (who []*testClient) {
		for _, c := range all {
			if l.lobby.match.Vital(c.id()).Team == l.lobby.match.Vital(of.id()).Team {
				who = append(who, c)
			}
		}
		return who
	}
	for i, c := range []struct {
		from *testClient
		line string
		to   []*testClient
		want string
	}{
		0: {ann, "hello", all, "0 Ann: hello"},
		1: {zoe, "/all  hi\tthere", all, "0 Zoë: hi there"},
		2: {bob, "/team go", team(bob), "1 Bob: go"},
		3: {ann, "/t go", team(ann), "1 Ann: go"},
		4: {bob, `/w "Anna B" psst`, []*testClient{anna, bob}, "2 Bob: psst"},
		5: {anna, `/r what?`, []*testClient{anna, bob}, "2 Anna B: what?"},
		6: {zoe, `/r what?`, []*testClient{zoe}, "3 : nobody has whispered to you"},
		7: {zoe, `/w an hi`, []*testClient{zoe}, `3 : "an" may be Ann, Anna B: write more of the name`},
		8: {zoe, `/dance`, []*testClient{zoe},
			"3 : no such command: expected /all, /team, /whisper or /reply"},
		9:  {zoe, "\u202e\u200b", []*testClient{zoe}, "3 : there is nothing to see in your line"},
		10: {zoe, "\xff", []*testClient{zoe}, "3 : your line is not UTF-8"},
		11: {zoe, strings.Repeat("x", 256), all, "0 Zoë: " + strings.Repeat("x", 256)},
		12: {zoe, strings.Repeat("x", 255), all, "0 Zoë: " + strings.Repeat("x", 255)},
		13: {zoe, strings.Repeat("x", 242), all, "0 Zoë: " + strings.Repeat("x", 242)},
		14: {zoe, strings.Repeat("x", 257), []*testClient{zoe},
			"3 : your line has 257 bytes: expected at most 256"},
		15: {zoe, strings.Repeat("x", 5000), []*testClient{zoe},
			"3 : your line has 257 bytes: expected at most 256"},
		16: {zoe, "a\x1b[2J\u202e<b>", all, "0 Zoë: a[2J<b>"},
		17: {zoe, "", []*testClient{zoe}, "3 : there is nothing to see in your line"},
	} {
		before := map[*testClient]int{}
		for _, who := range all {
			_, lines := who.receivedRoster()
			before[who] = len(lines)
		}
		c.from.sendLine(protocol.MessageSay, c.line)
		l.playTicks(100) // a line in 1.5 s
		for n, who := range all {
			_, lines := who.receivedRoster()
			got := lines[before[who]:]
			if slices.Contains(c.to, who) != (len(got) == 1) || len(got) > 1 ||
				len(got) == 1 && got[0] != c.want {
				t.Errorf("%d: %d heard %q, want %q", i, n, got, c.want)
			}
		}
	}
	refused := uint64(0)
	for i := range l.lobby.Stats.ChatRefused {
		refused += l.lobby.Stats.ChatRefused[i].Load()
	}
	if l.count(metrics.ChatLines) != 18 || refused != 8 || l.count(metrics.ChatUndelivered) != 0 {
		t.Errorf("%d lines, %d refused, %d not heard", l.count(metrics.ChatLines),
			refused, l.count(metrics.ChatUndelivered))
	}
	l.lobby.chat.announce(l.now, "the round\nbegins")
	l.playTicks(10)
	for n, who := range all {
		if _, lines := who.receivedRoster(); lines[len(lines)-1] != "4 : the round begins" {
			t.Errorf("%d heard %q", n, lines[len(lines)-1])
		}
	}
	ann.checkUnharmed()
}

// The time of a line counts from the start of the round, and from the change of the map.
func TestChatTimeCountsFromTheRound(t *testing.T) {
	game := sim.DefaultGame()
	game.Mode.MinPlayers, game.Mode.PrematchMillis, game.Mode.RoundMillis = 1, 3000, 60_000
	l := newTestLobby(t, Config{Rules: sim.Rules{Game: game}})
	ann := l.namedClient("Ann")
	seconds := func() uint32 {
		t.Helper()
		ann.messages = ann.messages[:1]
		l.lobby.chat.announce(l.now, "now")
		l.playTicks(5)
		for _, e := range ann.messages[1:] {
			if e[0] == protocol.MessageChat {
				m, _, err := protocol.ParseChat(e)
				if err != nil {
					t.Fatal(err)
				}
				return m.Seconds
			}
		}
		t.Fatal("no line came")
		return 0
	}
	for l.lobby.match.Mode().Phase != mode.Active {
		l.playTicks(1)
	}
	began := l.now
	l.playTicks(5 * 60)
	if n, want := seconds(), uint32((l.now-began)/time.Second); n != want {
		t.Errorf("a line %v after the start of the round, which was at %v, says %d s", l.now-began, began, n)
	}
	if err := l.lobby.InstallMap(l.now, LoadedMap{Arena: ground(), Name: "arena-16"}); err != nil {
		t.Fatal(err)
	}
	m, _ := l.lobby.chat.room.Announce(l.now+2*time.Second, nil, "now", nil)
	if m.Seconds != 2 {
		t.Errorf("a line 2 s after a change of the map says %d s", m.Seconds)
	}
}

// A flood of lines and incomplete lines is bounded in cost: the sender is told once, and others get
// what the limit lets pass.
func TestRow57FloodOfLines(t *testing.T) {
	l := newTestLobby(t, Config{})
	ann, bob := l.namedClient("Ann"), l.namedClient("Bob")
	l.playTicks(10)
	for n := range 600 {
		for range 20 {
			if ann.peer.ReliablePending() < packet.MaxReliable-3 {
				ann.sendLine(protocol.MessageSay, "spam")
				ann.queueReliable(append([]byte{protocol.MessageConsole}, make([]byte, 255)...)) // never ends
			}
		}
		if n%100 == 0 {
			ann.sendLine(protocol.MessageConsole, "status")
		}
		l.playTicks(1)
	}
	_, heard := bob.receivedRoster()
	_, own := ann.receivedRoster()
	notices := 0
	for _, line := range own {
		if strings.HasPrefix(line, "3 ") {
			notices++
		}
	}
	if len(heard) < 5+5 || len(heard) > 5+7 || notices != 1 ||
		l.lobby.Stats.ChatRefused[chat.RefusedRate].Load() < 500 {
		t.Errorf("%d heard, %d notices, %d refused of %d", len(heard), notices,
			l.lobby.Stats.ChatRefused[chat.RefusedRate].Load(), l.count(metrics.ChatLines))
	}
	if n := cap(l.lobby.chat.partial[0].text); n > 1024 {
		t.Errorf("a line takes %d bytes", n)
	}
	ann.checkUnharmed()
	bob.checkUnharmed()
}

// The lobby limits public lines of all players together, and tells the sender that its line was
// refused.
func TestPublicLinesOfAllAreLimited(t *testing.T) {
	l := newTestLobby(t, Config{Players: 60})
	for range 60 {
		l.namedClient("x")
	}
	l.playTicks(10)
	for _, c := range l.clients {
		c.sendLine(protocol.MessageSay, "now")
	}
	l.playTicks(30)
	_, lines := l.clients[0].receivedRoster()
	public, notices := 0, 0
	for _, line := range lines {
		if strings.HasPrefix(line, "0 ") {
			public++
		}
	}
	for _, c := range l.clients {
		_, lines := c.receivedRoster()
		for _, line := range lines {
			if strings.HasPrefix(line, "3 ") {
				notices++
			}
		}
	}
	if n := int(l.count(metrics.ChatRateLimited)); public != 60-n || notices != n || n < 60-publicBurst-10 {
		t.Errorf("%d lines heard, %d notices, %d refused", public, notices, n)
	}
}

// A connection that is not ready sends and receives no lines. Players kept for a reconnect receive
// none.
func TestOnlyTheReadySpeak(t *testing.T) {
	l := newTestLobby(t, Config{})
	ann := l.namedClient("Ann")
	early := l.newClient("")
	early.connect(nil)
	early.sendLine(protocol.MessageSay, "too early")
	early.sendSections()
	l.playTicks(10)
	if _, lines := ann.receivedRoster(); len(lines) != 0 || l.count(metrics.MessagesUnknown) != 1 ||
		l.count(metrics.ChatLines) != 0 {
		t.Errorf("%q; %d unknown", lines, l.count(metrics.MessagesUnknown))
	}
	for _, e := range early.messages[1:] {
		t.Errorf("before its Ready it heard %x", e)
	}
	early.ready()
	l.playTicks(10)
	early.sendLine(protocol.MessageSay, "now")
	l.playTicks(10)
	if _, lines := ann.receivedRoster(); len(lines) != 1 || lines[0] != "0 player 1: now" {
		t.Errorf("%q", lines)
	}
	early.netcode = netcode.NewClient(l.mint(early.user, nil), netcode.ClientConfig{}) // silent from here on
	// more than its five seconds
	for range 400 {
		ann.play()
		l.tick()
	}
	ann.sendLine(protocol.MessageSay, "/w player psst")
	for range 20 {
		ann.play()
		l.tick()
	}
	_, lines := ann.receivedRoster()
	if got := lines[len(lines)-1]; got != `3 : nobody is called "player"` ||
		len(l.lobby.reconnectable) != 1 || len(ann.names()) != 2 {
		t.Errorf("%q, %d away, %q", got, len(l.lobby.reconnectable), ann.names())
	}
}
