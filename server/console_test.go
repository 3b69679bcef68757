package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// Console lines change a running lobby. An invalid line changes nothing and is answered with the
// reason.
func TestConsoleOfALobby(t *testing.T) {
	l := newTestLobby(t, Config{Name: "here"})
	ann, bob := l.namedClient("Ann"), l.namedClient("Bob")
	l.playTicks(20)
	bob.queueReliable(sim.AppendSnapshotRate(nil, 2, 500))
	l.playTicks(10)
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
		0: {"status", console.Guest, "here: arena-16 at 60 Hz, up 0:00:00\n2 of 8 players; points 0 to 0"},
		1: {"server.tickrate", console.Guest, "server.tickrate 60"},
		2: {"server.tickrate 30", console.Operator,
			"error: server.tickrate is read-only: it is 60"},
		3: {"map", console.Guest, "map arena-16"},
		4: {"map arena-64", console.Admin, "error: this lobby knows of no other maps"},
		5: {"net.kbps 8", console.Admin, `error: net.kbps "8": expected 0, or an integer, 16 to 1000000`},
		6: {"net.kbps 800", console.Admin, ""},
		7: {"net.kbps 400", console.Moderator, "error: net.kbps: needs rank admin, yours is moderator"},
		8: {"game.respawndelay 100ms", console.Admin,
			`error: game.respawndelay "100ms": expected a time, 400ms to 1m0s`},
		9: {"game.respawndelay 2s", console.Admin, ""},
		10: {"server.name \"a \u202eb\"", console.Admin,
			"error: line is not printable text: expected UTF-8 without control characters"},
		11: {"server.name there", console.Admin, ""},
		12: {"kick Bob", console.Guest, "error: kick: needs rank moderator, yours is guest"},
		13: {"kick Carl", console.Moderator, "error: kick Carl: expected the name, net id (8.1 or " +
			"2049), slot (slot:8) or client id (client:77) of a player; see list"},
		14: {"kick 77777", console.Admin, "error: kick 77777: expected the name, net id (8.1 or 2049), " +
			"slot (slot:8) or client id (client:77) of a player; see list"},
		15: {"saveconfig", console.Admin, "error: saveconfig: not for remote callers"},
		16: {"saveconfig", console.Operator, `error: saveconfig "user.cfg": there is nowhere to write to`},
		17: {"game.idlekick 5s", console.Admin, ""},
		18: {"game.idlekick -5s", console.Admin,
			`error: game.idlekick "-5s": expected a time, 0s to 24h0m0s`},
		19: {"mute ann", console.Moderator, ""},
		20: {"mute ann on", console.Moderator, "error: mute on: expected off or nothing behind the name"},
		21: {"say hello  you", console.Moderator, ""},
		22: {"kick 1.2", console.Admin, "error: kick 1.2: expected the name, net id (8.1 or 2049), " +
			"slot (slot:8) or client id (client:77) of a player; see list"},
	} {
		if got := run(c.line, c.who); got != c.want {
			t.Errorf("%d %s: %q, want %q", i, c.line, got, c.want)
		}
	}
	if r := l.lobby.match.Rules(); r.RespawnMillis != 2000 || l.lobby.cfg.Kbps != 800 ||
		ann.state().repl.pacing.bucket.Rate() != 100_000 || bob.state().repl.pacing.bucket.Rate() != 62_500 ||
		l.lobby.idle.limits.Kick != 300 {
		t.Errorf("%+v, %d kbps, %d and %d B/s, %+v", r, l.lobby.cfg.Kbps,
			ann.state().repl.pacing.bucket.Rate(), bob.state().repl.pacing.bucket.Rate(), l.lobby.idle.limits)
	}
	run("game.idlekick 0s", console.Admin)
	if got := run("list", console.Guest); !strings.Contains(got, `1 Ann team 0 0/0 `) ||
		strings.Contains(got, "10.1.1") || strings.Count(got, "\n") != 1 {
		t.Errorf("list: %q", got)
	}
	if got := run("list", console.Admin); !strings.Contains(got, "10.1.1.1:1000") {
		t.Errorf("list for an admin: %q", got)
	}
	ann.sendLine(protocol.MessageSay, "may I?")
	l.playTicks(20)
	if _, lines := bob.receivedRoster(); !slices.Equal(lines, []string{"4 : hello you"}) {
		t.Errorf("Bob heard %q", lines)
	}
	if _, lines := ann.receivedRoster(); lines[len(lines)-1] != "3 : you are muted" {
		t.Errorf("Ann heard %q", lines)
	}
	for _, who := range []string{"Ann Bob", fmt.Sprint(uint32(ann.id()), " ", uint32(bob.id())),
		fmt.Sprint(ann.id(), " ", bob.id())} {
		if got, want := run("why "+who, console.Operator),
			l.lobby.Explain(ann.id(), bob.id()); got != want.Sentence() || want.Reason != ReasonSent {
			t.Errorf("why %s: %q, want %q", who, got, want.Sentence())
		}
	}
	if got := run(fmt.Sprint("kick ", uint32(bob.id())), console.Moderator); got != "kicked Bob" {
		t.Errorf("%q", got)
	}
	l.playTicks(3)
	if why, over := bob.peer.Closed(); !over || why != packet.ReasonKicked ||
		l.count(metrics.Disconnected) != 1 {
		t.Errorf("%v, %v", why, over)
	}
	l.playTicks(5)
	if got := ann.names(); !slices.Equal(got, []string{"Ann"}) {
		t.Errorf("Ann knows %q", got)
	}
	ann.checkUnharmed()
}

// Console lines of connections run between ticks, with the rank of a guest. Lines beyond the limit
// are refused, and the sender is told once.
func TestConsoleLinesOfConnections(t *testing.T) {
	l := newTestLobby(t, Config{Name: "here"})
	ann, bob := l.namedClient("Ann"), l.namedClient("Bob")
	l.playTicks(20)
	for i, c := range []struct{ line, want string }{
		0: {"status", "5 : here: arena-16 at 60 Hz, up 0:00:00"},
		1: {"game.respawndelay 1s", "5 : game.respawndelay: needs rank admin, yours is guest"},
		2: {"exec /etc/passwd", "5 : exec: not for remote callers"},
		3: {"quit", `5 : "quit": expected a variable or command; see help`},
		4: {strings.Repeat("x", 300), "5 : line too long: expected at most 256 bytes"},
		5: {"\"", `5 : quote without an end: expected another "`},
	} {
		_, before := ann.receivedRoster()
		ann.sendLine(protocol.MessageConsole, c.line)
		l.playTicks(70)
		if _, lines := ann.receivedRoster(); len(lines) == len(before) || lines[len(before)] != c.want {
			t.Errorf("%d: %q, want %q", i, lines[len(before):], c.want)
		}
	}
	l.playTicks(400)
	_, before := ann.receivedRoster()
	for range 20 {
		ann.sendLine(protocol.MessageConsole, "map")
	}
	l.playTicks(30)
	_, lines := ann.receivedRoster()
	if got := lines[len(before):]; len(got) != consoleBurst+1 ||
		!slices.Contains(got, "5 : too many lines: wait a few seconds") {
		t.Errorf("%q", got)
	}
	if _, lines := bob.receivedRoster(); len(lines) != 0 {
		t.Errorf("Bob heard %q", lines)
	}
	if l.count(metrics.ConsoleLines) != 26 || l.count(metrics.ConsoleFailed) != 5+15 {
		t.Errorf("%d asked, %d in vain", l.count(metrics.ConsoleLines), l.count(metrics.ConsoleFailed))
	}
}
