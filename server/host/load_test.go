package host

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// What a host says of itself counts players, and lists a lobby as soon as it is made.
func TestLoadOfAHost(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 1, 2)
	h, stop := running(t, cfg)
	defer stop()
	a := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Host: h.Load().Instance, Lobby: 0}))
	a.until("a welcome of lobby 0", a.welcomed)
	a.until("a player in the figures", func() bool { return h.Load().Lobbies[0].Players == 1 })
	a.until("an arrival of the last minute", func() bool { return h.Load().Arrivals == 1 })
	a.until("its id in the list", func() bool { return slices.Equal(h.ClientIDs(), []uint64{1}) })

	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	id, err := h.CreateLobby(ctx, httpapi.LobbySpec{Players: 3})
	if err != nil {
		t.Fatal(err)
	}
	l := h.Load()
	if l.Most != 2 || l.Workers != 1 || l.Instance == 0 || len(l.Addresses) == 0 || len(l.Lobbies) != 2 ||
		l.Busy < 0 || l.Busy > 1 || l.Tick <= 0 || l.Tick > time.Second {
		t.Errorf("%+v", l)
	}
	if x := l.Lobbies[1]; x.ID != id || x.Slots != 3 || x.Players != 0 || !x.Open || x.Map == "" || x.Mode == "" {
		t.Errorf("the new lobby: %+v", x)
	}
}
