package client

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

// conn is the session with the server. Datagrams and their arrival times go in; packets, the state
// of the session and datagrams to send come out.
type conn struct {
	state    State
	reason   packet.Reason
	outTaken bool  // the caller has the datagrams in out
	measured bool  // a packet of ours was acked: there is a round trip
	mapEpoch uint8 // changes of the map since the session began, see protocol.NextMapEpoch
	dial     *netcode.Client
	peer     *packet.Peer  // nil until the server accepts the token
	moving   *moving       // nil: the match has never been on the way to another host
	sentAt   time.Duration // of the last packet
	rtt      packet.RTT    // the peer's
	out      netcode.Outbox
	deferred [][]byte // messages about the map that found the queue full
	stats    connStats
	err      error
	draft    [packet.MaxPacketSize]byte
}

// connStats counts bytes and packets.
type connStats struct {
	packets      packet.Counters
	bytesIn      uint64
	datagramsOut uint64
	bytesOut     uint64
	traffic      Traffic
}

const (
	keepAlive     = 50 * time.Millisecond // a packet goes out at least so often, for its acks
	messageBudget = 512                   // bytes of a packet for reliable messages
	noteBudget    = 16                    // bytes of a packet for unreliable messages
	maxOut        = 64                    // datagrams queued between two calls of Outgoing
)

// errEnded is the Err of a session that the server ended without a reason.
var errEnded = errors.New("client: the server ended the session")

// ErrNotJoined is the error of a request before the client has joined.
var ErrNotJoined = errors.New("client: not joined")

func (c *conn) end(s State, why packet.Reason, err error) { c.state, c.reason, c.err = s, why, err }

// deny ends an attempt to join and disconnects.
func (c *conn) deny(now time.Duration, why packet.Reason, err error) {
	c.end(Denied, why, err)
	c.dial.Disconnect(now, &c.out)
}

// followDial takes over the state of the netcode connection.
func (c *conn) followDial(now time.Duration) {
	if c.state > Joined {
		return
	}
	switch s := c.dial.State(); {
	case s == netcode.Connected && c.peer == nil:
		c.peer = packet.NewPeer(now, packet.Config{})
		c.sendSoon(now)
	case c.dial.Lingering(now):
	case s == netcode.Disconnected:
		c.end(Lost, 0, errEnded)
	case s == netcode.ConnectionTimedOut:
		c.end(Lost, packet.ReasonTimeout, c.dial.Err())
	case s == netcode.ConnectionDenied:
		c.end(Denied, packet.ReasonFull, fmt.Errorf("%w: %v", c.dial.Err(), packet.ReasonFull))
	case s < netcode.Disconnected:
		c.end(Lost, 0, c.dial.Err())
	}
}

// sendSoon makes the next Outgoing send a packet.
func (c *conn) sendSoon(now time.Duration) { c.sentAt = now - keepAlive }

// resetOut drops the datagrams that the caller has taken.
func (c *conn) resetOut() {
	if c.outTaken || c.out.Len() >= maxOut {
		c.out.Reset()
		c.outTaken = false
	}
}

// decrypt takes a datagram, decrypts it in place and returns the packet in it, nil if there is
// none.
func (c *conn) decrypt(now time.Duration, datagram []byte) (pkt []byte, err error) {
	c.stats.bytesIn += uint64(len(datagram))
	c.resetOut()
	pkt, err = c.dial.Receive(now, c.dial.Server(), datagram, &c.out)
	if err != nil {
		return nil, err
	}
	c.followDial(now)
	if pkt == nil {
		c.stats.traffic.Session += uint64(len(datagram))
		return nil, nil
	}
	c.stats.traffic.Seal += uint64(len(datagram) - len(pkt))
	c.stats.packets.Arrived()
	return pkt, nil
}

// readHeader takes a packet's header and acks and returns its sections.
func (c *conn) readHeader(now time.Duration, pkt []byte) (sections []byte, err error) {
	if c.state > Joined {
		return nil, packet.DropClosed
	}
	sections, err = c.peer.Receive(now, pkt)
	if err != nil {
		return nil, err
	}
	if rtt := c.peer.RTT(); rtt.Smoothed != 0 || !c.measured {
		c.rtt = rtt // else of the host that the match has moved from
	}
	c.stats.traffic.Header += uint64(len(pkt) - len(sections))
	c.measured = c.measured || len(c.peer.Delivered()) > 0
	return sections, nil
}

// request queues a reliable message of a client that has joined.
func (c *conn) request(message []byte) error {
	if c.state != Joined {
		return ErrNotJoined
	}
	return c.peer.QueueReliable(message)
}

// queueForMap queues a reliable message about the map that is played or loaded.
func (c *conn) queueForMap(message []byte) {
	if c.mapEpoch != 0 {
		var buf [2 + protocol.MaxReady]byte
		message = append(protocol.AppendMapChange(buf[:0], c.mapEpoch), message...)
	}
	if len(c.deferred) > 0 || c.peer.QueueReliable(message) != nil { // the queue is full
		c.deferred = append(c.deferred, bytes.Clone(message))
	}
}

// queueDeferred queues what found the queue full.
func (c *conn) queueDeferred() {
	for len(c.deferred) > 0 && c.peer.QueueReliable(c.deferred[0]) == nil {
		c.deferred = c.deferred[1:]
	}
}

// MapEpoch is how often the server has changed the map in this session, modulo 256 and never 0
// after the first change. Snapshots of another epoch are ignored.
func (c *conn) MapEpoch() uint8 { return c.mapEpoch }

// Jitter returns percentiles of the newest 256 round trips over the fastest of them, and of the
// delays from the server alone. It costs two sorts: call it once a second, not once a tick. Both
// are zero before the session.
func (c *conn) Jitter() (roundTrip, inbound packet.Jitter) {
	if c.peer == nil {
		return
	}
	return c.peer.RTTJitter(), c.peer.Jitter()
}
