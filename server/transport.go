package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
)

// transport is the way of datagrams into a lobby and out of it. Datagrams that netcode opens become events; packets that it
// seals, and its own handshakes, become datagrams.
type transport struct {
	netcode  *netcode.Server
	in, out  netio.Batch
	outBytes int                     // in out
	events   []netcode.Event         // of the batch in hand
	outbox   netcode.Outbox          // sealed by netcode, not in out yet
	packet   [packet.MaxPackage]byte // scratch
}

// openBatch hands the batch of received datagrams to netcode and keeps its events: sessions first, then handshakes, so that no
// stranger stands in a player's way. Every datagram is counted once: accepted, refused for a reason, or a packet that the
// caller accepts or drops.
func (c *core) openBatch(now time.Duration, unix int64) {
	c.events = c.events[:0]
	handshakes, bytes := false, 0
	c.Stats.Count[Received].Add(uint64(c.in.Len()))
	for i := range c.in.Len() {
		data := c.in.Data(i)
		bytes += len(data)
		if netcode.Handshake(data) {
			handshakes = true
			continue
		}
		c.openDatagram(now, unix, c.in.From(i), data)
	}
	c.Stats.Count[BytesIn].Add(uint64(bytes))
	for i := 0; handshakes && i < c.in.Len(); i++ {
		if data := c.in.Data(i); netcode.Handshake(data) {
			c.openDatagram(now, unix, c.in.From(i), data)
		}
	}
}

func (c *core) openDatagram(now time.Duration, unix int64, from netip.AddrPort, data []byte) {
	e, err := c.netcode.Receive(now, unix, from, data, &c.outbox)
	if err != nil {
		c.Stats.Refused[err.(netcode.Drop)].Inc() // it has no other errors
		return
	}
	if e.Kind != netcode.EventPayload {
		c.Stats.Count[Accepted].Inc()
	} else if g := c.ofClient(e.Client); g != nil {
		g.traffic.up += uint64(len(data))
	}
	if e.Kind != netcode.EventNone {
		c.events = append(c.events, e)
	}
}

// sendPacket seals a packet without a snapshot. It may get lost; the messages in it are due again then.
func (c *core) sendPacket(now time.Duration, client int, packet []byte) {
	if c.netcode.Send(now, client, packet, &c.outbox) == nil && !c.unobserved {
		_, sealed := c.outbox.At(c.outbox.Len() - 1)
		c.ledger.pack(packet, sealed)
	}
}

// sendOutbox sends what netcode has sealed. It counts against the links of connections.
func (c *core) sendOutbox(now time.Duration, conn netio.Conn) error {
	for i := range c.outbox.Len() {
		to, data := c.outbox.At(i)
		if netcode.KindOf(data) != netcode.KindPayload && !c.unobserved { // sendPacket accounts for payloads
			c.ledger.session(data)
		}
		if client, ok := c.netcode.At(to); ok {
			if g := c.ofClient(client); g != nil {
				g.bucket.Take(now, len(data))
				g.traffic.down += uint64(len(data))
			}
		}
		if c.out.Full() {
			if err := c.flush(conn); err != nil {
				return err
			}
		}
		c.commit(len(append(c.out.Next(), data...)), to)
	}
	c.outbox.Reset()
	return c.flush(conn)
}

// commit makes the n bytes written to out.Next a datagram of the batch.
func (c *core) commit(n int, to netip.AddrPort) {
	c.outBytes += n
	c.out.Commit(n, to)
}

// flush sends the batch.
func (c *core) flush(conn netio.Conn) error {
	if c.out.Len() == 0 {
		return nil
	}
	c.Stats.Count[Sent].Add(uint64(c.out.Len()))
	c.Stats.Count[BytesOut].Add(uint64(c.outBytes))
	c.outBytes = 0
	err := conn.Send(&c.out)
	c.out.Reset()
	return err
}
