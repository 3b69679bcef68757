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
	arrivals []arrival       // of all steps
	sessions []session       // by client, before the step in hand
	served   bool            // the server played the step
	migrated bool            // a session followed its client to another address
	batch    int             // read so far
	next     [maxWorkers]int // of arrivals, by worker
}

// maxWorkers is the largest number of workers of a host.
const maxWorkers = 2

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
	step       int
	worker     int // whose socket it reached
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
	heard time.Duration // when its newest datagram came
}

// hear notes a datagram of a session.
func (s *session) hear(v *arrival, now time.Duration) {
	switch path := netcode.KindOf(v.data) == netcode.KindPath; {
	case !v.passed:
	case !path:
		s.heard = now
	default:
		s.hearPath(now)
	}
}

// hearPath notes a datagram that moves sessions. It keeps a session alive, too, but names it by an id
// that a second port has not drawn: what comes of a silent one that it saves is not known.
func (s *session) hearPath(now time.Duration) {
	if now-s.heard > hostTimeoutSeconds/2*time.Second && s.lobby != nil {
		s.lobby.order.unknown = true
	}
}

// workerConn is the socket of a worker. The kernel picks it by the source of a datagram.
type workerConn struct {
	netio.Conn
	log    *aloneLog
	worker int
}

// Receive returns the next arrivals of the step for the worker, and notes which came together.
func (c workerConn) Receive(to *netio.Batch) (n int, err error) {
	to.Reset()
	a := c.log
	for next := &a.next[c.worker]; *next < len(a.arrivals) && !to.Full(); *next++ {
		if v := &a.arrivals[*next]; v.worker == c.worker {
			v.batch = a.batch
			to.Add(v.data, v.from)
		}
	}
	a.batch++
	return to.Len(), nil
}

// begin starts the log of a start of the host.
func (a *aloneLog) begin(h *host, cfg netcode.ServerConfig) {
	*a = aloneLog{cfg: cfg, journal: bytes.Clone(h.journal), sessions: make([]session, len(h.honest))}
}

// isDue reports whether a lobby plays a tick in the step in hand.
func (a *aloneLog) isDue(l *hosted) bool { return l.place.moving == nil && l.plan.due(a.step, l.id) }

// onArrival keeps a datagram.
func (h *host) onArrival(client, connection int, from netip.AddrPort, data []byte) {
	a := &h.alone
	v := arrival{client: client, connection: connection, from: from, data: bytes.Clone(data),
		step: a.step + 1}
	v.worker = (int(from.Port()) + int(from.Addr().As4()[2])) % len(h.ports)
	if client >= 0 && len(data) > 0 {
		c := h.players[client].connection(connection)
		if tag, ok := tokenOfRequest(data); ok && !c.has(tag) {
			c.tokens = append(c.tokens, tag)
		}
		if len(c.tokens) > 0 && netcode.KindOf(data) == netcode.KindResponse {
			c.answered = from
		}
		s := &a.sessions[client]
		v.passed = s.at == from && c.has(s.token)
		s.hear(&v, h.Now())
	}
	a.arrivals = append(a.arrivals, v)
}

// beginStep notes that the server plays a step, and whose the lobbies are in it.
func (a *aloneLog) beginStep(h *host, now time.Duration, unix int64) {
	a.step++
	a.served = true
	a.steps = append(a.steps, loggedStep{now, unix, len(a.arrivals)})
	for _, l := range h.lobbies {
		at := int8(l.place.worker)
		if l.place.moving != nil {
			at = -1 - at
		}
		l.place.history = append(l.place.history, at)
	}
}

// endStep compares the sessions after a step with those before it.
func (a *aloneLog) endStep(h *host) {
	for i := range a.sessions {
		was := a.sessions[i]
		if was.lobby != nil && was.lobby.place.moving != nil {
			continue
		}
		is := session{}
		for _, p := range h.ports {
			if slot, ok := p.Netcode().Find(uint64(i)); ok {
				s, _ := p.Netcode().Session(slot)
				is = session{s.Token, s.Address, h.find(p.LobbyOf(slot)), h.Now()}
			}
		}
		if is.token == was.token {
			is.heard = was.heard
		}
		a.sessions[i] = is
		p := &h.players[i]
		switch c := p.withToken(is.token); {
		case is.token == was.token:
			if is.at != was.at {
				was.hearPath(h.Now())
				a.moved(i, was.at, is.at)
				a.migrated = true
			}
		case c != nil:
			c.taken, c.address, c.lobby, c.ended = a.step, is.at, is.lobby, was.lobby
			a.began(p, i, c)
			if l := is.lobby; l != nil && len(h.ports) > 1 {
				// which of two comes first is not known of one that another worker had at first
				l.order.unknown = l.order.unknown || l.order.newest == a.step && (!c.named || l.order.unnamed)
				l.order.unnamed = !c.named || l.order.unnamed && l.order.newest == a.step
				l.order.newest = a.step
			}
			if was.lobby != nil && was.lobby != is.lobby && len(h.ports) > 1 {
				was.lobby.order.unknown = true
			}
		case was.lobby != nil: // the newest may have ended it, and was rejected at once
			c := p.newest()
			if c.has(was.token) || !c.answered.IsValid() {
				break
			}
			if len(h.ports) > 1 {
				was.lobby.order.unknown = true
			}
			if c.taken == 0 {
				c.taken, c.address, c.ended = a.step, c.answered, was.lobby
			}
		}
	}
}

// ofStep returns the datagrams that came in the step in hand.
func (a *aloneLog) ofStep() []arrival {
	if n := len(a.steps); n > 1 {
		return a.arrivals[a.steps[n-2].end:]
	}
	return a.arrivals
}

// began finds the datagrams of a connection that came in the step in which its session began and
// reached it: those of its worker, and those of workers that play the step later and hand them over.
// Workers that play it earlier find no session. Such a datagram is a disconnect, of a client that
// leaves before it knows that it is in.
func (a *aloneLog) began(p *player, client int, c *connection) {
	arrivals := a.ofStep()
	for i := range arrivals {
		v := &arrivals[i]
		if v.client == client && p.connection(v.connection) == c && v.from == c.address {
			v.passed = c.lobby != nil && v.worker >= c.lobby.place.worker
		}
	}
}

// moved finds the datagrams of a step after which a session has another address. The echo that
// moves it is opened after the others of its batch.
func (a *aloneLog) moved(client int, was, is netip.AddrPort) {
	arrivals, echoed := a.ofStep(), -1 // batch
	for i := 0; i < len(arrivals) && echoed < 0; i++ {
		v := &arrivals[i]
		path := netcode.KindOf(v.data) == netcode.KindPath && len(v.data) < 100
		if path && v.client == client && v.from == is {
			echoed = v.batch
		}
	}
	for i := range arrivals {
		if v := &arrivals[i]; v.client == client {
			v.passed = v.from == was && v.batch <= echoed || v.from == is && v.batch > echoed
		}
	}
}

// comparedCounts are the figures of a lobby that do not depend on its neighbours.
var comparedCounts = [...]metrics.Count{metrics.Joined, metrics.Left, metrics.TimedOut, metrics.Reconnected,
	metrics.Kills, metrics.InputsMissing, metrics.ReliableDropped}

// compare plays a lobby again, alone, up to its last step, and compares the matches.
func (a *aloneLog) compare(h *host, l *hosted, last int, panicked bool) {
	if h.violation != nil || l.violation != nil || last <= l.born || h.repeats {
		return
	}
	if l.order.unknown || len(h.ports) > 1 && a.migrated {
		return
	}
	again, err := a.play(h, l, last)
	if err != nil {
		h.fail(NoPanic, "lobby %d alone: %v", l.id, err)
		return
	}
	if again == nil {
		return
	}
	h.past.compared++
	if n := firstDifference(l.trace, again.trace); n >= 0 {
		h.fail(Isolation,
			"lobby %d: from tick %d on its match is not that of a lobby alone with the same datagrams",
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

// play plays a lobby alone, up to a step. It returns nil if the order of its sessions is not known.
func (a *aloneLog) play(h *host, l *hosted, last int) (*aloneRun, error) {
	cfg := server.PortConfig{Netcode: a.cfg, Host: hostID,
		Stats: &metrics.Stats{Histograms: metrics.NewHistograms(false)}}
	cfg.Netcode.Journal = bytes.Clone(a.journal)
	if len(h.ports) > 1 { // the same key of challenges
		var err error
		if cfg.Steering, cfg.Netcode.Tokens, err = newSteering(1, cfg.Netcode); err != nil {
			return nil, err
		}
	}
	timer := newTimer()
	cfg.Timer = &timer
	port, err := server.NewPort(cfg)
	if err != nil {
		return nil, err
	}
	feeds, ordered := a.feeds(h, l, last)
	if !ordered {
		return nil, nil
	}
	p := &aloneRun{}
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
		p.in, p.next = feeds[i], 0
		var due []server.Due
		if i >= l.born && l.place.history[i-l.born] >= 0 && l.plan.due(i+1, l.id) {
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

// feeds returns the datagrams that a lobby alone gets, by step. ordered: it is known in which order the
// sessions of a step begin.
func (a *aloneLog) feeds(h *host, l *hosted, last int) (all [][]arrival, ordered bool) {
	handed, own := make([][]arrival, last), make([][]arrival, last)
	moved := map[int]bool{} // steps with a session that began at the worker which the lobby had left
	for _, v := range a.arrivals {
		if !h.feed(&v, l) {
			continue
		}
		step, wasHanded := v.takenAt(l)
		c := h.players[v.client].connection(v.connection)
		switch netcode.KindOf(v.data) {
		case netcode.KindRequest:
			if !c.named && !h.players[v.client].wasIn(l, v.connection) { // the worker that has it answers
				step, wasHanded = v.step, false
			}
		case netcode.KindResponse:
			switch {
			case step < c.taken && len(h.ports) == 1:
				continue
			case step < c.taken: // its session has gone to another worker
				step, wasHanded = c.taken, true
				moved[step] = true
			}
		}
		if step > last {
			continue
		}
		if wasHanded {
			v.batch = -1
			handed[step-1] = append(handed[step-1], v)
		} else {
			own[step-1] = append(own[step-1], v)
		}
	}
	for i := range own {
		own[i] = append(handed[i], own[i]...)
	}
	return own, !h.anyWithOthers(l, moved)
}

// anyWithOthers reports whether several sessions of a lobby began in one of some steps.
func (h *host) anyWithOthers(l *hosted, steps map[int]bool) bool {
	began := map[int]int{}
	for i := range h.players {
		for _, c := range h.players[i].connections {
			if (c.lobby == l || c.ended == l) && steps[c.taken] {
				if began[c.taken]++; began[c.taken] > 1 {
					return true
				}
			}
		}
	}
	return false
}

// takenAt returns the step in which the worker of a lobby takes a datagram, and whether another
// worker has handed it over. Workers play a step one after another, so what goes to an earlier one
// is taken in the next step, and what waits for a lobby that moves is tried again in each.
func (v *arrival) takenAt(l *hosted) (step int, handed bool) {
	step = v.step
	for at := v.worker; ; handed = true {
		i := step - 1 - l.born
		if i < 0 || i >= len(l.place.history) {
			return step, handed
		}
		switch to := int(l.place.history[i]); {
		case to == at:
			return step, handed
		case to < 0 && -1-to == at: // it waits
			step++
		case to < 0: // to the worker that the lobby leaves
			if to = -1 - to; to < at {
				step++
			}
			at = to
		default:
			if to < at {
				step++
			}
			at = to
		}
	}
}

// feed reports whether a lobby that plays alone gets a datagram, and gives it the address that its
// session has there.
func (h *host) feed(v *arrival, l *hosted) bool {
	if v.client < 0 || len(v.data) == 0 {
		return false
	}
	c := h.players[v.client].connection(v.connection)
	switch netcode.KindOf(v.data) {
	case netcode.KindRequest: // the host may have refused those from other addresses
		return (c.lobby == l || c.ended == l) && (!c.address.IsValid() || v.from == c.address)
	case netcode.KindResponse:
		return (c.lobby == l || c.ended == l) && c.taken != 0
	}
	v.from = c.address
	return c.lobby == l && v.passed
}

// Receive returns the datagrams that came in one batch.
func (p *aloneRun) Receive(to *netio.Batch) (int, error) {
	to.Reset()
	for from := p.next; p.next < len(p.in) && p.in[p.next].batch == p.in[from].batch && !to.Full(); p.next++ {
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
