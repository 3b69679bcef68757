package server

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/prefetch"
	"github.com/tickrate/tickrate/netio/netcode"
)

// The state of a thousand connections does not stay in a processor's caches from tick to tick. A
// load that misses stalls the tick; a prefetch does not. So the memory of a connection is loaded
// in steps while datagrams before it are opened, or snapshots before it are written. A step reads
// what the step before has loaded. It changes nothing.

// prefetchAhead is the number of datagrams between two steps, and prefetchSteps that of the steps.
const (
	prefetchAhead = 4
	prefetchSteps = 5
)

// prefetchLead is how many datagrams before its own the first step of a datagram is; 0 for a small
// lobby alone, which stays in the caches or has been loaded by connTable.prefetch.
func (p *Port) prefetchLead() int {
	if p.alone != nil && len(p.alone.live) <= maxTogether {
		return 0
	}
	return prefetchSteps * prefetchAhead
}

// prefetchDatagram does the first step for datagram i of the batch, and the later steps for the
// datagrams before it. Datagrams below 0 and behind the last one have no step.
func (p *Port) prefetchDatagram(i int) {
	in := &p.ingress
	n := uint(in.batch.Len())
	if uint(i) < n {
		p.netcode.PrefetchAddress(in.batch.From(i))
	}
	if i -= prefetchAhead; uint(i) < n {
		in.clients[i] = -1
		if client, ok := p.netcode.At(in.batch.From(i)); ok {
			in.clients[i] = int32(client)
			p.netcode.PrefetchSession(client)
			prefetch.Bytes(unsafe.Pointer(&p.routes[client]), unsafe.Sizeof(route{}))
		}
	}
	if i -= prefetchAhead; uint(i) < n && in.clients[i] >= 0 {
		client := int(in.clients[i])
		p.netcode.PrefetchOpenKey(client)
		if r := &p.routes[client]; r.slot >= 0 {
			r.lobby.prefetchSlot(int(r.slot))
		}
	}
	if i -= prefetchAhead; uint(i) < n && in.clients[i] >= 0 {
		if c := p.connOf(int(in.clients[i])); c != nil {
			c.prefetchPacket()
		}
	}
	if i -= prefetchAhead; uint(i) < n && in.clients[i] >= 0 {
		if c := p.connOf(int(in.clients[i])); c != nil {
			c.session.peer.PrefetchRecent()
		}
	}
}

// prefetchSlot loads what a packet of the player in a slot reads, but for what its connection
// points to.
func (l *Lobby) prefetchSlot(slot int) {
	l.conns[slot].prefetch()
	l.match.PrefetchCommands(slot)
	prefetch.Bytes(unsafe.Pointer(&l.roster.viewers[slot]), 1)
	if !l.idle.off() {
		prefetch.Bytes(unsafe.Pointer(&l.idle.players[slot]), unsafe.Sizeof(idlePlayer{}))
	}
}

// clampLimitsAhead is the number of connections between two steps of prefetchClampLimits. An update
// is short beside a datagram.
const clampLimitsAhead = 8

// prefetchClampLimits loads what updateClampLimits reads of the connections behind number i of the
// live ones: the connection itself first, and then its parts.
func (l *Lobby) prefetchClampLimits(i int) {
	if i += clampLimitsAhead; i < len(l.live) {
		c := &l.conns[l.live[i]]
		c.session.peer.PrefetchRTT()
		if c.rewind.announced.Started() {
			l.match.PrefetchCommand(int(l.live[i]))
		}
	}
	if i += clampLimitsAhead; i < len(l.live) {
		c := &l.conns[l.live[i]]
		c.prefetch()
		c.prefetchArrivals(l.match.Tick()+1, 1)
	}
}

// snapshotsAhead is the number of connections between two steps of prefetchSnapshots. Of a large
// lobby's, one in an interval is due.
const snapshotsAhead = 6

// prefetchSnapshots loads what the snapshots of the connections behind number i of the live ones
// read: the connections themselves first, and then their parts.
func (o *outbound) prefetchSnapshots(i int) {
	t := o.match.Tick()
	if i += snapshotsAhead; i < len(o.live) {
		if c := &o.conns[o.live[i]]; o.replication.snapshotDue(&c.repl) {
			o.replication.effects.prefetch(int(o.live[i]))
			c.repl.acks.packets.PrefetchPackets()
		}
	}
	if i += snapshotsAhead; i < len(o.live) {
		if c := &o.conns[o.live[i]]; o.replication.snapshotDue(&c.repl) {
			c.repl.acks.tracker.PrefetchSnapshot(t)
			c.repl.acks.packets.PrefetchBegin()
			c.repl.acks.owner.PrefetchAppend(t)
			c.repl.acks.objects.tracker.PrefetchSnapshot(t)
		}
	}
	if i += snapshotsAhead; i < len(o.live) {
		if c := &o.conns[o.live[i]]; o.replication.snapshotDue(&c.repl) {
			c.prefetchParts()
			c.repl.acks.objects.tracker.Prefetch()
			if combat := c.repl.view.combat; len(combat) > 0 {
				prefetch.Bytes(unsafe.Pointer(&combat[0]), uintptr(len(combat))*8)
			}
		}
	}
	if i += snapshotsAhead; i < len(o.live) {
		if c := &o.conns[o.live[i]]; o.replication.snapshotDue(&c.repl) {
			c.prefetchSnapshot()
		}
	}
	if i += snapshotsAhead; i < len(o.live) {
		o.conns[o.live[i]].prefetchDue()
	}
}

// sealAhead is the number of packets between two steps of prefetchSeal.
const sealAhead = 4

// prefetchSeal loads what the sealing of the packets behind number i of the batch reads: the
// sessions first, and then their keys.
func (o *outbound) prefetchSeal(i int) {
	b := &o.port.egress.packets
	if i += sealAhead; uint(i) < uint(b.len()) {
		o.port.netcode.PrefetchSealKey(int(o.conns[b.to[i]].session.client))
	}
	if i += sealAhead; uint(i) < uint(b.len()) {
		c := &o.conns[b.to[i]]
		o.port.netcode.PrefetchSealSession(int(c.session.client))
		prefetch.Bytes(unsafe.Pointer(c), unsafe.Sizeof(c.session.addr))
	}
}

// prefetch loads what every packet and every tick reads of the connection itself.
func (c *conn) prefetch() {
	prefetch.Field(unsafe.Pointer(c), unsafe.Offsetof(connSession{}.stats), hotConn)
}

// prefetchDue loads what tells whether a snapshot is due.
func (c *conn) prefetchDue() {
	prefetch.Field(unsafe.Pointer(c), unsafe.Offsetof(connSession{}.client),
		unsafe.Offsetof(conn{}.id)-unsafe.Offsetof(connSession{}.client))
	prefetch.Field(unsafe.Pointer(c), unsafe.Offsetof(conn{}.repl)+unsafe.Offsetof(connReplication{}.viewer),
		unsafe.Offsetof(connReplication{}.checksum)-unsafe.Offsetof(connReplication{}.viewer))
}

// prefetchSnapshot loads the whole connection, but for what few ticks read.
func (c *conn) prefetchSnapshot() {
	prefetch.Field(unsafe.Pointer(c), unsafe.Offsetof(connSession{}.stats),
		unsafe.Offsetof(conn{}.transfer)-unsafe.Offsetof(connSession{}.stats))
}

// prefetchArrivals loads the arrivals of n commands from a tick on.
func (c *conn) prefetchArrivals(t tick.Tick, n uintptr) {
	const size = unsafe.Sizeof(arrivals{}[0])
	at := uintptr(t) % uintptr(len(arrivals{}))
	prefetch.Field(unsafe.Pointer(c), unsafe.Offsetof(conn{}.arrivals)+at*size, n*size)
}

// hotConn is the bytes of a connection that every packet and every tick reads, from its stats on.
const hotConn = unsafe.Offsetof(conn{}.repl) + unsafe.Offsetof(connReplication{}.checksum) -
	unsafe.Offsetof(connSession{}.stats)

// A connection is whole cache lines, and its hot bytes begin with one.
var (
	_ [0]byte = [unsafe.Sizeof(conn{}) % prefetch.Line]byte{}
	_ [0]byte = [unsafe.Offsetof(connSession{}.stats) % prefetch.Line]byte{}
)

// prefetchAcks loads what the acks of the opened packets read. Most packets of a client that sends
// more often than it gets a snapshot acknowledge nothing new.
func (p *Port) prefetchAcks() {
	in := &p.ingress
	acks := in.clients[:0] // the clients are not needed any more
	for i := range in.events[in.next:] {
		e := &in.events[in.next+i]
		if e.Kind != netcode.EventPayload {
			continue
		}
		if c := p.connOf(e.Client); c != nil && c.session.peer.IsAckNew(e.Payload) && len(acks) < len(in.clients) {
			c.prefetchAck()
			p.routes[e.Client].lobby.replication.effects.prefetch(c.id.Index())
			acks = append(acks, int32(e.Client))
		}
	}
	for _, client := range acks {
		p.connOf(int(client)).prefetchAckRecent()
	}
}

// prefetchAck loads what an ack reads of the connection's parts.
func (c *conn) prefetchAck() {
	c.session.peer.PrefetchAcked()
	c.repl.acks.tracker.PrefetchAck()
	c.repl.acks.packets.Prefetch()
	c.repl.acks.owner.PrefetchAck()
	c.repl.acks.objects.tracker.PrefetchAck()
}

// prefetchAckRecent loads what an ack reads of the newest snapshots.
func (c *conn) prefetchAckRecent() {
	c.repl.acks.tracker.PrefetchRecent()
	c.repl.acks.packets.PrefetchRecent()
	c.repl.acks.owner.PrefetchRecent()
	c.repl.acks.objects.tracker.PrefetchRecent()
}

// prefetchParts loads what the connection points to, for a tick.
func (c *conn) prefetchParts() {
	c.session.peer.Prefetch()
	c.repl.acks.tracker.Prefetch()
	c.repl.acks.packets.Prefetch()
	c.repl.acks.owner.Prefetch()
}

// prefetchPacket loads what every packet from the client reads of the connection's parts.
func (c *conn) prefetchPacket() {
	c.session.peer.Prefetch()
	c.prefetchArrivals(c.rewind.newestCommand, 2)
}
