package server

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// play connects a ready client to each lobby.
func (p *testPort) play() (all []*testClient) {
	p.t.Helper()
	for i, h := range p.hosts {
		c := p.client(h)
		if why := p.enter(c, named(protocol.LobbyRef{Lobby: uint32(i)})); why != 0 {
			p.t.Fatal(why)
		}
		c.ready()
		all = append(all, c)
	}
	return all
}

// A lobby that panics as it admits an arrival ends alone, also while its neighbour has an arrival
// in the same batch.
func TestPortFaultInAdmit(t *testing.T) {
	p := newTestPort(t, 2, 2)
	broken := p.hosts[0].lobby
	broken.conns = nil
	var all [2]*testClient
	for i, h := range p.hosts {
		all[i] = p.client(h)
		all[i].beginConnect(named(protocol.LobbyRef{Lobby: uint32(i)}))
	}
	for range 20 {
		for _, c := range all {
			c.update()
		}
		p.tick()
		for _, c := range all {
			c.receive()
		}
	}
	if faults := p.port.TakeFaults(); len(faults) != 1 || faults[0].Lobby != broken {
		t.Fatalf("%d faults", len(faults))
	}
	if why, closed := all[0].peer.Closed(); !closed || why != packet.ReasonFault {
		t.Errorf("closed %v: %v", closed, why)
	}
	if all[1].welcome.Version == 0 || p.port.Find(1) != p.hosts[1].lobby {
		t.Error("the neighbour ended with it")
	}
}

// hookConn calls a function after each batch.
type hookConn struct {
	netio.Conn
	received func(n int)
}

func (c hookConn) Receive(b *netio.Batch) (n int, err error) {
	n, err = c.Conn.Receive(b)
	c.received(n)
	return n, err
}

// A lobby that panics while it is asked for room ends with the session that asked.
func TestPortFaultInBest(t *testing.T) {
	p := newTestPort(t, 2, 2)
	p.conn = hookConn{p.conn, func(n int) { // not before the datagrams: then it would end without them
		if p.hosts[0].lobby.reconnectable = nil; n > 0 {
			p.hosts[0].lobby.reconnectable = []int32{1 << 20}
		}
	}}
	if why := p.enter(p.client(p.hosts[1]), nil); why != packet.ReasonFault {
		t.Errorf("the client that asked: %v", why)
	}
	if why := p.enter(p.client(p.hosts[1]), nil); why != 0 {
		t.Errorf("the next client: %v", why)
	}
	if len(p.port.TakeFaults()) != 1 {
		t.Error("expected one fault")
	}
}

// A takeover of a session that has ended within the batch is nothing.
func TestPortTakeoverOfNothing(t *testing.T) {
	p := newTestPort(t, 1, 2)
	p.port.takeSession(p.now, netcode.Event{Kind: netcode.EventTakeover, Client: 5})
}

// A panic of the port itself ends no lobby.
func TestPortBlamesNoLobbyForItself(t *testing.T) {
	p := newTestPort(t, 2, 2)
	p.play()
	p.tick()
	defer func() {
		if recover() == nil || len(p.port.lobbies) != 2 || len(p.port.TakeFaults()) != 0 {
			t.Errorf("%d lobbies", len(p.port.lobbies))
		}
	}()
	bad := netcode.Event{Kind: netcode.EventMigrated, Client: 1 << 20}
	p.port.ingress.events = append(p.port.ingress.events, portEvent{Event: bad})
	p.port.takeEvents(p.now)
}

// The end of a lobby spares a session that has taken the place of one of its own within the batch.
func TestPortEndSparesTheNextSession(t *testing.T) {
	p := newTestPort(t, 2, 2)
	c := p.play()[0]
	client, _ := p.port.netcode.Find(c.user)
	for _, kind := range []netcode.EventKind{netcode.EventDisconnect, netcode.EventConnected} {
		p.port.ingress.events = append(p.port.ingress.events,
			portEvent{Event: netcode.Event{Kind: kind, Client: client}})
	}
	p.port.end(p.hosts[0].lobby, packet.ReasonFault)
	if _, there := p.port.netcode.Session(client); !there || p.port.routes[client] != noRoute {
		t.Errorf("session %v, route %+v", there, p.port.routes[client])
	}
}

// brokenConn fails to send.
type brokenConn struct{ netio.Conn }

func (brokenConn) Send(*netio.Batch) error { return errors.New("planted") }

// Packets of a lobby that the socket did not take are not those of the next lobby.
func TestPortSendError(t *testing.T) {
	p := newTestPort(t, 0, 0)
	p.add(4)
	p.add(1)
	all := p.play()
	second := p.client(p.hosts[0])
	if why := p.enter(second, named(protocol.LobbyRef{Lobby: 0})); why != 0 {
		t.Fatal(why)
	}
	second.ready()
	due := []Due{{Lobby: p.hosts[0].lobby, Ticks: 1}, {Lobby: p.hosts[1].lobby, Ticks: 1}}
	for range 2 * snapshot.Window {
		for _, c := range append(all, second) {
			c.receive()
			c.sendSections(c.commands(1)...)
		}
		for out := &p.port.egress.out; !out.Full(); {
			out.Next()
			out.Commit(1, netip.MustParseAddrPort("10.9.9.9:9"))
		}
		p.now += p.lobby.cfg.Rules.Rate.Period()
		if err := p.port.Ticks(p.now, p.unix(), brokenConn{p.conn}, due); err == nil {
			t.Fatal("no error")
		}
		if n := p.port.egress.packets.len(); n != 0 {
			t.Fatalf("%d packets wait for nothing", n)
		}
	}
	for _, f := range p.port.TakeFaults() {
		t.Errorf("lobby %d: %v\n%s", f.Lobby.ID(), f.Value, f.Stack)
	}
}

// A lobby is made on another goroutine than that of its port: its memory is, and nothing of the
// port.
func TestReserveLeavesASharedPortAlone(t *testing.T) {
	p := newTestPort(t, 1, 2)
	for !p.port.egress.packets.full() {
		p.port.egress.packets.commit(len(p.port.egress.packets.next()), 0, metrics.SectionEnds{})
	}
	p.lobby.Reserve()
}

// A port keeps no lobby that has ended in the events of a batch.
func TestPortForgetsEvents(t *testing.T) {
	p := newTestPort(t, 1, 2)
	c := p.play()[0]
	for range 5 {
		c.sendSections(c.commands(1)...)
		c.sendSections(c.commands(1)...)
		p.tick()
	}
	p.port.Remove(p.now+time.Millisecond, p.hosts[0].lobby, packet.ReasonClosing)
	for i, e := range p.port.ingress.events[:cap(p.port.ingress.events)] {
		if e.lobby != nil {
			t.Errorf("event %d keeps a lobby", i)
		}
	}
}
