package dst

import (
	"bytes"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// aloneLog keeps what a start of the host received, so that each of its lobbies can be played again
// alone: on a port without other lobbies, with the datagrams of its own clients.
//
// Sessions of the second port have other ids and challenges, so the log keeps what the first made
// of them: a connection's responses count from the one that it took, and what a client sends after
// its address has changed comes from its first address.
type aloneLog struct {
	cfg      netcode.ServerConfig
	journal  []byte // as it was at the start
	step     int    // steps of this start
	steps    []loggedStep
	arrivals []arrival // of all steps
	sessions []session // by client, before the step in hand
	served   bool      // the server played the step
	batch    int
	batched  int // arrivals in batches so far
}

// loggedStep is one call of Port.Ticks.
type loggedStep struct {
	now  time.Duration
	unix int64
	end  int // index into arrivals
}

// arrival is a datagram that the server received.
type arrival struct {
	client     int // -1: an attacker's
	connection int
	batch      int
	from       netip.AddrPort
	data       []byte
	passed     bool // of a session: it came from the address that the session had
}

// session is what a client had on the host.
type session struct {
	token netcode.TokenTag
	at    netip.AddrPort
	lobby *hosted
}

// batchConn counts the batches that a port reads.
type batchConn struct {
	netio.Conn
	log *aloneLog
}

// Receive notes which arrivals came together.
func (c batchConn) Receive(to *netio.Batch) (n int, err error) {
	n, err = c.Conn.Receive(to)
	for i := range n {
		if at := c.log.batched + i; at < len(c.log.arrivals) {
			c.log.arrivals[at].batch = c.log.batch
		}
	}
	c.log.batched += n
	c.log.batch++
	return n, err
}

// begin starts the log of a start of the host.
func (a *aloneLog) begin(h *host, cfg netcode.ServerConfig) {
	*a = aloneLog{cfg: cfg, journal: bytes.Clone(h.journal), sessions: make([]session, len(h.honest))}
}

// isDue reports whether a lobby plays a tick in the step in hand.
func (a *aloneLog) isDue(l *hosted) bool { return l.plan.due(a.step, l.id) }

// onArrival keeps a datagram.
func (h *host) onArrival(client, connection int, from netip.AddrPort, data []byte) {
	a := &h.alone
	v := arrival{client: client, connection: connection, from: from}
	if client >= 0 && len(data) > 0 {
		v.data = bytes.Clone(data)
		c := h.players[client].connection(connection)
		if netcode.KindOf(data) == netcode.KindRequest && len(data) == 1078 {
			c.token = netcode.TokenTag(data[len(data)-len(netcode.TokenTag{}):])
		}
		if netcode.KindOf(data) == netcode.KindResponse {
			h.responded[from], c.answered = c.token, from
		}
		s := &a.sessions[client]
		v.passed = s.at == from && s.token == c.token
	}
	a.arrivals = append(a.arrivals, v)
}

// beginStep notes that the server plays a step.
func (a *aloneLog) beginStep(now time.Duration, unix int64) {
	a.step++
	a.served = true
	a.batched = 0
	if n := len(a.steps); n > 0 {
		a.batched = a.steps[n-1].end
	}
	a.steps = append(a.steps, loggedStep{now, unix, len(a.arrivals)})
}

// endStep compares the sessions after a step with those before it.
func (a *aloneLog) endStep(h *host) {
	nc := h.port.Netcode()
	from := 0
	if n := len(a.steps); n > 1 {
		from = a.steps[n-2].end
	}
	for i := range a.sessions {
		was := a.sessions[i]
		is := session{}
		if slot, ok := nc.Find(uint64(i)); ok {
			s, _ := nc.Session(slot)
			is = session{s.Token, s.Address, h.find(h.port.LobbyOf(slot))}
		}
		a.sessions[i] = is
		p := &h.players[i]
		switch c := p.withToken(is.token); {
		case is.token == was.token:
			if is.at != was.at {
				a.moved(i, from, was.at, is.at)
			}
		case c != nil:
			c.taken, c.address, c.lobby, c.ended = a.step, is.at, is.lobby, was.lobby
		case was.lobby != nil: // the newest may have ended it, and was rejected at once
			if c := p.newest(); c.token != was.token && c.taken == 0 {
				c.taken, c.address, c.ended = a.step, c.answered, was.lobby
			}
		}
	}
}

// moved finds the datagrams of a step after which a session has another address. The echo that
// moves it is opened after the others of its batch.
func (a *aloneLog) moved(client, from int, was, is netip.AddrPort) {
	echoed := -1 // batch
	for i := from; i < len(a.arrivals) && echoed < 0; i++ {
		v := &a.arrivals[i]
		if v.client == client && v.from == is && netcode.KindOf(v.data) == netcode.KindPath && len(v.data) < 100 {
			echoed = v.batch
		}
	}
	for i := from; i < len(a.arrivals); i++ {
		if v := &a.arrivals[i]; v.client == client {
			v.passed = v.from == was && v.batch <= echoed || v.from == is && v.batch > echoed
		}
	}
}

// comparedCounts are the figures of a lobby that do not depend on its neighbours.
var comparedCounts = [...]metrics.Count{metrics.Joined, metrics.Left, metrics.TimedOut, metrics.Reconnected,
	metrics.Kills, metrics.InputsMissing, metrics.ReliableDropped}

// compare plays a lobby again, alone, up to its last step, and compares the matches.
func (a *aloneLog) compare(h *host, l *hosted, last int, panicked bool) {
	if h.violation != nil || l.violation != nil || last <= l.born {
		return
	}
	again, err := a.play(h, l, last)
	if err != nil {
		h.fail(NoPanic, "lobby %d alone: %v", l.id, err)
		return
	}
	if n := firstDifference(l.trace, again.trace); n >= 0 {
		h.fail(Isolation, "lobby %d: from tick %d on its match is not that of a lobby alone with the same datagrams",
			l.id, (n+1)*traceEvery)
		return
	}
	for _, c := range comparedCounts {
		was, alone := l.Lobby.Stats.Count[c].Load(), again.lobby.Stats.Count[c].Load()
		if was != alone && !panicked {
			h.fail(Isolation, "lobby %d: %v is %d, and %d of a lobby alone with the same datagrams",
				l.id, c, was, alone)
		}
	}
}

// aloneRun is a lobby that plays alone. It is the connection of its port.
type aloneRun struct {
	lobby   *server.Lobby
	trace   []uint64
	in      []arrival // of the step in hand
	next    int       // of in
	players []netid.ID
	scratch [256]byte
}

// play plays a lobby alone, up to a step.
func (a *aloneLog) play(h *host, l *hosted, last int) (*aloneRun, error) {
	cfg := server.PortConfig{Netcode: a.cfg, Host: hostID,
		Stats: &metrics.Stats{Histograms: metrics.NewHistograms(false)}}
	cfg.Netcode.Journal = bytes.Clone(a.journal)
	timer := newTimer()
	cfg.Timer = &timer
	port, err := server.NewPort(cfg)
	if err != nil {
		return nil, err
	}
	p, from := &aloneRun{}, 0
	for i := range a.steps[:last] {
		s := &a.steps[i]
		if i == l.born {
			lobby := l.cfg
			lobby.Port, lobby.Arena = port, l.pristine
			if p.lobby, err = server.NewLobby(lobby); err != nil {
				return nil, err
			}
			port.Add(p.lobby)
		}
		p.in, p.next = p.in[:0], 0
		for _, v := range a.arrivals[from:s.end] {
			if h.feed(&v, l, i+1) {
				p.in = append(p.in, v)
			}
		}
		from = s.end
		var due []server.Due
		if i >= l.born && l.plan.due(i+1, l.id) {
			due = []server.Due{{Lobby: p.lobby, Ticks: 1}}
		}
		if err := port.Ticks(s.now, s.unix, p, due); err != nil {
			return nil, err
		}
		if m := p.lobby; len(due) > 0 && m.Match().Tick()%traceEvery == 0 {
			p.players = appendPlayers(p.players[:0], m.Match())
			p.trace = append(p.trace, traceHash(m.Match(), p.players, p.scratch[:0]))
		}
	}
	return p, nil
}

// feed reports whether a lobby that plays alone gets a datagram, and gives it the address that its
// session has there.
func (h *host) feed(v *arrival, l *hosted, step int) bool {
	if v.client < 0 || len(v.data) == 0 {
		return false
	}
	c := h.players[v.client].connection(v.connection)
	switch netcode.KindOf(v.data) {
	case netcode.KindRequest: // the host may have refused those from other addresses
		return (c.lobby == l || c.ended == l) && (!c.address.IsValid() || v.from == c.address)
	case netcode.KindResponse:
		return (c.lobby == l || c.ended == l) && c.taken != 0 && step >= c.taken
	}
	v.from = c.address
	return c.lobby == l && v.passed
}

// Receive returns the datagrams that came in one batch.
func (p *aloneRun) Receive(to *netio.Batch) (int, error) {
	to.Reset()
	for from := p.next; p.next < len(p.in) && p.in[p.next].batch == p.in[from].batch; p.next++ {
		to.Add(p.in[p.next].data, p.in[p.next].from)
	}
	return to.Len(), nil
}

// Send drops what the lobby says: the clients have heard it.
func (p *aloneRun) Send(*netio.Batch) error { return nil }

// LocalAddr is not used.
func (p *aloneRun) LocalAddr() netip.AddrPort { return netip.AddrPort{} }

// Close does nothing.
func (p *aloneRun) Close() error { return nil }

// Stats is zero.
func (p *aloneRun) Stats() netio.Stats { return netio.Stats{} }
