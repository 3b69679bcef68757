package dst

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
)

// player is an honest player of a host: where it wants to play, and the connections of all its
// clients.
type player struct {
	rng         *rand.Rand
	wish        uint32 // lobby that it plays in; 0: none yet
	stray       bool   // its next token leads nowhere
	unclean     time.Duration
	told        time.Duration // by then it must know that its lobby has ended; 0: nothing to know
	connections []connection
}

// connection is one attempt of a player to play, with a token of its own.
type connection struct {
	tokens   []netcode.TokenTag // of its requests: its token's, and others of damaged ones
	named    bool
	ref      protocol.LobbyRef // if named
	refused  packet.Reason     // what its token must be refused for; 0: nothing
	taken    int               // step in which the host took it; 0: it did not
	address  netip.AddrPort    // of its session at first
	answered netip.AddrPort    // from which its newest answer to a challenge came
	lobby    *hosted           // of its session; nil: none yet
	ended    *hosted           // lobby of the session that it took over
}

// connection returns a connection by its number, from 1 on.
func (p *player) connection(n int) *connection { return &p.connections[n-1] }

// has reports whether a token is that of the connection.
func (c *connection) has(t netcode.TokenTag) bool { return slices.Contains(c.tokens, t) }

// wasIn reports whether a lobby may have a player of a connection before number n.
func (p *player) wasIn(l *hosted, n int) bool {
	return slices.ContainsFunc(p.connections[:n-1], func(c connection) bool { return c.lobby == l })
}

// newest returns the connection of the current client.
func (p *player) newest() *connection { return &p.connections[len(p.connections)-1] }

// withToken returns the connection with a token, nil if there is none.
func (p *player) withToken(t netcode.TokenTag) *connection {
	for i := range p.connections {
		if c := &p.connections[i]; c.has(t) {
			return c
		}
	}
	return nil
}

// changeToken says in a client's next token where it is to play. One player in four leaves it to
// the host.
func (h *host) changeToken(i int, m *netcode.Mint) {
	p := &h.players[i]
	m.TimeoutSeconds = hostTimeoutSeconds
	c := connection{named: i%4 != 3, ref: protocol.LobbyRef{Host: hostID, Lobby: h.choose(p)}}
	if p.rng.IntN(2) == 0 {
		c.ref.Host = 0
	}
	if p.stray {
		p.stray, c.named = false, true
		h.strayRef(p, &c)
	}
	if c.named {
		c.ref.Mark(m.UserData[:])
	}
	p.connections = append(p.connections, c)
}

// strayRef names a lobby that refuses the player, or may.
func (h *host) strayRef(p *player, c *connection) {
	switch p.rng.IntN(3) {
	case 0:
		c.ref.Host, c.refused = hostID+1, packet.ReasonOtherHost
	case 1:
		c.ref.Lobby, c.refused = 1<<20+p.rng.Uint32N(9), packet.ReasonNoLobby
	default:
		for _, l := range h.lobbies {
			if l.plan.Players != 0 {
				c.ref.Lobby = l.id
			}
		}
	}
}

// choose returns the lobby that a player wants: the one before, while it plays, or another. In the
// quiet part it has room for everybody.
func (h *host) choose(p *player) uint32 {
	quiet := h.Sim != nil && h.Now() >= h.when.faultsEnd
	fits := func(l *hosted) bool { return !quiet || l.plan.Players == 0 }
	for _, l := range h.lobbies {
		if l.id == p.wish && fits(l) {
			return p.wish
		}
	}
	for n := p.rng.IntN(len(h.lobbies)); ; n++ {
		if l := h.lobbies[n%len(h.lobbies)]; fits(l) {
			p.wish = l.id
			return l.id
		}
	}
}

// find returns the run of a lobby, nil for none.
func (h *host) find(l *server.Lobby) *hosted {
	for _, has := range h.lobbies {
		if l != nil && has.Lobby == l {
			return has
		}
	}
	return nil
}

// plays reports whether there is a lobby with an ID.
func (h *host) plays(id uint32) bool {
	return slices.ContainsFunc(h.lobbies, func(l *hosted) bool { return l.id == id })
}

// clean reports whether nothing hinders a player's datagrams.
func (h *host) clean(i int) bool {
	s := &h.honest[i]
	return s.badLink == nil && !s.congested && s.blackholes == 0 && s.stalls == 0
}

// migration is how long a session may take to follow its client to a new address.
const migration = 2 * time.Second

// hindered notes that something keeps datagrams from a player's client.
func (h *host) hindered(i int) { h.players[i].unclean = max(h.players[i].unclean, h.Now()) }

func (h *host) hinderedAll() {
	for i := range h.players {
		h.players[i].told = 0
		h.hindered(i)
	}
}

// cleanFor is how long nothing has hindered a player's datagrams.
func (h *host) cleanFor(i int) time.Duration { return h.Now() - h.players[i].unclean }

// reconnect replaces a client that is missing or whose connection is over.
func (h *host) reconnect(i int) {
	s, now := &h.honest[i], h.Now()
	if h.noTick || !h.clean(i) {
		h.hindered(i)
	}
	if c := h.Clients[i]; c != nil {
		state, why := c.State()
		slow := state < client.Joined && now-s.startedAt > 4*time.Second && s.stalls == 0 && s.blackholes == 0
		if state > client.Joined {
			h.over(i, why)
		}
		if state > client.Joined || slow {
			h.Crash(i)
			s.reconnectAt = now + 300*time.Millisecond
		}
		return
	}
	if s.reconnectAt != 0 && (now >= s.reconnectAt || now >= h.when.faultsEnd) && s.stalls == 0 {
		h.players[i].told = 0
		if err := h.Connect(i); err != nil {
			h.fail(NoPanic, "client %d cannot connect: %v", i, err)
		}
		*s = honest{machine: s.machine, startedAt: now, serverStart: h.starts}
	}
}

// over checks why a client's connection is over.
func (h *host) over(i int, why packet.Reason) {
	p := &h.players[i]
	c := p.newest()
	p.told = 0
	var want packet.Reason
	switch {
	case c.refused != 0:
		want = c.refused
	case c.lobby != nil && c.lobby.why != 0:
		want = c.lobby.why
	}
	smooth := h.cleanFor(i) > hostTimeoutSeconds*time.Second+2*time.Second
	silence := why == 0 || why == packet.ReasonTimeout
	switch {
	case want != 0 && why != want && (smooth || !silence):
		h.fail(Liveness, "client %d was told %v, expected %v", i, why, want)
	case want == 0 && why == packet.ReasonFull: // of a small lobby: another one
		p.wish = 0
	case want == 0 && why == packet.ReasonNoLobby && c.named && c.lobby == nil && !h.plays(c.ref.Lobby):
	case want == 0 && c.lobby == nil && h.past.lastWhy == why && why != 0: // it ended meanwhile
	case want == 0 && (!silence || smooth):
		h.fail(Liveness, "client %d was told %v, and its lobby plays", i, why)
	}
}

// followClients gives each lobby the clients that play in it.
func (h *host) followClients() {
	for i, c := range h.Clients {
		var in *hosted
		if c != nil {
			if state, _ := c.State(); state <= client.Joined {
				in = h.players[i].newest().lobby
			} else if h.players[i].newest().refused == 0 {
				in = nil
			}
			if state, _ := c.State(); state == client.Joined && h.players[i].newest().refused != 0 {
				h.fail(Sessions, "client %d joined with a token for %+v", i, h.players[i].newest().ref)
			}
		}
		for _, l := range h.lobbies {
			switch {
			case l != in:
				l.Clients[i] = nil
			case l.Clients[i] != c:
				l.Clients[i] = c
				l.honest[i] = honest{linesSent: l.honest[i].linesSent, startedAt: h.honest[i].startedAt,
					settleAt: h.when.settled, serverStart: 1}
				l.visibility.forget(i)
			}
		}
	}
}

// lobbyEnded notes which clients must be told that their lobby has ended.
func (h *host) lobbyEnded(l *hosted, why packet.Reason) {
	l.why, h.past.lastWhy = why, why
	if why == 0 { // killed
		h.hinderedAll()
		return
	}
	for i := range h.players {
		if l.Clients[i] != nil && h.Clients[i] == l.Clients[i] && h.cleanFor(i) > 2*time.Second {
			h.players[i].told = h.Now() + time.Second
		}
	}
}

// checkTold checks that the clients of lobbies that have ended know it.
func (h *host) checkTold() {
	for i := range h.players {
		p := &h.players[i]
		if p.told == 0 || h.Now() < p.told {
			continue
		}
		if p.told = 0; h.Clients[i] != nil && h.cleanFor(i) > 3*time.Second {
			h.fail(Liveness, "client %d has not been told that its lobby has ended", i)
		}
	}
}
