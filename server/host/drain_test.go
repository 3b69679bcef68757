package host

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// roundAtOnce is a configuration whose rounds begin with the first player.
func roundAtOnce(cfg Config) Config {
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 0, 1
	cfg.Lobby.Rules.Game = game
	return cfg
}

// A host that drains refuses lobbies and tokens, ends empty lobbies at once and one that plays once its
// players have left, and then ends itself.
func TestRow77Drain(t *testing.T) {
	cfg, log := lobbiesConfig("mmsg", 3, 4)
	h, err := New(roundAtOnce(cfg))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- h.Run(context.Background()) }()
	at := "http://" + h.HTTPAddr()
	a := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Host: h.making.host(), Lobby: 1}))
	a.until("a welcome of lobby 1", a.welcomed)
	a.until("a round of lobby 1", func() bool { return h.find(1).status.Load().RoundPhase == mode.Active })

	for range 2 { // repeated requests change nothing
		if status, body := ask(t, "POST", at+"/drain"); status != http.StatusAccepted ||
			!strings.Contains(body, `"draining":true`) {
			t.Errorf("drain: %d %s", status, body)
		}
	}
	a.until("the end of the empty lobbies", func() bool {
		l := lobbiesOf(t, at).Lobbies
		return len(l) == 1 && l[0].Lobby == "1"
	})
	for _, c := range []struct{ method, path string }{{"GET", "/healthz/ready"}, {"POST", "/v1/lobbies"},
		{"POST", "/v1/connect"}} {
		if status, body := ask(t, c.method, at+c.path); status != http.StatusServiceUnavailable ||
			!strings.Contains(body, "drain") {
			t.Errorf("%s while it drains: %d %s", c.path, status, body)
		}
	}
	if _, err := h.CreateLobby(t.Context(), httpapi.LobbySpec{}); !errors.Is(err, httpapi.ErrDraining) {
		t.Errorf("a lobby while it drains: %v", err)
	}
	if !h.Load().Draining {
		t.Error("directors are not told")
	}
	select {
	case err := <-done:
		t.Fatalf("ended with a player in a round: %v: %s", err, log)
	default:
	}

	a.dial.Disconnect(time.Since(a.when), &a.out)
	a.step()
	if err := <-done; err != nil {
		t.Errorf("%v: %s", err, log)
	}
	if !strings.Contains(log.String(), "drained") {
		t.Errorf("the log: %s", log)
	}
}

// A drain that takes too long ends with the players told; so does the drain of a lobby alone.
func TestDrainHasALimit(t *testing.T) {
	t.Parallel() // it waits
	for _, lobbies := range []int{0, 2} {
		cfg, log := lobbiesConfig("gnet", lobbies, lobbies)
		cfg = roundAtOnce(cfg)
		cfg.DrainFor = time.Second
		h, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- h.Run(context.Background()) }()
		a := dialHost(t, h.Addr(), nil)
		a.until("a welcome", a.welcomed)
		a.until("a round", func() bool { return h.find(0).status.Load().RoundPhase == mode.Active })
		h.Drain()
		var why packet.Reason
		a.until("the end", func() (closed bool) {
			why, closed = a.peer.Closed()
			return closed
		})
		if err := <-done; err != nil || why != packet.ReasonClosing {
			t.Errorf("%d lobbies: %v, the player was told %v", lobbies, err, why)
		}
		if !strings.Contains(log.String(), "not drained in time: lobbies end with the server after=1s") {
			t.Errorf("%d lobbies: the log: %s", lobbies, log)
		}
	}
}

// A drain ends a lobby whose round is over, though its players stay; one that was begun before the host
// runs ends it as soon as it does.
func TestRow77DrainAfterARound(t *testing.T) {
	t.Parallel() // it waits
	cfg, _ := lobbiesConfig("mmsg", 1, 1)
	cfg = roundAtOnce(cfg)
	cfg.Lobby.Rules.Game.Mode.RoundMillis, cfg.Lobby.Rules.Game.Mode.PostmatchMillis = 2000, 1000
	for _, before := range []bool{true, false} {
		h, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if before {
			h.Drain()
		}
		done := make(chan error, 1)
		go func() { done <- h.Run(context.Background()) }()
		if !before {
			a := dialHost(t, h.Addr(), nil)
			a.until("a welcome", a.welcomed)
			a.until("a round", func() bool { return h.find(0).status.Load().RoundPhase == mode.Active })
			h.Drain()
			a.until("the end of the lobby", func() bool {
				_, closed := a.peer.Closed()
				return closed
			})
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
