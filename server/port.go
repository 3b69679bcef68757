package server

import (
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
)

// receiveBatches bounds how much of a flood one tick reads. The rest waits in the socket, and what
// that cannot hold the kernel drops and counts.
const receiveBatches = 256

// Port is the sessions of one UDP socket and the lobbies that they belong to. Received datagrams go
// in; each opened one goes to the lobby of its client. Packets of the lobbies go in; sealed
// datagrams come out. One goroutine owns a port and its lobbies.
//
// NewPort returns a port for many lobbies, which come and go with Add and Remove. NewLobby makes a
// port for one lobby alone, whose Ticks is all that its owner calls.
type Port struct {
	netcode *netcode.Server
	host    uint32   // of protocol.LobbyRef; 0 accepts those of every host
	routes  []route  // by client of netcode
	lobbies []*Lobby // by ID, ascending
	alone   *Lobby   // nil in a port for many lobbies

	steering *portSteering // nil: no other worker has a part of the sessions

	ingress ingress
	egress  egress
	call    portCall
	reject  *packet.Peer // writes the packets that reject a session

	stats   *metrics.Stats // of datagrams without a lobby; of a lobby alone its own
	timer   *metrics.TickTimer
	traffic traffic // not yet in stats
	clock   func() time.Duration
}

// ingress is what was received and is not yet taken.
type ingress struct {
	batch   netio.Batch
	clients [netio.BatchSize]int32 // of the batch's datagrams, -1 for none; see prefetchDatagram
	events  []portEvent            // of the batch in hand
	next    int                    // of events, to be taken
	waiting []*Lobby               // lobbies that may have arrivals
	woken   []*Lobby               // lobbies with new sessions in this call of Ticks
}

// portCall is the call in hand.
type portCall struct {
	now    time.Duration
	lobby  *Lobby  // the one whose code runs, to be ended by a panic of it; nil: code of the port
	faults []Fault // since TakeFaults
}

// route leads from a client of netcode to the connection of its player.
type route struct {
	lobby *Lobby // nil: the client has no session, or a session that was rejected
	slot  int32  // of the connection; -1: the client waits for a player
}

var noRoute = route{slot: -1}

// portEvent is an event of netcode and, of a payload, the lobby in whose figures it counts.
type portEvent struct {
	netcode.Event
	lobby *Lobby // nil: none
}

// Fault is a panic of a lobby, which has ended it.
type Fault struct {
	Lobby *Lobby
	Value any    // of the panic
	Stack []byte // of the goroutine when it panicked
}

// newPort returns a port without lobbies and without stats and timer.
func newPort(cfg PortConfig) (p *Port, err error) {
	p = &Port{ingress: ingress{events: make([]portEvent, 0, netio.BatchSize)}, host: cfg.Host}
	if err = p.steer(cfg.Steering, cfg.Worker, &cfg.Netcode); err != nil {
		return nil, err
	}
	if p.netcode, err = netcode.NewServer(cfg.Netcode); err != nil {
		return nil, err
	}
	p.routes = make([]route, p.netcode.Clients())
	for i := range p.routes {
		p.routes[i] = noRoute
	}
	return p, nil
}

// Netcode returns the netcode server, for reading and for SetSpare between ticks.
func (p *Port) Netcode() *netcode.Server { return p.netcode }

// connOf returns the connection of a client of netcode; nil while it has none.
func (p *Port) connOf(client int) *conn {
	if r := p.routes[client]; r.slot >= 0 {
		return &r.lobby.conns[r.slot]
	}
	return nil
}

// owner is the lobby in whose figures a client's datagrams count; nil for those of the port.
func (p *Port) owner(client int) *Lobby {
	if l := p.routes[client].lobby; l != nil {
		return l
	}
	return p.alone
}

// LobbyOf returns the lobby that a client of netcode plays in or waits for; nil for none. To read
// between ticks.
func (p *Port) LobbyOf(client int) *Lobby { return p.routes[client].lobby }

// update ends the sessions whose time is up, and tells their lobbies.
func (p *Port) update(now time.Duration, unix int64) {
	p.call.now = now
	for _, e := range p.netcode.Update(now, unix, &p.egress.outbox) {
		p.ingress.events = append(p.ingress.events, portEvent{Event: e})
	}
	p.takeEvents(now)
}

// receive takes in everything that has arrived on sock, and sends answers.
func (p *Port) receive(now time.Duration, unix int64, sock netio.Conn) error {
	if err := p.sendOutbox(now, sock); err != nil {
		return err
	}
	if err := p.receiveHanded(now, unix, sock); err != nil {
		return err
	}
	for range receiveBatches {
		n, err := sock.Receive(&p.ingress.batch)
		if n == 0 || err != nil {
			return err
		}
		p.timer.Enter(metrics.StageOpen)
		p.openBatch(now, unix)
		p.timer.Enter(metrics.StageReceive)
		p.takeEvents(now)
		p.admit(now)
		if err := p.sendOutbox(now, sock); err != nil {
			return err
		}
	}
	return nil
}

// openBatch hands the batch of received datagrams to netcode and keeps its events: sessions first,
// then handshakes, so that no stranger stands in a player's way. Every datagram is counted once:
// accepted, refused for a reason, or a packet that its lobby accepts or drops.
func (p *Port) openBatch(now time.Duration, unix int64) {
	handshakes := false
	lead := p.prefetchLead()
	for i := -lead; i < p.ingress.batch.Len(); i++ {
		if lead > 0 {
			p.prefetchDatagram(i + lead)
		}
		if i < 0 {
			continue
		}
		data := p.ingress.batch.Data(i)
		if netcode.IsHandshake(data) {
			handshakes = true
			continue
		}
		p.openDatagram(now, unix, p.ingress.batch.From(i), data)
	}
	for i := 0; handshakes && i < p.ingress.batch.Len(); i++ {
		if data := p.ingress.batch.Data(i); netcode.IsHandshake(data) {
			p.openDatagram(now, unix, p.ingress.batch.From(i), data)
		}
	}
	if lead > 0 {
		p.prefetchAcks()
	}
}

func (p *Port) openDatagram(now time.Duration, unix int64, from netip.AddrPort, data []byte) {
	e, err := p.netcode.Receive(now, unix, from, data, &p.egress.outbox)
	if e.Kind == netcode.EventElsewhere { // counted there
		if p.elsewhere(e.Client, from, data) {
			return
		}
		e, err = netcode.Event{}, netcode.DropHandOver
		p.netcode.CountDrop(data, netcode.DropHandOver)
	}
	t, owner := &p.traffic, (*Lobby)(nil)
	switch {
	case err != nil:
		p.stats.AuthDrops[err.(netcode.Drop)].Inc() // it has no other errors
	case e.Kind != netcode.EventPayload:
		t.accepted++
	default:
		if owner = p.owner(e.Client); owner != nil {
			t = &owner.traffic
		}
		if c := p.connOf(e.Client); c != nil {
			c.session.stats.up += uint64(len(data))
		}
	}
	t.receive(len(data))
	if e.Kind != netcode.EventNone {
		p.ingress.events = append(p.ingress.events, portEvent{e, owner})
	}
}

// takeEvents hands the events to the lobbies of their clients. A lobby that panics is ended, and
// the next events are taken.
func (p *Port) takeEvents(now time.Duration) {
	for p.ingress.next < len(p.ingress.events) {
		p.takeSome(now)
	}
	clear(p.ingress.events) // they keep no lobby that has ended
	p.ingress.events, p.ingress.next = p.ingress.events[:0], 0
}

func (p *Port) takeSome(now time.Duration) {
	defer p.contain()
	for p.ingress.next < len(p.ingress.events) {
		e := &p.ingress.events[p.ingress.next]
		p.ingress.next++
		if e.Kind == netcode.EventPayload {
			p.takePayload(now, e)
		} else {
			p.takeSession(now, e.Event)
		}
	}
}

// takePayload hands an opened payload to its lobby, unless the client has changed lobbies since the
// payload was opened.
func (p *Port) takePayload(now time.Duration, e *portEvent) {
	switch r := p.routes[e.Client]; {
	case e.lobby == nil:
		p.stats.PacketDrops[packet.DropState].Inc()
	case r.lobby != e.lobby:
		e.lobby.Stats.PacketDrops[packet.DropState].Inc()
	default:
		p.call.lobby = r.lobby
		r.lobby.inbound.takePayload(now, e.Event)
		p.call.lobby = nil
	}
}

// takeSession finds the lobby of a session that begins, and tells the lobby of one that changes or
// has ended.
func (p *Port) takeSession(now time.Duration, e netcode.Event) {
	r := &p.routes[e.Client]
	switch e.Kind {
	case netcode.EventConnected:
		p.connect(now, e.Client)
		return
	case netcode.EventTakeover:
		s, ok := p.netcode.Session(e.Client)
		if !ok { // gone within the batch
			return
		}
		if named, l, _ := p.named(s.UserData[:]); named && l != r.lobby && r.lobby != nil {
			p.tell(now, netcode.Event{Kind: netcode.EventDisconnect, Client: e.Client})
			*r = noRoute
		}
		if r.lobby == nil {
			p.connect(now, e.Client)
			return
		}
	}
	p.tell(now, e)
	switch e.Kind {
	case netcode.EventTimeout, netcode.EventDisconnect, netcode.EventExhausted:
		*r = noRoute
	}
}

// tell hands a session event to the lobby of its client.
func (p *Port) tell(now time.Duration, e netcode.Event) {
	if l := p.routes[e.Client].lobby; l != nil {
		p.call.lobby = l
		l.join.event(now, e)
		p.call.lobby = nil
	}
}

// connect gives a new session to the lobby of its token, or rejects it.
func (p *Port) connect(now time.Duration, client int) {
	s, ok := p.netcode.Session(client)
	if !ok { // gone within the batch
		return
	}
	if p.returnElsewhere(client, &s) {
		return
	}
	named, l, why := p.named(s.UserData[:])
	if !named {
		if l, why = p.alone, 0; l == nil {
			l, why = p.best(client, &s)
		}
	}
	if why == packet.ReasonNoLobby || why == packet.ReasonFull {
		if p.connectElsewhere(client, s.UserData[:]) {
			return
		}
	}
	if why != 0 {
		p.rejectClient(now, client, why, p.alone)
		return
	}
	p.takeRoom(roleOf(s.UserData[:]))
	p.routes[client] = route{lobby: l, slot: -1}
	if !slices.Contains(p.ingress.waiting, l) {
		p.ingress.waiting = append(p.ingress.waiting, l)
	}
	if !slices.Contains(p.ingress.woken, l) {
		p.ingress.woken = append(p.ingress.woken, l)
	}
	p.tell(now, netcode.Event{Kind: netcode.EventConnected, Client: client})
}

// best returns the lobby for a session whose token names none: the one that keeps a player for its
// client, or else the fullest one with room. While a lobby is asked, the client is one of its own:
// a panic ends both.
func (p *Port) best(client int, s *netcode.Session) (best *Lobby, why packet.Reason) {
	r, most := roleOf(s.UserData[:]), -1
	for _, l := range p.lobbies {
		p.call.lobby, p.routes[client] = l, route{lobby: l, slot: -1}
		if l.join.isReconnectable(s.ClientID, r) {
			best = l
			break
		}
		if n := len(l.live) + len(l.join.arrivals); n > most && l.join.takes(r) {
			best, most = l, n
		}
	}
	p.call.lobby, p.routes[client] = nil, noRoute
	if best == nil {
		p.noRoom(r)
		return nil, packet.ReasonFull
	}
	return best, 0
}

// admit gives players to the arrivals of the lobbies that have some.
func (p *Port) admit(now time.Duration) {
	for i := 0; i < len(p.ingress.waiting); {
		l := p.ingress.waiting[i]
		p.admitTo(now, l)
		if i < len(p.ingress.waiting) && p.ingress.waiting[i] == l { // else it has ended
			i++
		}
	}
	p.ingress.waiting = slices.DeleteFunc(p.ingress.waiting, func(l *Lobby) bool {
		return len(l.join.arrivals) == 0
	})
}

func (p *Port) admitTo(now time.Duration, l *Lobby) {
	defer p.contain()
	p.call.lobby = l
	l.join.admit(now)
	p.call.lobby = nil
}

// resetReject makes the peer ready that writes the packets of a rejected session.
func (p *Port) resetReject(now time.Duration) {
	if p.reject == nil {
		p.reject = new(packet.Peer)
	}
	p.reject.Reset(now, packet.Config{})
}

// rejectClient ends a session that gets no player, and tells its client why. l is the lobby in
// whose figures that counts; nil for those of the port.
func (p *Port) rejectClient(now time.Duration, client int, why packet.Reason, l *Lobby) {
	p.resetReject(now)
	var buf [packet.HeaderSize + 2]byte
	for range packet.CloseRepeats {
		pkt, _ := p.reject.Append(now, buf[:0])
		pkt = p.reject.AppendClose(pkt, why)
		if l != nil {
			l.sendPacket(now, client, pkt) // before the disconnects
		} else {
			p.traffic.send(len(p.sendPacket(now, client, pkt)))
		}
	}
	_ = p.netcode.Disconnect(now, client, &p.egress.outbox)
	p.routes[client] = noRoute
	stats := p.stats
	if l != nil {
		stats = &l.Stats
	}
	stats.Count[metrics.RejectedFull].Inc()
}

// sendPacket seals a packet for a client and returns it; nil if the session has ended.
func (p *Port) sendPacket(now time.Duration, client int, pkt []byte) (sealed []byte) {
	o := &p.egress.outbox
	if p.netcode.Send(now, client, pkt, o) != nil {
		return nil
	}
	_, sealed = o.At(o.Len() - 1)
	return sealed
}

// sendOutbox makes datagrams of what netcode has sealed. They count against the links of connections.
func (p *Port) sendOutbox(now time.Duration, sock netio.Conn) error {
	o := &p.egress.outbox
	for i := range o.Len() {
		to, data := o.At(i)
		l, c := p.alone, (*conn)(nil)
		if client, ok := p.netcode.At(to); ok {
			l, c = p.owner(client), p.connOf(client)
		}
		if netcode.KindOf(data) != netcode.KindPayload { // see sendPacket
			p.countSession(l, data)
		}
		if c != nil {
			c.repl.pacing.bucket.Take(now, len(data))
			c.session.stats.down += uint64(len(data))
		}
		if p.egress.out.Full() {
			if err := p.flush(sock); err != nil {
				return err
			}
		}
		p.egress.out.Commit(len(append(p.egress.out.Next(), data...)), to)
	}
	o.Reset()
	return p.flushAlone(sock)
}

// countSession counts a datagram that netcode sends for itself.
func (p *Port) countSession(l *Lobby, data []byte) {
	if l == nil {
		p.traffic.send(len(data))
		return
	}
	l.traffic.send(len(data))
	if !l.timer.Off {
		l.account.bandwidth.AddSession(data)
	}
}

// flushAlone sends the batch of a lobby alone. The lobbies of a shared port fill batches together.
func (p *Port) flushAlone(sock netio.Conn) error {
	if p.alone == nil {
		return nil
	}
	return p.flush(sock)
}

// flush sends the batch.
func (p *Port) flush(sock netio.Conn) error {
	if p.egress.out.Len() == 0 {
		return nil
	}
	err := sock.Send(&p.egress.out)
	p.egress.out.Reset()
	return err
}

// contain ends the lobby whose code has panicked. It is to be deferred. A panic of a lobby alone or
// of the port goes on.
func (p *Port) contain() {
	if p.alone != nil {
		return
	}
	if value := recover(); value != nil {
		l := p.call.lobby
		if l == nil {
			panic(value)
		}
		p.call.faults = append(p.call.faults, Fault{Lobby: l, Value: value, Stack: debug.Stack()})
		p.egress.packets.reset() // those of the lobby
		p.end(l, packet.ReasonFault)
	}
}
