package server

import (
	"bytes"
	"sync"
	"time"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// transfers sends what clients lack of what a Welcome names: the model and the arena, packed once for all. In a tick each
// connection gets one fragment at most, and all together no more than the bucket gives, so newcomers cost no spike.
type transfers struct {
	*core
	packed  bool
	content [3][]byte        // by protocol.Content; nil if it is too large to be sent
	bucket  ratelimit.Bucket // of all connections together, killcams included
	waiting int              // connections that have asked for content and are not ready
	next    int              // in live: whose turn it is
}

// maxFetch is how long a client that fetches content may take to its Ready; then readyWithin counts from its last fragment.
const maxFetch = 3 * time.Minute

func newTransfers(c *core) transfers {
	return transfers{core: c, bucket: newBucket(c.cfg.ContentKbps)}
}

// PackContent packs what clients may ask for, which takes a tenth of a second. Without it the tick pays in which the first client
// asks.
func (l *Lobby) PackContent() { l.transfers.pack() }

func (t *transfers) pack() {
	if t.packed {
		return
	}
	t.packed = true
	t.content[protocol.ContentArena] = arenaTransfer(t.cfg.Arena)
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

// modelTransfer packs models. The trained ones, which most lobbies have, are packed once for all lobbies of a process: nobody writes
// to a packed transfer.
func modelTransfer(m ghost.Models) []byte {
	if m == ghost.Trained() {
		return trainedTransfer()
	}
	return packTransfer(protocol.ContentModel, m.Append(nil))
}

var trainedTransfer = sync.OnceValue(func() []byte { return packTransfer(protocol.ContentModel, ghost.Trained().Append(nil)) })

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
	if protocol.ParcelHead+len(packed) > packet.MaxBlobSize {
		return nil
	}
	p := protocol.Parcel{Content: content, Method: uint8(method), Size: uint32(len(raw)), Packed: packed}
	return p.Append(nil)
}

// start starts to send content to a connection, each content once in a session. ok is false if the session has to end, as it would
// without a request: the content is too large, or the connection has not taken that of three maps before.
func (t *transfers) start(g *guest, content protocol.Content) (ok bool) {
	if g.ready || g.unlike != 0 || g.fetched>>content&1 != 0 {
		t.Stats.Count[FetchRefused].Inc()
		return true
	}
	t.pack()
	packed := t.content[content]
	if packed == nil {
		return false
	}
	if g.fetched == 0 {
		t.waiting++
	}
	g.fetched |= 1 << content
	if g.peer.SendBlob(packed) != nil {
		return false
	}
	t.Stats.Count[Fetches].Inc()
	return true
}

// done notes that a connection waits for content no longer: it gets ready, or its session is over.
func (t *transfers) done(g *guest) {
	if g.fetched != 0 {
		t.waiting--
		g.fetched = 0
	}
}

// send sends one fragment to each connection that waits for content and whose link has room, as far as the bucket goes. It starts
// each time with the connection after the last.
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
		n := t.sendTo(now, &t.guests[t.live[t.next]])
		t.bucket.Take(now, n)
		room -= n
	}
}

// sendTo sends a connection the next fragment and the messages that are due, and returns the bytes of the datagram.
func (t *transfers) sendTo(now time.Duration, g *guest) int {
	if g.ready || g.fetched == 0 || !t.linkReady(now, g) {
		return 0
	}
	buf, _ := g.peer.Append(now, t.packet[:0])
	buf = g.peer.AppendEvents(buf, packet.MaxSections-packet.FragmentRoom)
	return t.sendFragment(now, g, buf)
}

// linkReady reports whether a fragment is due to a connection and its link has room.
func (t *transfers) linkReady(now time.Duration, g *guest) bool {
	return g.peer.BlobDue(now) && g.peer.Ready(now) && g.bucket.Ready(now)
}

// sendFragment completes a packet with the next fragment, sends it, and returns the bytes of the datagram.
func (t *transfers) sendFragment(now time.Duration, g *guest, buf []byte) int {
	buf = g.peer.AppendBlob(buf, packet.FragmentRoom)
	t.sendPacket(now, int(g.client), buf) // the fragment is due again if this fails
	n := sealBytes + len(buf)
	t.Stats.Count[ContentBytes].Add(uint64(n))
	return n
}

// overdue reports whether a connection that is not ready has had its time. It must first have what it has asked for, unless it
// acknowledges no fragment for long.
func (g *guest) overdue(now time.Duration) bool {
	b := g.peer.Blobs()
	if b.Pending > 0 && b.GivenUp == 0 && now-g.loads < maxFetch {
		g.supplied = now
	}
	return now-max(g.loads, g.supplied) >= readyWithin || b.GivenUp > 0
}
