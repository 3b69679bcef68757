package client

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

// moving is the way to the host that the match moves to. The server sends a token for it ahead of
// time; the client connects there while it plays on. The first packet of the new host says that it
// has the match: from then on the client plays there.
type moving struct {
	token   []byte          // as far as it has arrived
	dial    *netcode.Client // to the new host; nil: the match does not move
	welcome bool            // the next message is the Welcome of the new host
	count   uint64          // moves so far
	past    *netcode.Counters // of the sessions with former hosts; nil: none
}

// message takes a part of the token for another host. A later token replaces an earlier one: the
// move that it was for has failed.
func (m *moving) message(raw []byte) (err error) {
	var whole bool
	if m.token, whole, err = protocol.AppendMovePart(m.token, raw); err != nil || !whole {
		return err
	}
	dial := netcode.NewClient(m.token, netcode.ClientConfig{Roam: true, Linger: linger})
	m.token = m.token[:0]
	if dial.State() == netcode.InvalidToken {
		return packet.DropMessage
	}
	m.dial = dial
	return nil
}

// update adds the datagrams to out that bring up the session with the new host.
func (m *moving) update(now time.Duration, out *netcode.Outbox) {
	if m.dial == nil {
		return
	}
	m.dial.Update(now, out)
	if m.dial.State() <= netcode.Disconnected { // it did not come about: play on where the match is
		m.dial = nil
	}
}

// from reports whether a datagram from an address is of the session with the new host.
func (m *moving) from(a netip.AddrPort) bool { return m.dial != nil && a == m.dial.Server() }

// receiveMoving takes a datagram of the new host. The first packet in one moves the client.
func (c *Client) receiveMoving(now time.Duration, datagram []byte) (pkt []byte, err error) {
	c.stats.bytesIn += uint64(len(datagram))
	c.resetOut()
	pkt, err = c.moving.dial.Receive(now, c.moving.dial.Server(), datagram, &c.out)
	if pkt == nil {
		c.stats.traffic.Session += uint64(len(datagram))
		return nil, err
	}
	c.move(now)
	c.stats.traffic.Seal += uint64(len(datagram) - len(pkt))
	c.stats.packets.Arrived()
	return pkt, err
}

// move makes the session with the new host the client's. Clocks, prediction, the picture and the
// chat go on; what was acknowledged in the old session counts for nothing in the new one.
func (c *Client) move(now time.Duration) {
	m := &c.moving
	if m.past == nil {
		m.past = new(netcode.Counters)
	}
	m.past.Add(c.dial.Counters())
	c.dial, c.peer = m.dial, packet.NewPeer(now, packet.Config{})
	c.mapEpoch, c.deferred, c.measured = 0, nil, true
	c.uplink.receipts = receipts{}
	m.dial, m.welcome, m.token = nil, true, m.token[:0]
	m.count++
	c.sendSoon(now)
}

// readMoved takes the first message of the new host. A Welcome to the same match and the same player
// is answered with Ready; any other one begins anew, as a change of the map does.
func (c *Client) readMoved(now time.Duration, raw []byte) error {
	w, err := protocol.ParseWelcome(raw)
	if err != nil {
		c.end(Lost, 0, errNoWelcome)
		c.dial.Disconnect(now, &c.out)
		return err
	}
	c.moving.welcome = false
	same := w
	same.Tick = c.welcome.Tick
	if same != c.welcome {
		if c.changes.exceeded(now) {
			c.end(Lost, 0, errTooManyChanges)
			c.dial.Disconnect(now, &c.out)
			return packet.DropMessage
		}
		c.startAnew(now, w)
		return nil
	}
	c.welcome.Tick = w.Tick
	c.ready(&c.conn)
	c.queueSnapshotRate(&c.conn)
	if c.killcam.wanted {
		c.requestKillcams()
	}
	return nil
}
