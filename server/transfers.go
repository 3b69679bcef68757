package server

import (
	"bytes"
	"sync"
	"time"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// transfers sends what clients lack of what a Welcome names: the model and the arena, packed once
// for all. In a tick each connection gets one fragment at most, and all together no more than the
// bucket gives, so newcomers cost no spike.
type transfers struct {
	*core
	packed  bool
	content [3][]byte        // by protocol.Content; nil if it is too large to be sent
	bucket  ratelimit.Bucket // of all connections together, killcams included
	waiting int              // connections that have asked for content and are not ready
	next    int              // index in live of the last one served
}

// maxFetch is how long a client that fetches content may take to its Ready; then readyWithin counts
// from its last fragment.
const maxFetch = 3 * time.Minute

func newTransfers(c *core) transfers {
	return transfers{core: c, bucket: newBucket(c.cfg.ContentKbps)}
}

// PackContent packs what clients may ask for, which takes a tenth of a second. Without it the tick
// pays in which the first client asks.
func (l *Lobby) PackContent() { l.transfers.pack() }

func (t *transfers) pack() {
	if t.packed {
		return
	}
	t.packed = true
	if t.content[protocol.ContentArena] = t.cfg.packedArena; t.cfg.packedArena == nil {
		t.content[protocol.ContentArena] = arenaTransfer(t.cfg.Arena)
	}
	if t.content[protocol.ContentModel] == nil {
		t.content[protocol.ContentModel] = modelTransfer(t.cfg.Models)
	}
}

// setArena replaces the arena by that of a new map; nil is packed when a client asks.
func (t *transfers) setArena(packed []byte) {
	t.packed = t.packed && packed != nil
	t.content[protocol.ContentArena] = packed
	t.waiting, t.next = 0, 0
}

// modelTransfer packs models. The trained ones, which most lobbies have, are packed once for all
// lobbies of a process: a packed transfer is read only.
func modelTransfer(m netstate.Models) []byte {
	if m == netstate.Trained() {
		return trainedTransfer()
	}
	return packTransfer(protocol.ContentModel, m.Append(nil))
}

var trainedTransfer = sync.OnceValue(func() []byte {
	return packTransfer(protocol.ContentModel, netstate.Trained().Append(nil))
})

// arenaTransfer packs an arena.
func arenaTransfer(a *arena.Arena) []byte {
	var file bytes.Buffer
	_ = a.Save(&file) // a buffer takes all
	return packTransfer(protocol.ContentArena, file.Bytes())
}

// packTransfer packs content; nil if it is too large to be sent.
func packTransfer(content protocol.Content, raw []byte) []byte {
	if len(raw) > protocol.MaxContent {
		return nil
	}
	method, packed := dict.Pack(raw)
	if protocol.ContentTransferHead+len(packed) > packet.MaxTransferSize {
		return nil
	}
	t := protocol.ContentTransfer{
		Content: content, Compression: uint8(method), Size: uint32(len(raw)), Compressed: packed,
	}
	return t.Append(nil)
}

// start starts to send content to a connection, each content once in a session. ok is false if the
// session has to end, as it would without a request: the content is too large, or the connection
// has not taken that of three maps before.
func (t *transfers) start(c *conn, content protocol.Content) (ok bool) {
	if !c.awaitsReady() || c.transfer.requested>>content&1 != 0 {
		t.Stats.Count[metrics.ContentRefused].Inc()
		return true
	}
	t.pack()
	packed := t.content[content]
	if packed == nil {
		return false
	}
	if c.transfer.requested == 0 {
		t.waiting++
	}
	c.transfer.requested |= 1 << content
	if c.session.peer.SendTransfer(packed) != nil {
		return false
	}
	t.Stats.Count[metrics.ContentRequests].Inc()
	return true
}

// done notes that a connection waits for content no longer: it gets ready, or its session is over.
func (t *transfers) done(c *conn) {
	if c.transfer.requested != 0 {
		t.waiting--
		c.transfer.requested = 0
	}
}

// send sends one fragment to each connection that waits for content and whose link has room, as far
// as the bucket goes. It starts each time with the connection after the last.
func (t *transfers) send(now time.Duration) {
	if t.waiting == 0 {
		return
	}
	room := t.bucket.Room(now, t.cfg.Rules.Rate.Period())
	for range len(t.live) {
		if room <= 0 {
			break
		}
		if t.next++; t.next >= len(t.live) {
			t.next = 0
		}
		n := t.sendTo(now, &t.conns[t.live[t.next]])
		t.bucket.Take(now, n)
		room -= n
	}
}

// sendTo sends a connection the next fragment and the messages that are due, and returns the bytes
// of the datagram.
func (t *transfers) sendTo(now time.Duration, c *conn) int {
	if c.session.ready || c.transfer.requested == 0 || !t.linkReady(now, c) {
		return 0
	}
	buf, _ := c.session.peer.Append(now, t.port.egress.packets.next())
	buf = c.session.peer.AppendReliable(buf, packet.MaxSectionBytes-packet.FragmentSectionSize)
	return t.sendFragment(now, c, buf)
}

// linkReady reports whether a fragment is due to a connection and its link has room.
func (t *transfers) linkReady(now time.Duration, c *conn) bool {
	return c.session.peer.FragmentDue(now) && c.session.peer.CanSend(now) && c.repl.pacing.bucket.Ready(now)
}

// sendFragment completes a packet with the next fragment, sends it, and returns the bytes of the
// datagram.
func (t *transfers) sendFragment(now time.Duration, c *conn, buf []byte) int {
	buf = c.session.peer.AppendFragment(buf, packet.FragmentSectionSize)
	t.sendPacket(now, int(c.session.client), buf) // the fragment is due again if this fails
	n := sealBytes + len(buf)
	t.Stats.Count[metrics.ContentBytes].Add(uint64(n))
	return n
}

// overdue reports whether a connection that is not ready has had its time. It must first have what
// it has asked for, unless it acknowledges no fragment for long.
func (c *conn) overdue(now time.Duration) bool {
	b := c.session.peer.Transfers()
	if b.Pending > 0 && b.GivenUp == 0 && now-c.session.loadingSince < maxFetch {
		c.transfer.suppliedAt = now
	}
	return now-max(c.session.loadingSince, c.transfer.suppliedAt) >= readyWithin || b.GivenUp > 0
}
