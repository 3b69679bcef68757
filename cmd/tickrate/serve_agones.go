// The side of serve that joins Agones: the SDK server learns what the host does, and lobbies that
// allocations ask for are made.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/agones"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"
)

// underAgones reports whether the host is a game server of Agones.
func (s *fleetSettings) underAgones() bool { return s.agones || os.Getenv(agones.PortVariable) != "" }

// checkAgones refuses settings that a game server of Agones cannot have, and lets it drain.
func (s *serveSettings) checkAgones() error {
	if !s.fleet.underAgones() {
		return nil
	}
	if s.network.echo || s.match.lobbies.Most == 0 {
		return usage.Error(errors.New("--agones: expected --lobbies N:MOST, and no --echo"))
	}
	s.match.drainFor = cmp.Or(s.match.drainFor, host.DefaultDrain)
	return nil
}

// sdkServer is the URL of the SDK server.
func sdkServer() string {
	return "http://localhost:" + cmp.Or(os.Getenv(agones.PortVariable), agones.DefaultPort)
}

// addressWait is how long a game server waits for its address. Agones gives it before the server
// starts, but the SDK server may come later.
const addressWait = time.Minute

// fillAddress sets the address in tokens to the one that Agones has given, unless there is one.
func (s *fleetSettings) fillAddress(ctx context.Context, cfg *host.Config) error {
	if !s.underAgones() || len(cfg.Lobby.Netcode.Addresses) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	at, err := agones.Address(ctx, sdkServer())
	if err != nil {
		return fmt.Errorf("--agones: %w; --public-addr HOST:PORT needs none", err)
	}
	cfg.Lobby.Netcode.Addresses = []netip.AddrPort{at}
	return nil
}

// gameServer is a host as Agones sees it. It belongs to the goroutine of its client.
type gameServer struct {
	host  *host.Host
	rooms *agones.Rooms
	began time.Time
}

// runAgones tells the SDK server what a host does until stop is called.
func (s *fleetSettings) runAgones(r runningHost, log *slog.Logger) (stop func()) {
	h, ok := r.(*host.Host)
	if !s.underAgones() || !ok {
		return func() {}
	}
	g := &gameServer{h, agones.NewRooms(), time.Now()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	client := agones.NewClient(agones.Config{
		URL:     sdkServer(),
		Figures: g.figures, Open: g.open, Drain: h.Drain, Log: log})
	go func() {
		defer close(done)
		client.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// figures is what the SDK server is told. It ends lobbies whose players have left.
func (g *gameServer) figures() agones.Figures {
	load := g.host.Load()
	taken, end := g.rooms.Step(time.Since(g.began), lobbiesOf(&load))
	for _, id := range end {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = g.host.EndLobby(ctx, id) // one that has no time now ends later
		cancel()
	}
	f := agones.Figures{Taken: taken, Most: load.Most, Draining: load.Draining}
	for _, id := range g.host.ClientIDs() {
		f.Players = append(f.Players, strconv.FormatUint(id, 10))
	}
	return f
}

// open finds a lobby for an allocation: one that waits for it, or a new one.
func (g *gameServer) open(ctx context.Context, a agones.Allocation) error {
	load, now := g.host.Load(), time.Since(g.began)
	if _, ok := g.rooms.Claim(now, a, lobbiesOf(&load)); ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	id, err := g.host.CreateLobby(ctx, httpapi.LobbySpec{Map: a.Map, Mode: a.Mode, Players: a.Players})
	if err != nil {
		return err
	}
	g.rooms.Opened(now, id)
	return nil
}

// lobbiesOf are the lobbies of a host as Agones counts them.
func lobbiesOf(load *host.Load) (all []agones.Lobby) {
	for _, x := range load.Lobbies {
		all = append(all, agones.Lobby{ID: x.ID, Map: x.Map, Mode: x.Mode, Players: x.Players, Slots: x.Slots})
	}
	return all
}
