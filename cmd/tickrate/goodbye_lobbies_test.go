package main

import (
	"syscall"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/packet"
)

// Row 40: SIGTERM ends a server of many lobbies with exit code 0 within two seconds, and the players
// of every lobby receive the reason.
func TestThreat40ManyLobbies(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	const lobbies, each = 24, 4
	for _, socket := range []string{"gnet", "mmsg"} {
		cmd, r := readyServer(t,
			command(t, "serve", "--ready", "--players", "10", "--map", "arena-16", "--socket", socket,
				"--lobbies", "24:40", "--record", t.TempDir(), "--prefault=false",
				"--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"))
		var all []*player
		for lobby := range lobbies {
			k, err := requestTokens(t.Context(), tokenRequest{r.HTTP, "", asPlayer, int64(lobby)})
			if err != nil {
				t.Fatal(err)
			}
			for n := range each {
				all = append(all, newPlayer(t, k, n))
			}
		}
		playing(t, all, client.Joined)
		endsInTime(t, cmd, syscall.SIGTERM)
		playing(t, all, client.Lost)
		for n, p := range all {
			if _, why := p.client.State(); why != packet.ReasonClosing {
				t.Errorf("%s: player %d of lobby %d was told %q, want %q: %v", socket, n%each, n/each, why,
					packet.ReasonClosing, p.client.Err())
			}
		}
	}
}
