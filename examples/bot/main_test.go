package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// TestBotPlays: the bot plays in a real lobby on loopback: it gets a token over HTTP, joins, moves,
// fires, and the server has its commands.
func TestBotPlays(t *testing.T) {
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	key := netcode.Key{1, 2, 3}
	h, err := host.New(host.Config{
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: 4,
			Netcode: netcode.ServerConfig{PrivateKey: key}},
		UDP:  host.UDPConfig{Listen: "127.0.0.1:0"},
		HTTP: host.HTTPConfig{Listen: "127.0.0.1:0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	raw, err := requestToken(h.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	bot, err := play(raw, 5)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := bot.State()
	if s := bot.Stats(); state != client.Left || s.Shots < 5 || s.Snapshots < 5 || s.Undecoded != 0 {
		t.Errorf("%v: %+v", state, s)
	}
}

// TestBotRefused: no token, no server, and a token that is none are errors, and said.
func TestBotRefused(t *testing.T) {
	s := httptest.NewServer(httpapi.NewConnect(httpapi.ConnectConfig{
		Key: netcode.Key{1}, Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")},
		Access: httpapi.Access{Secret: "secret"},
	}))
	defer s.Close()
	if _, err := requestToken(strings.TrimPrefix(s.URL, "http://")); err == nil ||
		!strings.Contains(err.Error(), "401") {
		t.Errorf("without the secret: %v", err)
	}
	if _, err := play([]byte("token"), 1); err == nil {
		t.Error("plays with any token")
	}
	mint := netcode.Mint{ClientID: 1, Create: uint64(time.Now().Unix()),
		Expire: uint64(time.Now().Unix()) + 1, TimeoutSeconds: 1,
		Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}}
	raw, err := mint.Append(nil, &netcode.Key{1}, strings.NewReader(strings.Repeat("x", 4096)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := play(raw, 1); err == nil {
		t.Error("plays where nobody answers")
	}
}

// TestBotIsThirtyLines holds the package comment to its word.
func TestBotIsThirtyLines(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "play" {
			if n := files.Position(f.Body.Rbrace).Line - files.Position(f.Body.Lbrace).Line - 1; n > 30 {
				t.Errorf("play has %d lines", n)
			}
			return
		}
	}
	t.Error("no play")
}
