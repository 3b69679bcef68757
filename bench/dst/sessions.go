package dst

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/netcode"
)

// checkSessions checks that addresses, client ids and slots of sessions map to each other one to
// one.
func (r *run) checkSessions() { r.checkIndex(r.Lobby.Netcode()) }

func (r *run) checkIndex(nc *netcode.Server) {
	used := 0
	for slot := range nc.Clients() {
		s, ok := nc.Session(slot)
		if !ok {
			continue
		}
		used++
		if at, ok := nc.At(s.Address); !ok || at != slot {
			r.fail(Sessions, "the session in slot %d is at %v, which leads to slot %d, %v",
				slot, s.Address, at, ok)
		}
		if at, ok := nc.Find(s.ClientID); !ok || at != slot {
			r.fail(Sessions, "the session in slot %d is of client %d, which leads to slot %d, %v",
				slot, s.ClientID, at, ok)
		}
	}
	if n := nc.Connected(); n != used {
		r.fail(Sessions, "%d slots are used, and %d sessions are there", used, n)
	}
	// Each session has exactly one address and one client id, so an index of another size is stale.
	if addresses, clients := nc.IndexedSessions(); addresses != used || clients != used {
		r.fail(Sessions, "%d addresses and %d client ids lead to %d sessions", addresses, clients, used)
	}
}

// checkPlayers checks that no two clients control one player.
func (r *run) checkPlayers() {
	var owner [64]netid.ID // player by its slot
	var of [64]int         // client that controls it
	for i := range r.Clients {
		c := r.joined(i)
		if c == nil {
			continue
		}
		at := c.ID().Index() % len(owner)
		if owner[at] == c.ID() {
			r.fail(Sessions, "clients %d and %d are both %v", of[at], i, c.ID())
		}
		owner[at], of[at] = c.ID(), i
	}
}
