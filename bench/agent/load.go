package agent

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// load is the players of a share while they are connected. One goroutine uses it.
type load struct {
	// join connects all players and plays until their clocks have settled.
	join func(ctx context.Context) error
	// run plays for the time d, until ctx ends, or until stop returns true; see swarm.Swarm.Run.
	run     func(ctx context.Context, d time.Duration, stop func() bool) error
	reset   func() // starts new figures
	figures *swarm.Figures
	close   func() error // disconnects
}

// openSwarm opens the players of a job. Share.First gives them seeds, bots, tokens and lobbies as
// they have in a swarm of all players.
func openSwarm(o *order) (*load, error) {
	sc, share := o.scenario, o.Share
	var at []netip.AddrPort
	for _, s := range rotated(o.Servers, share.First) {
		at = append(at, s.At)
	}
	s, err := swarm.Open(swarm.Config{
		Servers: at, Lobbies: o.Lobbies, Players: share.Count, First: share.First,
		FirstSpectator: o.Players,
		Full:           share.full(sc.Play.Full), Decode: simbench.Decode(sc), Seed: sc.Play.Seed,
		Rate: tick.Rate(sc.Rates.TickHz), Brain: simbench.Brains(sc), Token: o.token,
		Arrival: time.Duration(sc.Play.Arrival), ChurnPerMinute: sc.Play.LeavesPerMinute,
	})
	if err != nil {
		return nil, err
	}
	return &load{join: func(ctx context.Context) error { return join(ctx, s, o) }, run: s.Run, reset: s.Reset,
		figures: &s.Figures, close: s.Close}, nil
}

// join connects the players of a job, and lets their clocks settle where lobbies share a process.
func join(ctx context.Context, s *swarm.Swarm, o *order) error {
	sc := o.scenario
	if err := runner.Connect(ctx, s, o.Share.Count, time.Duration(sc.Play.Arrival)); err != nil {
		return err
	}
	if err := runner.EnlargePages(ctx, s); err != nil || !sc.SharedProcess() {
		return err
	}
	return runner.Settle(ctx, s)
}

// token makes the connect token of client n of all.
func (o *order) token(n int) ([]byte, error) {
	lobby := n % o.Lobbies
	server := &o.Servers[lobby%len(o.Servers)]
	var id [8]byte
	_, _ = rand.Read(id[:]) // does not fail: it stops the program
	now := uint64(time.Now().Unix())
	m := netcode.Mint{ProtocolID: protocol.ProtocolID,
		TimeoutSeconds: httpapi.TimeoutSeconds(httpapi.DefaultSessionTimeout),
		Servers:        []netip.AddrPort{server.Token}, ClientID: binary.LittleEndian.Uint64(id[:]), Create: now,
		Expire: now + uint64(httpapi.DefaultTokenLifetime/time.Second)}
	if n >= o.Players {
		protocol.MarkSpectator(m.UserData[:])
	}
	if len(o.Servers) < o.Lobbies {
		protocol.LobbyRef{Lobby: uint32(lobby)}.Mark(m.UserData[:])
	}
	return m.Append(nil, &server.Key, rand.Reader)
}
