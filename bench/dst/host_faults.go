package dst

import (
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
)

// startFault begins a fault of the lobbies or of a client's choice among them.
func (h *host) startFault(f *fault) {
	switch f.Kind {
	case LobbyMade:
		h.makeLobby(f)
	case LobbyEnded:
		h.endLobby(f)
	case LobbyPanic:
		l := h.lobbies[f.Lobby%len(h.lobbies)]
		if h.replace(l, f) {
			l.panics, l.stage = true, metrics.Stage(f.rng.IntN(metrics.NumStages))
			if l.stage < metrics.StageSystems { // those are the port's
				l.stage = metrics.StageCapture
			}
		}
	case LobbyMoved:
		h.move(h.lobbies[f.Lobby%len(h.lobbies)], f)
	case ChangeLobby:
		h.changeLobby(f)
	case StrayToken:
		h.players[f.Client].stray = true
		h.part(f.Client, f.rng.IntN(2) == 0, 200*time.Millisecond)
	}
}

// makeLobby makes a lobby while the others play.
func (h *host) makeLobby(f *fault) *hosted { return h.make(drawLobby(f.rng, false)) }

// make makes a lobby of a plan; nil after a failure.
func (h *host) make(plan LobbyPlan) *hosted {
	l, err := h.add(h.nextID, plan)
	if err != nil {
		h.fail(NoPanic, "no lobby: %v", err)
		return nil
	}
	h.nextID++
	h.lobbies = append(h.lobbies, l)
	return l
}

// endLobby ends a lobby while the others play.
func (h *host) endLobby(f *fault) {
	l := h.lobbies[f.Lobby%len(h.lobbies)]
	if !h.replace(l, f) {
		return
	}
	port := h.ports[l.place.worker]
	h.serving = l.place.worker
	port.Remove(h.Now(), l.Lobby, packet.ReasonClosing)
	if h.finish(l, packet.ReasonClosing); port.Find(l.id) != nil {
		h.fail(Sessions, "lobby %d has ended and is still there", l.id)
	}
}

// move takes a lobby from its worker. After up to three steps, in which it does not play, it is the
// other worker's.
func (h *host) move(l *hosted, f *fault) {
	if len(h.ports) < 2 || l.place.moving != nil || l.panics {
		return
	}
	h.serving = l.place.worker
	if err := h.ports[l.place.worker].Flush(h.Now(), h.conn); err != nil {
		h.fail(NoPanic, "%v", err)
	}
	if l.place.moving = h.ports[l.place.worker].Detach(h.Now(), l.Lobby); l.place.moving == nil {
		h.fail(Sessions, "lobby %d does not move", l.id)
	}
	l.place.arrives = h.alone.step + f.rng.IntN(4)
}

// endMoves gives the other worker the lobbies that have moved; all: also those that had more time.
func (h *host) endMoves(all bool) {
	for _, l := range h.lobbies {
		if l.place.moving == nil || h.alone.step < l.place.arrives && !all {
			continue
		}
		l.place.worker = (l.place.worker + 1) % len(h.ports)
		h.serving = l.place.worker
		if err := h.ports[l.place.worker].Attach(h.Now(), l.place.moving); err != nil {
			h.fail(Sessions, "lobby %d has not moved: %v", l.id, err)
		}
		l.place.moving = nil
	}
}

// replace reports whether a lobby may end. It makes another one if no other has room for everybody.
func (h *host) replace(l *hosted, f *fault) bool {
	if l.panics || l.place.moving != nil {
		return false
	}
	for _, other := range h.lobbies {
		if other != l && other.plan.Players == 0 && !other.panics {
			return true
		}
	}
	plan := l.plan
	plan.Players = 0
	return h.make(plan) != nil
}

// changeLobby has a client go to another lobby: after a goodbye, or while its session lasts.
func (h *host) changeLobby(f *fault) {
	p := &h.players[f.Client]
	p.wish = h.lobbies[f.rng.IntN(len(h.lobbies))].id
	// Before, at and after the instant from which a takeover is possible.
	after := time.Duration(f.rng.IntN(3)) * 700 * time.Millisecond
	h.part(f.Client, f.rng.IntN(2) == 0, after)
}

// part ends a client, with or without a goodbye. Another one begins after a time.
func (h *host) part(i int, goodbye bool, after time.Duration) {
	s := &h.honest[i]
	if h.Clients[i] == nil || s.stalls > 0 {
		return
	}
	if goodbye {
		h.Leave(i)
	} else {
		h.Crash(i)
	}
	s.reconnectAt = h.Now() + after
}
