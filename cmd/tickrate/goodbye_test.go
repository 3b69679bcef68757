package main

import (
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim/arena"
)

// player is a client on a real socket that stands still.
type player struct {
	client *client.Client
	udp    *net.UDPConn
}

func newPlayer(t *testing.T, k *tokenSource, n int) *player {
	t.Helper()
	raw, err := k.Token(n)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{Token: raw, Decode: client.DecodeOwn,
		Arena: func(name string, _ [32]byte) (*arena.Arena, error) {
			return assets.Map(name)
		}})
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(k.at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	return &player{c, udp}
}

// live receives what has arrived and sends what is due.
func (p *player) live(t *testing.T, now time.Duration) {
	buf := make([]byte, 2000)
	// A past deadline would refuse what waits already.
	for err := p.udp.SetReadDeadline(time.Now().Add(200 * time.Microsecond)); err == nil; {
		var n int
		if n, err = p.udp.Read(buf); err == nil {
			_ = p.client.Receive(now, buf[:n]) // the client counts
		}
	}
	for due := p.client.Advance(now); due > 0; due-- {
		p.client.Command(client.Intent{})
	}
	out := p.client.Outgoing(now)
	for i := range out.Len() {
		_, d := out.At(i)
		_, _ = p.udp.Write(d) // a server that has gone refuses
	}
}

// playing runs all players until they are in a state.
func playing(t *testing.T, all []*player, want client.State) {
	t.Helper()
	there := 0
	for end := time.Now().Add(waitLimit); time.Now().Before(end); {
		there = 0
		for _, p := range all {
			p.live(t, time.Since(wanderersBegan))
			if s, _ := p.client.State(); s == want {
				there++
			}
		}
		if there == len(all) {
			return
		}
	}
	t.Fatalf("%d of %d are %v after %v", there, len(all), want, waitLimit)
}

// Row 40: SIGTERM ends a lobby, or a hundred on two workers, with exit code 0 within two seconds, and
// every player receives the reason.
func TestThreat40Lobby(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	for _, flags := range [][]string{
		{"--socket", "gnet", "--players", "16"}, {"--socket", "mmsg", "--players", "16"},
		{"--players", "4", "--lobbies", "100", "--lobby-workers", "2"},
	} {
		socket := strings.Join(flags, " ")
		cmd, r := readyServer(t, command(t, append([]string{"serve", "--ready", "--map", "arena-16",
			"--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, flags...)...))
		k, err := tokensOverHTTP(t.Context(), r.HTTP, "")
		if err != nil {
			t.Fatal(err)
		}
		var all []*player
		for n := range 16 {
			all = append(all, newPlayer(t, k, n))
		}
		playing(t, all, client.Joined)
		endsInTime(t, cmd, syscall.SIGTERM)
		playing(t, all, client.Lost)
		for n, p := range all {
			if _, why := p.client.State(); why != packet.ReasonClosing {
				t.Errorf("%s: player %d was told %q, want %q: %v", socket, n, why,
					packet.ReasonClosing, p.client.Err())
			}
		}
	}
}
