package dst

import (
	"github.com/tickrate/tickrate/ecs/netid"
)

// checkSessions checks that addresses, client ids and slots of sessions map to each other one to
// one, and that no two clients control one player.
func (w *world) checkSessions() {
	gate := w.Lobby.Netcode()
	used := 0
	for slot := range gate.Clients() {
		s, ok := gate.Session(slot)
		if !ok {
			continue
		}
		used++
		if at, ok := gate.At(s.Address); !ok || at != slot {
			w.fail(Sessions, "the session in slot %d is at %v, which leads to slot %d, %v", slot, s.Address, at, ok)
		}
		if at, ok := gate.Find(s.ClientID); !ok || at != slot {
			w.fail(Sessions, "the session in slot %d is of client %d, which leads to slot %d, %v", slot, s.ClientID, at, ok)
		}
	}
	if n := gate.Connected(); n != used {
		w.fail(Sessions, "%d slots are used, and %d sessions are there", used, n)
	}
	if addresses, clients := gate.IndexedSessions(); addresses != used || clients != used { // each session has exactly one of each, as checked above
		w.fail(Sessions, "%d addresses and %d client ids lead to %d sessions", addresses, clients, used)
	}
	var owner [64]netid.ID
	var of [64]int
	for i := range w.Clients {
		c := w.joined(i)
		if c == nil {
			continue
		}
		at := c.ID().Index() % len(owner)
		if owner[at] == c.ID() {
			w.fail(Sessions, "clients %d and %d are both %v", of[at], i, c.ID())
		}
		owner[at], of[at] = c.ID(), i
	}
}
