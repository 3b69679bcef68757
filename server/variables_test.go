package server

import (
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/console"
)

// set runs a console line of an admin and returns the error, "" for none.
func (l *testLobby) set(line string) string {
	_, err := l.lobby.Execute(l.now, nil, line, console.Caller{Rank: console.Admin})
	if err != nil {
		return err.Error()
	}
	return ""
}

// Settings of a lobby change while it plays; what cannot change says why and what to do.
func TestRow58VariablesChangeALobby(t *testing.T) {
	small := newTestLobby(t, Config{Players: 8, Killcam: KillcamOff})
	large := newTestLobby(t, Config{Players: 40, Killcam: KillcamOff})
	grid := newTestLobby(t, Config{Arena: field(t), ArenaName: "field", Relevance: RelevanceGrid, CellSize: 1})
	for i, c := range []struct {
		lobby      *testLobby
		line, want string
	}{
		{small, "net.contentkbps 64", ""},
		{small, "net.contentkbps 8", `net.contentkbps "8": expected an integer, 16 to 1000000`},
		{small, "net.nearestplayers 12", ""},
		{small, "net.nearestplayers -1", ""},
		{small, "net.nearestplayers 0", `net.nearestplayers "0": expected 1 to 4096, or -1 for all players`},
		{small, "chat.every 250ms", ""},
		{small, "chat.every 1ms", `chat.every "1ms": expected a time, 100ms to 1m0s`},
		{small, "game.killcam true", ""},
		{large, "game.killcam true", `game.killcam "true": expected false: this lobby has no memory for killcams; ` +
			"start it with --killcam on"},
		{large, "game.killcam false", ""},
		{small, "net.viewdistance 30", `net.viewdistance "30": expected 0: relevance all hides no player; ` +
			"start the lobby with --relevance grid"},
		{grid, "net.viewdistance -1", `net.viewdistance "-1": expected a number, 0 to 8000`},
		{grid, "net.viewdistance 30", ""},
		{small, "net.interval 2", `net.interval "2": expected`},
	} {
		if got := c.lobby.set(c.line); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%d %s: %q, want %q", i, c.line, got, c.want)
		}
	}
	l := small.lobby
	if l.cfg.ContentKbps != 64 || l.transfers.bucket.Rate() != 8000 || l.cfg.NearestPlayers != -1 || !l.cfg.givesKillcams() {
		t.Errorf("%d kbit/s, %d bytes/s of content, %d nearest players, killcams %v", l.cfg.ContentKbps,
			l.transfers.bucket.Rate(), l.cfg.NearestPlayers, l.cfg.givesKillcams())
	}
	if small.set("game.killcam false"); l.cfg.givesKillcams() {
		t.Error("killcams are still on")
	}
	if err := grid.lobby.InstallMap(grid.now, LoadedMap{Arena: field(t), Name: "field"}); err != nil {
		t.Fatal(err)
	}
	if want := CellRadius(30, 1); grid.lobby.replication.players.interest.grid.Config().ViewDistance != want ||
		grid.lobby.cfg.ViewDistance != 30 {
		t.Errorf("view distance %v after a change of the map", grid.lobby.cfg.ViewDistance)
	}
}

// Variables move with a lobby to another host, but for those that it refuses; the name of the server
// only if it was changed.
func TestVariablesMove(t *testing.T) {
	from := newTestLobby(t, Config{Players: 40, Name: "here", Kbps: 100, IdleKick: time.Hour})
	for _, line := range []string{"net.contentkbps 64", "game.killcam true", "chat.every 2s", "game.idlekick 30m", "net.nearestplayers 9"} {
		if err := from.set(line); err != "" {
			t.Fatal(err)
		}
	}
	state, err := from.lobby.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	to := newTestLobby(t, Config{Players: 40, Name: "there", Killcam: KillcamOff})
	read, err := to.lobby.ReadState(state)
	if err == nil {
		err = to.lobby.Resume(to.now, read)
	}
	if err != nil {
		t.Fatal(err)
	}
	if to.set("say hello") != "" { // any line puts variables into force
		t.Error("no line runs")
	}
	l := to.lobby
	if l.cfg.Kbps != 100 || l.cfg.ContentKbps != 64 || l.cfg.NearestPlayers != 9 || l.cfg.givesKillcams() ||
		l.idle.limits.Kick != 30*60*60 || l.console.vars.chatEvery.Duration() != 2*time.Second ||
		l.Status().Name != "there" {
		t.Errorf("%d and %d kbit/s, %d nearest, killcams %v, %+v, %q", l.cfg.Kbps, l.cfg.ContentKbps, l.cfg.NearestPlayers,
			l.cfg.givesKillcams(), l.idle.limits, l.Status().Name)
	}
}

// A shorter view distance hides players from then on, and a longer one shows them again.
func TestViewDistanceChanges(t *testing.T) {
	l := newTestLobby(t, Config{Arena: field(t), ArenaName: "field", Relevance: RelevanceGrid, CellSize: 1})
	a, b := l.joinedClient(), l.joinedClient()
	age := func() tick.Tick { return l.lobby.match.Tick() - l.lobby.LastSeen(a.id(), b.id()) }
	l.playTicks(60)
	if age() > 20 {
		t.Fatalf("the other was seen %d ticks ago", age())
	}
	for i, c := range []struct {
		line string
		seen bool
	}{{"net.viewdistance 2", false}, {"net.viewdistance 0", true}} {
		if err := l.set(c.line); err != "" {
			t.Fatal(err)
		}
		l.playTicks(120)
		if seen := age() <= 20; seen != c.seen {
			t.Errorf("%d: after %s the other was seen %d ticks ago", i, c.line, age())
		}
	}
}
