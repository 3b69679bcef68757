package server

import (
	"net/netip"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/session"
)

// guest is one player's connection: who it is, and what it is known to hold.
type guest struct {
	id      ecs.NetID
	addr    netip.AddrPort
	nonce   uint64
	peer    *session.Peer
	tracker *snapshot.Tracker     // which public rows it holds, by group
	owner   *snapshot.OwnerWriter // its own rows, and which of them it holds
	sent    tick.Tick             // newest tick it was sent a snapshot of
	acked   tick.Tick             // newest tick of which it acknowledged anything
	used    uint64                // of its inbox's counts, as far as they are in the lobby's
	missing uint64
}

// forget takes the guest to hold nothing: snapshots begin anew without baselines.
func (g *guest) forget(l *Lobby) {
	groups := (l.cfg.Players + snapshot.GroupRows - 1) / snapshot.GroupRows
	g.tracker = snapshot.NewTracker(groups, tick.Tick(l.cfg.Interval))
	g.owner = snapshot.NewOwnerWriter(l.cfg.Models.Owner, tick.Tick(l.cfg.Interval))
	g.owner.Count(l.ownerCounts)
	g.acked = 0
}
