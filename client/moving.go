package client

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
)

var _ [netcode.TokenSize]byte = [protocol.MoveTokenSize]byte{}

// moving is the session with the host that the match moves to. The server sends a token for it
// ahead of time. The client connects there, says Ready and sends its commands to both hosts while
// it plays on. The first snapshot of the new host says that it has the match: from then on the
// client plays there.
type moving struct {
	token  []byte            // as far as it has arrived
	dial   *netcode.Client   // to the new host; nil: the match does not move
	peer   *packet.Peer      // nil: not connected yet
	ready  bool              // the Welcome has arrived, and it is to the same match
	sentAt time.Duration     // of the last packet to the new host
	sent   tick.Tick         // newest command that was sent there
	count  uint64            // moves so far
	past   *netcode.Counters // of sessions with hosts before the present one; nil: none
}

// stop ends the session with the new host, if there is one: the client plays on where it is.
func (m *moving) stop(now time.Duration, out *netcode.Outbox) {
	if m.dial != nil {
		m.dial.Disconnect(now, out)
	}
	*m = moving{token: m.token[:0], count: m.count, past: m.past}
}

// message takes a part of the token for another host. A later token replaces an earlier one, whose
// move has failed.
func (m *moving) message(now time.Duration, raw []byte, out *netcode.Outbox) (err error) {
	var whole bool
	if m.token, whole, err = protocol.AppendMovePart(m.token, raw); err != nil || !whole {
		return err
	}
	dial := netcode.NewClient(m.token, netcode.ClientConfig{Roam: true, Linger: linger})
	m.stop(now, out)
	if dial.State() == netcode.InvalidToken {
		return packet.DropMessage
	}
	m.dial = dial
	return nil
}

// isFrom reports whether a datagram from an address is of the session with the new host.
func (m *moving) isFrom(a netip.AddrPort) bool {
	return m != nil && m.dial != nil && a == m.dial.Server()
}

// MovesTo reports whether datagrams to an address go to a host to which the match moves, or to
// which it has moved. All others go to a server of the token that the client was made with.
func (c *Client) MovesTo(a netip.AddrPort) bool {
	return c.moving.isFrom(a) || c.moving != nil && c.moving.count > 0 && a == c.dial.Server()
}

// outgoingMoving adds the datagrams for the new host to out.
func (c *Client) outgoingMoving(now time.Duration) {
	m := c.moving
	if m == nil || m.dial == nil {
		return
	}
	m.dial.Update(now, &c.out)
	switch s := m.dial.State(); {
	case s <= netcode.Disconnected:
		m.stop(now, &c.out)
	case s == netcode.Connected && m.peer == nil:
		m.peer, m.sentAt = packet.NewPeer(now, packet.Config{}), now-keepAlive
		fallthrough
	case s == netcode.Connected:
		c.sendMoving(now)
	}
}

// sendMoving adds a packet for the new host, with the commands that the old host has not
// acknowledged. Those that it has are in the state that it sends to the new host.
func (c *Client) sendMoving(now time.Duration) {
	m, p := c.moving, &c.predict
	fresh := m.ready && p.First != 0 && p.Newest > m.sent
	if !m.peer.CanSend(now) || !fresh && now-m.sentAt < keepAlive {
		return
	}
	pkt, seq := m.peer.Append(now, c.draft[:0])
	pkt = m.peer.AppendReliable(pkt, messageBudget)
	if cmds := c.uplink.unacked(p); m.ready && len(cmds) > 0 {
		pkt = append(pkt, byte(packet.SectionCommands))
		pkt = sim.AppendCommands(pkt, cmds)
		pkt = sim.AppendArrivals(pkt, c.interp.Delay(), nil)
		m.sent = cmds[len(cmds)-1].Tick
		m.peer.SetAckTag(seq, uint64(m.sent))
	}
	m.sentAt = now
	_ = m.dial.Send(now, pkt, &c.out) // connected; an error is a lost packet
}

// receiveMoving takes a datagram of the new host, and counts its packet.
func (c *Client) receiveMoving(now time.Duration, datagram []byte) error {
	m := c.moving
	c.stats.bytesIn += uint64(len(datagram))
	c.resetOut()
	pkt, err := m.dial.Receive(now, m.dial.Server(), datagram, &c.out)
	if pkt == nil {
		if err == nil {
			c.stats.traffic.Session += uint64(len(datagram))
		}
		return err
	}
	c.stats.traffic.Seal += uint64(len(datagram) - len(pkt))
	c.stats.packets.Arrived()
	if m.peer == nil { // confirmed by this very packet
		m.peer, m.sentAt = packet.NewPeer(now, packet.Config{}), now-keepAlive
	}
	err = c.receivePacketMoving(now, pkt)
	c.stats.packets.Count(err)
	return err
}

// receivePacketMoving takes a packet of the new host: first a Welcome, then messages, and in the
// end a snapshot, which moves the client. Messages say how the match is, not how it changes: taken
// from both hosts they do no harm.
func (c *Client) receivePacketMoving(now time.Duration, pkt []byte) error {
	m := c.moving
	rest, err := m.peer.Receive(now, pkt)
	if err != nil {
		return err
	}
	c.stats.traffic.Header += uint64(len(pkt) - len(rest))
	left, err := m.peer.Sections(rest)
	c.stats.traffic.Messages += uint64(len(rest) - len(left))
	for raw, ok := m.peer.NextReliable(); ok && m.dial != nil; raw, ok = m.peer.NextReliable() {
		switch {
		case !m.ready:
			err = c.readWelcomeMoving(now, raw)
		case c.state == Joined && raw[0] != protocol.MessageMove:
			_ = c.readMessage(now, raw)
		}
	}
	if m.dial == nil || err != nil {
		return err
	}
	if _, closed := m.peer.Closed(); closed {
		m.stop(now, &c.out)
		return nil
	}
	if packet.SectionOf(left) != packet.SectionSnapshot || !m.ready || c.state != Joined {
		if len(left) > 0 {
			return packet.DropSection
		}
		return nil
	}
	c.move(now)
	c.uplink.resolve(c.peer, &c.clock)
	return c.readSnapshot(now, left[1:])
}

// readWelcomeMoving takes the first message of the new host: a Welcome to the same match and the
// same player is answered with Ready. With any other one the client stays.
func (c *Client) readWelcomeMoving(now time.Duration, raw []byte) error {
	m := c.moving
	w, err := protocol.ParseWelcome(raw)
	if err != nil {
		m.stop(now, &c.out)
		return err
	}
	w.Tick = c.welcome.Tick
	if w != c.welcome {
		m.stop(now, &c.out)
		return packet.DropMessage
	}
	m.ready, m.sentAt = true, now-keepAlive
	to := conn{peer: m.peer}
	c.ready(&to)
	c.queueSnapshotRate(&to)
	if c.killcam.wanted {
		to.requestKillcams()
	}
	return nil
}

// move makes the session with the new host the client's. Clocks, prediction, received rows and the
// chat go on. Acks and arrivals of packets of the old session are forgotten: the sequences of the
// new one begin anew.
func (c *Client) move(now time.Duration) {
	m := c.moving
	if m.past == nil {
		m.past = new(netcode.Counters)
	}
	m.past.Add(c.dial.Counters())
	c.dial, c.peer = m.dial, m.peer
	c.mapEpoch, c.deferred = 0, nil
	if rtt := c.peer.RTT(); rtt.Smoothed != 0 {
		c.rtt = rtt
	}
	c.uplink.receipts, c.replica.recount = receipts{}, true
	c.Effects.window = effect.Window{} // another server counts anew
	c.uplink.sent = max(c.uplink.sent, m.sent)
	*m = moving{token: m.token[:0], count: m.count + 1, past: m.past}
	c.sendSoon(now)
}
