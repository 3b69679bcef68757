package dst

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"sync"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim/netstate"
)

// checkHost checks what must hold for a host after a step.
func (h *host) checkHost() {
	h.checkTold()
	if h.noTick {
		return
	}
	h.checkRoutes()
	for _, p := range h.ports {
		h.checkIndex(p.Netcode())
	}
	for _, l := range h.lobbies {
		if n := l.Lobby.Stats.PacketDrops[packet.DropDuplicate].Load(); n != 0 {
			h.fail(Sessions, "lobby %d: %d packets were opened twice", l.id, n)
		}
	}
	h.checkAccounts(false)
}

// checkRoutes checks that each session belongs to the lobby that its token names, that lobby to the
// host, and that no client has two sessions.
func (h *host) checkRoutes() {
	has := make([]bool, len(h.players))
	for _, p := range h.ports {
		for slot := range p.Netcode().Clients() {
			s, ok := p.Netcode().Session(slot)
			l := p.LobbyOf(slot)
			in := h.find(l)
			switch {
			case ok != (l != nil):
				h.fail(Sessions, "client %d of the port has a session: %v, and a lobby: %v", slot, ok,
					l != nil)
			case ok && in == nil:
				h.fail(Sessions, "client %d is in lobby %d, which has ended", s.ClientID, l.ID())
			case ok && s.ClientID < uint64(len(has)):
				if has[s.ClientID] {
					h.fail(Sessions, "client %d has two sessions", s.ClientID)
				}
				has[s.ClientID] = true
				c := h.players[s.ClientID].withToken(s.Token)
				if c != nil && c.named && c.ref.Lobby != in.id {
					h.fail(NoLeak, "client %d with a token for lobby %d is in lobby %d", s.ClientID,
						c.ref.Lobby, in.id)
				}
			}
		}
	}
	for _, l := range h.lobbies {
		if l.place.moving == nil && h.ports[l.place.worker].Find(l.id) != l.Lobby {
			h.fail(Sessions, "lobby %d is not found", l.id)
		}
	}
}

// checkAccounts checks that each datagram counts once, for a port or for a lobby. While workers hand
// datagrams to each other, some do not count yet; last: none is under way.
func (h *host) checkAccounts(last bool) {
	sum := h.past.counts
	for i := range h.portStats {
		sum.add(&h.portStats[i])
	}
	for _, l := range h.lobbies {
		if !h.alone.isDue(l) { // it publishes its counts with its next tick
			return
		}
		sum.add(&l.Lobby.Stats)
	}
	opened, sealed := uint64(0), uint64(0)
	for _, p := range h.ports {
		nc := p.Netcode().Counters()
		opened += nc.Received
		for _, n := range nc.Sent {
			sealed += n
		}
	}
	in, exact := h.wire.received, last || len(h.ports) == 1
	if sum.received != sum.accounted || opened != sum.received || opened > in || exact && opened != in {
		h.fail(Accounts, "%d datagrams reached the host, which counted %d and accounts for %d, netcode "+
			"for %d", in, sum.received, sum.accounted, opened)
	}
	if out := h.wire.sent; sum.sent != out || sealed != out {
		h.fail(Accounts, "%d datagrams left the host, which counted %d, and netcode %d", out, sum.sent,
			sealed)
	}
	if sum.unbalanced != 0 {
		h.fail(Accounts, "%d ticks do not balance", sum.unbalanced)
	}
}

// hostLost is the time after which no client may have to connect again.
const hostLost = 21 * time.Second

// checkHostLife checks at the end that every client plays in a lobby.
func (h *host) checkHostLife() {
	for i, c := range h.Clients {
		if c == nil {
			h.fail(Liveness, "client %d is not connected", i)
			continue
		}
		state, why := c.State()
		in := h.players[i].newest().lobby
		if began := h.honest[i].startedAt; state != client.Joined || in == nil || began > hostLost {
			h.fail(Liveness, "client %d, which connected at %v, is %v in lobby %v: %v",
				i, began, state, in != nil, why)
			continue
		}
		m := in.Lobby.Match()
		switch inputs := m.CommandBuffer(c.ID()); {
		case inputs == nil:
			h.fail(Liveness, "client %d is %v, which is not in the match of lobby %d", i, c.ID(), in.id)
		case inputs.Last().Tick+4 < m.Tick():
			h.fail(Liveness, "client %d's last input is for tick %d, now is %d", i, inputs.Last().Tick,
				m.Tick())
		case c.Newest()+in.maxSnapshotAge() < m.Tick():
			h.fail(Liveness, "client %d's newest snapshot is %d, now is %d", i, c.Newest(), m.Tick())
		}
	}
	n := 0
	for _, p := range h.ports {
		n += p.Netcode().Connected()
	}
	if n != len(h.Clients) {
		h.fail(Liveness, "%d sessions for %d clients", n, len(h.Clients))
	}
}

// trainedAtFirst is the hash of the models that all lobbies share, as the process began with them.
var trainedAtFirst = sync.OnceValue(hashOfModels)

func hashOfModels() [32]byte { return sha256.Sum256(netstate.Trained().Append(nil)) }

// checkShared checks that no lobby has written what all lobbies read.
func (h *host) checkShared() {
	pristine, err := arena16()
	if err != nil {
		h.fail(NoPanic, "%v", err)
		return
	}
	if !reflect.DeepEqual(h.shared, pristine) {
		h.fail(Isolation, "a lobby has written the map that all lobbies share")
	}
	now, first := hashOfModels(), trainedAtFirst()
	if !bytes.Equal(now[:], first[:]) {
		h.fail(Isolation, "a lobby has written the models that all lobbies share")
	}
}
