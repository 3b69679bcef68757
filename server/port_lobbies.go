package server

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// PortConfig describes a port for many lobbies.
type PortConfig struct {
	Netcode netcode.ServerConfig // its Clients are the sessions of all lobbies together
	Host    uint32               // names the host in connect tokens, see protocol.LobbyRef; 0: any

	// Stats gets the figures of datagrams that belong to no lobby, and of the calls of Ticks.
	Stats *metrics.Stats
	Timer *metrics.TickTimer // of the calls of Ticks

	Clock func() time.Duration // elapsed time, for Due.Took; default none: it stays 0

	// Steering makes the port one of several workers. Their Netcode has the same keys, Addresses,
	// Entropy and Tokens; each has a socket of its own on the same UDP port, and all tell the same
	// time. nil: the port is alone.
	Steering *Steering
	Worker   int // of Steering, 0 to its workers-1
}

// NewPort returns a port without lobbies.
func NewPort(cfg PortConfig) (*Port, error) {
	cfg.Netcode.ProtocolID = cmp.Or(cfg.Netcode.ProtocolID, protocol.ProtocolID)
	p, err := newPort(cfg)
	if err != nil {
		return nil, err
	}
	p.stats, p.timer, p.clock = cfg.Stats, cfg.Timer, cfg.Clock
	if p.clock == nil {
		p.clock = func() time.Duration { return 0 }
	}
	p.reserve()
	return p, nil
}

// serveAlone makes the port that of one lobby, whose figures have everything.
func (p *Port) serveAlone(l *Lobby) {
	p.alone, p.lobbies = l, []*Lobby{l}
	p.stats, p.timer = &l.Stats, &l.timer
}

// ID names the lobby in connect tokens.
func (l *Lobby) ID() uint32 { return l.cfg.ID }

// Add makes a lobby that NewLobby has made for this port take clients. Its ID must be new to the
// port: tokens of a lobby that has ended must not lead to another one. Call it between ticks.
func (p *Port) Add(l *Lobby) {
	i, taken := p.search(l.cfg.ID)
	if taken || l.port != p || p.alone != nil {
		panic(fmt.Sprintf("server: lobby %d added to a port: expected a new one, made for it", l.cfg.ID))
	}
	p.lobbies = slices.Insert(p.lobbies, i, l)
	if s := p.steering; s != nil {
		s.index.PutNumber(indexLobby, uint64(l.cfg.ID), s.worker)
		s.roomAt = 0
	}
}

// Find returns the lobby with an ID, nil if there is none.
func (p *Port) Find(id uint32) *Lobby {
	if i, ok := p.search(id); ok {
		return p.lobbies[i]
	}
	return nil
}

func (p *Port) search(id uint32) (i int, ok bool) {
	return slices.BinarySearchFunc(p.lobbies, id, func(l *Lobby, id uint32) int {
		return cmp.Compare(l.cfg.ID, id)
	})
}

// Remove ends the sessions of a lobby, tells the clients why, and forgets the lobby. Lobby.CloseSome
// before it spares the socket's buffer. Call it between ticks; Flush sends what it has to say.
func (p *Port) Remove(now time.Duration, l *Lobby, why packet.Reason) {
	p.call.now = now
	p.end(l, why)
}

// end is Remove within a call of the port.
func (p *Port) end(l *Lobby, why packet.Reason) {
	l.join.closed, l.join.ended = true, true
	for client := range p.routes {
		if p.routes[client].lobby == l {
			p.endSession(client, why)
		}
	}
	l.traffic.flush(&l.Stats) // what has not come to the end of a tick
	p.call.lobby = nil
	if s := p.steering; s != nil {
		s.index.RemoveNumber(indexLobby, uint64(l.cfg.ID), s.worker)
		s.roomAt = 0
	}
	p.lobbies = slices.DeleteFunc(p.lobbies, func(other *Lobby) bool { return other == l })
	p.ingress.waiting = slices.DeleteFunc(p.ingress.waiting, func(other *Lobby) bool { return other == l })
	p.endKept(l)
}

// endSession ends one session of a lobby, which may have panicked: what it says of its connection
// may be wrong. The client then learns no reason.
func (p *Port) endSession(client int, why packet.Reason) {
	if p.replaced(client) {
		p.routes[client] = noRoute
		return
	}
	defer func() {
		_ = recover()
		_ = p.netcode.Disconnect(p.call.now, client, &p.egress.outbox) // fails if it has ended
		p.routes[client] = noRoute
	}()
	c := p.connOf(client)
	if c == nil || c.session.client != int32(client) {
		p.rejectClient(p.call.now, client, why, nil)
		return
	}
	var buf [packet.HeaderSize + 2]byte
	for range packet.CloseRepeats {
		pkt, _ := c.session.peer.Append(p.call.now, buf[:0])
		p.traffic.send(len(p.sendPacket(p.call.now, client, c.session.peer.AppendClose(pkt, why))))
	}
}

// replaced reports whether a client has a new session since its route was made: the event of that
// waits in the batch in hand.
func (p *Port) replaced(client int) bool {
	return slices.ContainsFunc(p.ingress.events[p.ingress.next:], func(e portEvent) bool {
		return e.Client == client && (e.Kind == netcode.EventConnected || e.Kind == netcode.EventTakeover)
	})
}

// TakeFaults returns the panics that have ended lobbies since the last call.
func (p *Port) TakeFaults() []Fault {
	faults := p.call.faults
	p.call.faults = nil
	return faults
}

// Due is a lobby with the ticks that it has to play.
type Due struct {
	Lobby *Lobby
	Ticks int           // 1 to MaxInterval
	Took  time.Duration // set by Port.Ticks: time elapsed in them, without receiving
}

// Ticks plays the ticks that are due, of lobbies of this port: it is Lobby.Ticks for several
// lobbies, which read the socket once and share batches of datagrams. A lobby that panics is ended,
// see TakeFaults, and the others play on; one that has ended is left out. Errors are those of sock.
func (p *Port) Ticks(now time.Duration, unix int64, sock netio.Conn, due []Due) error {
	p.timer.Begin()
	clear(p.ingress.woken)
	p.ingress.woken = p.ingress.woken[:0]
	p.update(now, unix)
	for i := range due {
		p.prepare(now, due[i].Lobby)
	}
	err := p.receive(now, unix, sock) // socket -> packet -> command
	p.timer.Enter(metrics.StageIdle)
	began := p.clock()
	for i := range due {
		if errOut := p.advance(now, sock, &due[i]); errOut != nil {
			p.egress.packets.reset() // those of the lobby
			err = errors.Join(err, errOut)
		}
		ended := p.clock()
		due[i].Took, began = ended-began, ended
	}
	p.timer.Enter(metrics.StageSend)
	if errOut := p.Flush(now, sock); errOut != nil {
		err = errors.Join(err, errOut)
	}
	p.timer.End(p.stats)
	return err
}

// Woken returns the lobbies that got sessions in the newest call of Ticks, for owners that leave out
// the ticks of lobbies that are Asleep. It is valid until the next call.
func (p *Port) Woken() []*Lobby { return p.ingress.woken }

// Flush sends what waits to be sent, and publishes the counts of the port.
func (p *Port) Flush(now time.Duration, sock netio.Conn) error {
	err := p.sendOutbox(now, sock)
	err = errors.Join(err, p.flush(sock))
	p.countRoom(now)
	p.traffic.flush(p.stats)
	if !p.timer.Off {
		p.stats.CheckBalance(p.netcode.Counters())
	}
	return err
}

// Do runs f, which does something with a lobby between ticks. If f panics, the lobby is ended as by
// a panic of its tick; ok is false then.
func (p *Port) Do(now time.Duration, l *Lobby, f func()) (ok bool) {
	defer p.contain()
	p.call.now, p.call.lobby = now, l
	f()
	p.call.lobby = nil
	return true
}

// prepare does what a lobby has to do before its clients' datagrams.
func (p *Port) prepare(now time.Duration, l *Lobby) {
	defer p.contain()
	p.call.lobby = l
	if !l.join.ended {
		l.inbound.prepare(now)
	}
	p.call.lobby = nil
}

// advance plays the ticks of a lobby.
func (p *Port) advance(now time.Duration, sock netio.Conn, d *Due) error {
	defer p.contain()
	l := d.Lobby
	if l.join.ended {
		return nil
	}
	checkTicks(d.Ticks)
	p.call.lobby = l
	l.timer.Begin()
	err := l.advance(now, sock, d.Ticks)
	p.call.lobby = nil
	return err
}
