package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// called lets a new caller join under a name.
func (l *lab) called(name string) *caller {
	l.t.Helper()
	c := l.caller("")
	c.enter(nil)
	r := l.good()
	r.Name = name
	c.queue(r.Append(nil))
	return c
}

// settle plays so many ticks in which all callers are heard and hear; those that are away are left out.
func (l *lab) settle(n int) {
	l.t.Helper()
	for range n {
		for _, c := range l.callers {
			if c.peer != nil && c.dial.State() == netcode.Connected {
				if c.hear(); c.dial.State() == netcode.Connected {
					c.say(c.commands(1)...)
				}
			}
		}
		l.tick()
	}
}

// told takes out of what a caller has heard what is of the roster, as slot to row, and the lines in words.
func (c *caller) told() (rows map[int]protocol.RosterRow, lines []string) {
	t := c.lab.t
	t.Helper()
	rows = map[int]protocol.RosterRow{}
	half := ""
	for _, e := range c.events[1:] {
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
				t.Fatalf("a line of %x, of whom was not told before", m.From)
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

func (c *caller) names() (names []string) {
	rows, _ := c.told()
	for slot := range c.lab.lobby.cfg.Players {
		if r, ok := rows[slot]; ok && r.Name != "" {
			names = append(names, r.Name)
		}
	}
	return names
}

// A line in one event or two, as a client would say it.
func (c *caller) utter(tag byte, line string) {
	c.lab.t.Helper()
	event, rest, more := protocol.AppendLine(nil, tag, []byte(line))
	c.queue(event)
	for more {
		event, rest, more = protocol.AppendLine(nil, tag, rest)
		c.queue(event)
	}
}

// Whatever players call themselves, each has a name of its own that can be shown, and all know it.
func TestNamesAreUniqueAndToldToAll(t *testing.T) {
	l := newLab(t, Config{Players: 16})
	wishes := []string{"Ann", "Ann", "ann", "", "\u202e\u200b", "\xff\xfe", "player 3", "a very long name indeed", "A VERY LONG NAME", `Bob "the" Bo`, "Ann 2", strings.Repeat("ä", 32)}
	want := []string{"Ann", "Ann 2", "ann 3", "player 3", "player 4", "player 5", "player 3 2", "a very long name", "A VERY LONG NA 2", "Bob the Bo", "Ann 2 2", strings.Repeat("ä", 16)}
	for _, w := range wishes {
		l.called(w)
		l.settle(2)
	}
	l.settle(30)
	for i, c := range l.callers {
		if got := c.names(); !slices.Equal(got, want) {
			t.Errorf("%d knows %q, want %q", i, got, want)
		}
	}
	first, _ := l.callers[0].told()
	last, _ := l.callers[11].told()
	if first[0].New || !first[5].New || last[0].New || last[11].New {
		t.Errorf("who is new: %+v, %+v", first, last)
	}
	l.callers[1].leave()
	l.settle(10)
	again := l.called("ANN 2")
	l.settle(30)
	if got := again.names(); got[1] != "ANN 2" {
		t.Errorf("after somebody left: %q", got)
	}
	if got := l.callers[0].names(); got[1] != "ANN 2" {
		t.Errorf("the others know %q", got)
	}
	l.lobby.match.Vital(l.callers[2].id()).Team ^= 1
	l.settle(90)
	rows, _ := l.callers[0].told()
	if rows[2].Team != int8(l.lobby.match.Vital(l.callers[2].id()).Team) {
		t.Errorf("changed sides: %+v", rows[2])
	}
}

// Names are unique however many want the same one, and finding one that is free stays cheap: no more tries than there are who mean ill.
func TestNamesOfACrowd(t *testing.T) {
	s := newRoster(&core{cfg: Config{Players: 2048}})
	seen := map[string]bool{}
	for slot := range int32(2048) {
		name := s.unique(slot, "0123456789abcdefgh")
		if seen[fold(name)] || len(name) > chat.MaxName || chat.CleanName(name) != name {
			t.Fatalf("%d: %q", slot, name)
		}
		seen[fold(name)] = true
		s.slots[fold(name)] = slot
	}
}

// Who comes last into a full lobby knows everybody soon, and no snapshot to it is larger for that than a newcomer's may be; a limited
// line keeps to its rate.
func TestLateJoinerIsToldInBudget(t *testing.T) {
	alone(t)
	for _, kbps := range []int{0, 64} {
		l := newLab(t, Config{Players: 130, Kbps: kbps})
		for i := range 128 {
			l.called(fmt.Sprintf("somebody %d", i))
		}
		l.settle(20)
		late := l.called("late")
		began, largest := l.now, 0
		for len(late.names()) < 129 && l.now-began < 20*time.Second {
			late.bytes = 0
			l.settle(1)
			largest = max(largest, late.bytes)
		}
		took := (l.now - began).Seconds()
		if n := len(late.names()); n != 129 || took > map[int]float64{0: 2, 64: 12}[kbps] || largest > 4800 {
			t.Errorf("kbps %d: knows %d after %.1f s, most in a tick %d bytes", kbps, n, took, largest)
		}
		t.Logf("kbps %d: 129 names in %.1f s, most in a tick %d bytes", kbps, took, largest)
	}
}

// Row 57 through the lobby: lines go to whom they are for and to nobody else; bad ones are refused with a reason, to their sender alone.
func TestRow57LobbyRoutesLines(t *testing.T) {
	l := newLab(t, Config{})
	ann, bob, anna, zoe := l.called("Ann"), l.called("Bob"), l.called("Anna B"), l.called("Zoë")
	all := []*caller{ann, bob, anna, zoe}
	l.settle(20)
	team := func(of *caller) (who []*caller) {
		for _, c := range all {
			if l.lobby.match.Vital(c.id()).Team == l.lobby.match.Vital(of.id()).Team {
				who = append(who, c)
			}
		}
		return who
	}
	for i, c := range []struct {
		from *caller
		line string
		to   []*caller
		want string
	}{
		0:  {ann, "hello", all, "0 Ann: hello"},
		1:  {zoe, "/all  hi\tthere", all, "0 Zoë: hi there"},
		2:  {bob, "/team go", team(bob), "1 Bob: go"},
		3:  {ann, "/t go", team(ann), "1 Ann: go"},
		4:  {bob, `/w "Anna B" psst`, []*caller{anna, bob}, "2 Bob: psst"},
		5:  {anna, `/r what?`, []*caller{anna, bob}, "2 Anna B: what?"},
		6:  {zoe, `/r what?`, []*caller{zoe}, "3 : nobody has whispered to you"},
		7:  {zoe, `/w an hi`, []*caller{zoe}, `3 : "an" may be Ann, Anna B: write more of the name`},
		8:  {zoe, `/dance`, []*caller{zoe}, "3 : no such command: expected /all, /team, /whisper or /reply"},
		9:  {zoe, "\u202e\u200b", []*caller{zoe}, "3 : there is nothing to see in your line"},
		10: {zoe, "\xff", []*caller{zoe}, "3 : your line is not UTF-8"},
		11: {zoe, strings.Repeat("x", 256), all, "0 Zoë: " + strings.Repeat("x", 256)},
		12: {zoe, strings.Repeat("x", 255), all, "0 Zoë: " + strings.Repeat("x", 255)},
		13: {zoe, strings.Repeat("x", 242), all, "0 Zoë: " + strings.Repeat("x", 242)},
		14: {zoe, strings.Repeat("x", 257), []*caller{zoe}, "3 : your line has 257 bytes: expected at most 256"},
		15: {zoe, strings.Repeat("x", 5000), []*caller{zoe}, "3 : your line has 257 bytes: expected at most 256"},
		16: {zoe, "a\x1b[2J\u202e<b>", all, "0 Zoë: a[2J<b>"},
		17: {zoe, "", []*caller{zoe}, "3 : there is nothing to see in your line"},
	} {
		before := map[*caller]int{}
		for _, who := range all {
			_, lines := who.told()
			before[who] = len(lines)
		}
		c.from.utter(protocol.MessageSay, c.line)
		l.settle(100) // a line in 1.5 s
		for n, who := range all {
			_, lines := who.told()
			got := lines[before[who]:]
			if slices.Contains(c.to, who) != (len(got) == 1) || len(got) > 1 || len(got) == 1 && got[0] != c.want {
				t.Errorf("%d: %d heard %q, want %q", i, n, got, c.want)
			}
		}
	}
	refused := uint64(0)
	for i := range l.lobby.Stats.ChatRefused {
		refused += l.lobby.Stats.ChatRefused[i].Load()
	}
	if l.count(metrics.ChatLines) != 18 || refused != 8 || l.count(metrics.ChatUndelivered) != 0 {
		t.Errorf("%d lines, %d refused, %d not heard", l.count(metrics.ChatLines), refused, l.count(metrics.ChatUndelivered))
	}
	l.lobby.Announce(l.now, "the round\nbegins")
	l.settle(10)
	for n, who := range all {
		if _, lines := who.told(); lines[len(lines)-1] != "4 : the round begins" {
			t.Errorf("%d heard %q", n, lines[len(lines)-1])
		}
	}
	ann.unharmed()
}

// The time of a line counts from the start of the round, and from the change of the map.
func TestChatTimeCountsFromTheRound(t *testing.T) {
	game := sim.DefaultGame()
	game.Mode.MinPlayers, game.Mode.PrematchMillis, game.Mode.RoundMillis = 1, 3000, 60_000
	l := newLab(t, Config{Rules: sim.Rules{Game: game}})
	ann := l.called("Ann")
	seconds := func() uint32 {
		t.Helper()
		ann.events = ann.events[:1]
		l.lobby.Announce(l.now, "now")
		l.settle(5)
		for _, e := range ann.events[1:] {
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
		l.settle(1)
	}
	began := l.now
	l.settle(5 * 60)
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

// A flood of lines, and of halves of them, harms nobody: the sender is told once, others hear what the limit lets pass, and what it
// costs is bounded.
func TestRow57FloodOfLines(t *testing.T) {
	l := newLab(t, Config{})
	ann, bob := l.called("Ann"), l.called("Bob")
	l.settle(10)
	for n := range 600 {
		for range 20 {
			if ann.peer.ReliablePending() < packet.MaxReliable-3 {
				ann.utter(protocol.MessageSay, "spam")
				ann.queue(append([]byte{protocol.MessageConsole}, make([]byte, 255)...)) // never ends
			}
		}
		if n%100 == 0 {
			ann.utter(protocol.MessageConsole, "status")
		}
		l.settle(1)
	}
	_, heard := bob.told()
	_, own := ann.told()
	notices := 0
	for _, line := range own {
		if strings.HasPrefix(line, "3 ") {
			notices++
		}
	}
	if len(heard) < 5+5 || len(heard) > 5+7 || notices != 1 || l.lobby.Stats.ChatRefused[chat.RefusedRate].Load() < 500 {
		t.Errorf("%d heard, %d notices, %d refused of %d", len(heard), notices, l.lobby.Stats.ChatRefused[chat.RefusedRate].Load(), l.count(metrics.ChatLines))
	}
	if n := cap(l.lobby.chat.partial[0].text); n > 1024 {
		t.Errorf("a line takes %d bytes", n)
	}
	ann.unharmed()
	bob.unharmed()
}

// All together cannot say more to all than the lobby carries; who is not heard is told so.
func TestCrowdSpeaks(t *testing.T) {
	l := newLab(t, Config{Players: 60})
	for range 60 {
		l.called("x")
	}
	l.settle(10)
	for _, c := range l.callers {
		c.utter(protocol.MessageSay, "now")
	}
	l.settle(30)
	_, lines := l.callers[0].told()
	public, notices := 0, 0
	for _, line := range lines {
		if strings.HasPrefix(line, "0 ") {
			public++
		}
	}
	for _, c := range l.callers {
		_, lines := c.told()
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

// Before a connection is ready it is told nothing and says nothing; nor is one that is away spoken to.
func TestOnlyTheReadySpeak(t *testing.T) {
	l := newLab(t, Config{})
	ann := l.called("Ann")
	early := l.caller("")
	early.enter(nil)
	early.utter(protocol.MessageSay, "too early")
	early.say()
	l.settle(10)
	if _, lines := ann.told(); len(lines) != 0 || l.count(metrics.MessagesUnknown) != 1 || l.count(metrics.ChatLines) != 0 {
		t.Errorf("%q; %d unknown", lines, l.count(metrics.MessagesUnknown))
	}
	for _, e := range early.events[1:] {
		t.Errorf("before its Ready it heard %x", e)
	}
	early.ready()
	l.settle(10)
	early.utter(protocol.MessageSay, "now")
	l.settle(10)
	if _, lines := ann.told(); len(lines) != 1 || lines[0] != "0 player 1: now" {
		t.Errorf("%q", lines)
	}
	early.dial = netcode.NewClient(l.mint(early.user, nil), netcode.ClientConfig{}) // silent from here on
	for range 400 {                                                                 // more than its five seconds
		ann.play()
		l.tick()
	}
	ann.utter(protocol.MessageSay, "/w player psst")
	for range 20 {
		ann.play()
		l.tick()
	}
	_, lines := ann.told()
	if got := lines[len(lines)-1]; got != `3 : nobody is called "player"` || len(l.lobby.reconnectable) != 1 || len(ann.names()) != 2 {
		t.Errorf("%q, %d away, %q", got, len(l.lobby.reconnectable), ann.names())
	}
}

// The console changes the lobby while it runs; what cannot be is refused by a line that says why, and nothing has changed.
func TestConsoleOfALobby(t *testing.T) {
	l := newLab(t, Config{Name: "here"})
	ann, bob := l.called("Ann"), l.called("Bob")
	l.settle(20)
	bob.queue(sim.AppendSnapshotRate(nil, 2, 500))
	l.settle(10)
	run := func(line string, who console.Rank) string {
		out, err := l.lobby.Execute(l.now, nil, line, console.Caller{Rank: who})
		if err != nil {
			out = append(out, "error: "+err.Error())
		}
		return strings.Join(out, "\n")
	}
	for i, c := range []struct {
		line string
		who  console.Rank
		want string
	}{
		0:  {"status", console.Guest, "here: arena-16 at 60 Hz, up 0:00:00\n2 of 8 players; points 0 to 0"},
		1:  {"server.tickrate", console.Guest, "server.tickrate 60"},
		2:  {"server.tickrate 30", console.Operator, `error: server.tickrate "30": expected an integer, 60 to 60`},
		3:  {"map", console.Guest, "map arena-16"},
		4:  {"map arena-64", console.Admin, "error: this lobby knows of no other maps"},
		5:  {"net.kbps 8", console.Admin, `error: net.kbps "8": expected 0, or an integer, 16 to 1000000`},
		6:  {"net.kbps 800", console.Admin, ""},
		7:  {"net.kbps 400", console.Moderator, "error: net.kbps: needs rank admin, yours is moderator"},
		8:  {"game.respawndelay 100ms", console.Admin, `error: game.respawndelay "100ms": expected a time, 400ms to 1m0s`},
		9:  {"game.respawndelay 2s", console.Admin, ""},
		10: {"server.name \"a \u202eb\"", console.Admin, "error: line with bytes that are no printable text: expected UTF-8 without control characters"},
		11: {"server.name there", console.Admin, ""},
		12: {"kick Bob", console.Guest, "error: kick: needs rank moderator, yours is guest"},
		13: {"kick Carl", console.Moderator, "error: kick Carl: expected the name or id (8.1, or 2049) of somebody who is here; see list"},
		14: {"kick 77777", console.Admin, "error: kick 77777: expected the name or id (8.1, or 2049) of somebody who is here; see list"},
		15: {"saveconfig", console.Admin, "error: saveconfig: not for remote callers"},
		16: {"saveconfig", console.Operator, `error: saveconfig "user.cfg": there is nowhere to write to`},
		17: {"game.idlekick 5s", console.Admin, ""},
		18: {"game.idlekick -5s", console.Admin, `error: game.idlekick "-5s": expected a time, 0s to 24h0m0s`},
		19: {"mute ann", console.Moderator, ""},
		20: {"mute ann on", console.Moderator, "error: mute on: expected off or nothing behind the name"},
		21: {"say hello  you", console.Moderator, ""},
		22: {"kick 1.2", console.Admin, "error: kick 1.2: expected the name or id (8.1, or 2049) of somebody who is here; see list"},
	} {
		if got := run(c.line, c.who); got != c.want {
			t.Errorf("%d %s: %q, want %q", i, c.line, got, c.want)
		}
	}
	if r := l.lobby.match.Rules(); r.RespawnMillis != 2000 || l.lobby.cfg.Kbps != 800 || ann.state().repl.pacing.bucket.Rate() != 100_000 || bob.state().repl.pacing.bucket.Rate() != 62_500 ||
		l.lobby.idle.limits.Kick != 300 {
		t.Errorf("%+v, %d kbps, %d and %d B/s, %+v", r, l.lobby.cfg.Kbps, ann.state().repl.pacing.bucket.Rate(), bob.state().repl.pacing.bucket.Rate(), l.lobby.idle.limits)
	}
	run("game.idlekick 0s", console.Admin)
	if got := run("list", console.Guest); !strings.Contains(got, `1 Ann team 0 0/0 `) || strings.Contains(got, "10.1.1") || strings.Count(got, "\n") != 1 {
		t.Errorf("list: %q", got)
	}
	if got := run("list", console.Admin); !strings.Contains(got, "10.1.1.1:1000") {
		t.Errorf("list for an admin: %q", got)
	}
	ann.utter(protocol.MessageSay, "may I?")
	l.settle(20)
	if _, lines := bob.told(); !slices.Equal(lines, []string{"4 : hello you"}) {
		t.Errorf("Bob heard %q", lines)
	}
	if _, lines := ann.told(); lines[len(lines)-1] != "3 : you are muted" {
		t.Errorf("Ann heard %q", lines)
	}
	for _, who := range []string{"Ann Bob", fmt.Sprint(uint32(ann.id()), " ", uint32(bob.id())), fmt.Sprint(ann.id(), " ", bob.id())} {
		if got, want := run("why "+who, console.Operator), l.lobby.Explain(ann.id(), bob.id()); got != want.Sentence() || want.Reason != ReasonSent {
			t.Errorf("why %s: %q, want %q", who, got, want.Sentence())
		}
	}
	if got := run(fmt.Sprint("kick ", uint32(bob.id())), console.Moderator); got != "kicked Bob" {
		t.Errorf("%q", got)
	}
	l.settle(3)
	if why, over := bob.peer.Closed(); !over || why != packet.ReasonKicked || l.count(metrics.Disconnected) != 1 {
		t.Errorf("%v, %v", why, over)
	}
	l.settle(5)
	if got := ann.names(); !slices.Equal(got, []string{"Ann"}) {
		t.Errorf("Ann knows %q", got)
	}
	ann.unharmed()
}

// What connections ask runs between ticks, with the rank of connections; too much of it is refused, told once.
func TestGuestsAskTheConsole(t *testing.T) {
	l := newLab(t, Config{Name: "here"})
	ann, bob := l.called("Ann"), l.called("Bob")
	l.settle(20)
	for i, c := range []struct{ line, want string }{
		0: {"status", "5 : here: arena-16 at 60 Hz, up 0:00:00"},
		1: {"game.respawndelay 1s", "5 : game.respawndelay: needs rank admin, yours is guest"},
		2: {"exec /etc/passwd", "5 : exec: not for remote callers"},
		3: {"quit", `5 : "quit": expected a variable or command; see help`},
		4: {strings.Repeat("x", 300), "5 : line too long: expected at most 256 bytes"},
		5: {"\"", `5 : quote without an end: expected another "`},
	} {
		_, before := ann.told()
		ann.utter(protocol.MessageConsole, c.line)
		l.settle(70)
		if _, lines := ann.told(); len(lines) == len(before) || lines[len(before)] != c.want {
			t.Errorf("%d: %q, want %q", i, lines[len(before):], c.want)
		}
	}
	l.settle(400)
	_, before := ann.told()
	for range 20 {
		ann.utter(protocol.MessageConsole, "map")
	}
	l.settle(30)
	_, lines := ann.told()
	if got := lines[len(before):]; len(got) != consoleBurst+1 || !slices.Contains(got, "5 : you ask too much: wait a few seconds") {
		t.Errorf("%q", got)
	}
	if _, lines := bob.told(); len(lines) != 0 {
		t.Errorf("Bob heard %q", lines)
	}
	if l.count(metrics.ConsoleLines) != 26 || l.count(metrics.ConsoleFailed) != 5+15 {
		t.Errorf("%d asked, %d in vain", l.count(metrics.ConsoleLines), l.count(metrics.ConsoleFailed))
	}
}

// Row 10 through the lobby: who changes nothing is warned and then sent away with a reason; who plays stays, and so does everybody where
// there is no limit.
func TestRow10LobbyRemovesTheIdle(t *testing.T) {
	for _, on := range []bool{true, false} {
		cfg := Config{}
		if on {
			cfg.IdleWarn, cfg.IdleKick = 3*time.Second, 6*time.Second
		}
		l := newLab(t, cfg)
		idler, player, waver := l.called("idle"), l.called("plays"), l.called("wavers")
		began := l.now
		warned, gone := time.Duration(0), time.Duration(0)
		for n := range 60 * 10 {
			for _, c := range l.callers {
				if c.peer == nil || c.dial.State() != netcode.Connected {
					continue
				}
				if c.hear(); c.dial.State() != netcode.Connected {
					continue
				}
				cmd := sim.Command{Tick: l.lobby.match.Tick() + 1, MoveMag: 255}
				if c == player || c == waver && n == 4*60 {
					cmd.Yaw = 1
				}
				if c == player {
					cmd.Yaw += 7 * 64
					cmd.Pitch = 0
					cmd.MoveYaw = uint8(n / 60)
				}
				c.say(section(cmd)...)
			}
			l.tick()
			if _, lines := idler.told(); warned == 0 && len(lines) > 0 {
				if lines[0] != "6 : " {
					t.Fatalf("told %q", lines)
				}
				warned = l.now - began
			}
			if why, over := idler.peer.Closed(); over && gone == 0 {
				if gone = l.now - began; why != packet.ReasonIdle {
					t.Errorf("gone for %v", why)
				}
			}
		}
		_, lines := waver.told()
		switch {
		case !on && (l.count(metrics.Disconnected) != 0 || l.count(metrics.IdleWarned) != 0 || len(lines) != 0):
			t.Errorf("without limits %d were dismissed", l.count(metrics.Disconnected))
		case on && (warned < 3*time.Second || warned > 4500*time.Millisecond || gone < 6*time.Second || gone > 7500*time.Millisecond):
			t.Errorf("warned after %v, gone after %v", warned, gone)
		case on && (l.count(metrics.IdleKicked) != 1 || l.count(metrics.Disconnected) != 1 || l.count(metrics.IdleWarned) != 3 || len(lines) != 2):
			t.Errorf("%d removed, %d warned; who moved once was told %q", l.count(metrics.IdleKicked), l.count(metrics.IdleWarned), lines)
		}
	}
}

// A tick in which nobody comes, speaks or changes sides allocates nothing for names, lines and idleness.
func TestSocialTickAllocatesNothing(t *testing.T) {
	l := newLab(t, Config{Players: 64, IdleWarn: time.Hour, IdleKick: 2 * time.Hour})
	for i := range 64 {
		l.called(fmt.Sprint("n", i))
	}
	l.settle(60)
	c := &l.lobby.conns[0]
	l.lobby.inbound.window[0] = sim.Command{Tick: 1}
	if n := testing.AllocsPerRun(200, func() {
		l.lobby.housekeeping(l.now)
		l.lobby.roster.sendNames(l.now, c, c.share(l.lobby))
		l.lobby.inbound.window[0].Yaw++
		l.lobby.idle.input(0, l.lobby.inbound.window[:1])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
