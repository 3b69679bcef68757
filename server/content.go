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

// contents is what clients may lack of what a Welcome names, packed once and sent to all who ask. In a tick each of them gets one
// fragment at most, and all together no more than their bucket gives: who comes in costs no spike, however many come.
type contents struct {
	packed  bool
	parcels [3][]byte // by protocol.Content; nil if it is too large to be sent
	bucket  ratelimit.Bucket
	waiting int // connections who have asked and are not ready
	next    int // in live: whose turn it is
}

// fetchWithin is how long a client may take to its Ready if it has asked for content: then readyWithin counts from when it has all.
const fetchWithin = 3 * time.Minute

// Prepare packs what clients may ask for, which takes a tenth of a second. Who does not call it pays with the tick in which the
// first client asks.
func (l *Lobby) Prepare() {
	c := &l.contents
	if c.packed {
		return
	}
	c.packed = true
	c.parcels[protocol.ContentArena] = arenaParcel(l.cfg.Arena)
	if c.parcels[protocol.ContentModel] == nil {
		c.parcels[protocol.ContentModel] = modelParcel(l.cfg.Models)
	}
}

// modelParcel packs models. Those that most lobbies have are packed once for all lobbies of a process: nobody writes into a parcel.
func modelParcel(m netstate.Models) []byte {
	if m == netstate.Trained() {
		return trainedParcel()
	}
	return parcel(protocol.ContentModel, m.Append(nil))
}

var trainedParcel = sync.OnceValue(func() []byte { return parcel(protocol.ContentModel, netstate.Trained().Append(nil)) })

// arenaParcel packs an arena.
func arenaParcel(a *arena.Arena) []byte {
	var file bytes.Buffer
	_ = a.Save(&file) // a buffer takes all
	return parcel(protocol.ContentArena, file.Bytes())
}

// parcel packs a content, nil if it is too large to be sent.
func parcel(what protocol.Content, raw []byte) []byte {
	if len(raw) > protocol.MaxContent {
		return nil
	}
	method, packed := dict.Pack(raw)
	if protocol.ContentTransferHead+len(packed) > packet.MaxTransferSize {
		return nil
	}
	p := protocol.ContentTransfer{Content: what, Compression: uint8(method), Size: uint32(len(raw)), Compressed: packed}
	return p.Append(nil)
}

// fetch takes a connection's request for content: each once in a session. What cannot be sent ends the session as if the connection had
// not asked.
func (l *Lobby) fetch(now time.Duration, c *conn, what protocol.Content) {
	if what == protocol.ContentKillcam {
		l.camera(now, c)
		return
	}
	if c.session.ready || c.session.mismatch != 0 || c.transfer.requested>>what&1 != 0 {
		l.Stats.Count[metrics.ContentRefused].Inc()
		return
	}
	l.Prepare()
	parcel := l.contents.parcels[what]
	switch {
	case parcel != nil:
		if c.transfer.requested == 0 {
			l.contents.waiting++
		}
		c.transfer.requested |= 1 << what
		if c.session.peer.SendTransfer(parcel) != nil { // there is room for four, and none is too long: it did not take those of three maps before
			l.dismiss(now, c, packet.ReasonArena)
			return
		}
		l.Stats.Count[metrics.ContentRequests].Inc()
	case what == protocol.ContentModel:
		l.explain(now, c, packet.ReasonModel)
	default:
		l.dismiss(now, c, packet.ReasonArena)
	}
}

// supply sends fragments to those who wait for content: one a tick to each whose own line has room, as far as the bytes for all
// go, and another time to the others first.
func (l *Lobby) supply(now time.Duration) {
	c := &l.contents
	if c.waiting == 0 {
		return
	}
	room := c.bucket.Room(now, l.cfg.Rules.Rate.Period())
	for range len(l.live) {
		if room <= 0 {
			break
		}
		if c.next++; c.next >= len(l.live) {
			c.next = 0
		}
		n := l.supplyTo(now, &l.conns[l.live[c.next]])
		c.bucket.Take(now, n)
		room -= n
	}
}

// supplyTo sends a connection the next fragment that is due, with the events that are, and returns the bytes of the datagram.
func (l *Lobby) supplyTo(now time.Duration, c *conn) int {
	if c.session.ready || c.transfer.requested == 0 || !c.session.peer.FragmentDue(now) || !c.session.peer.CanSend(now) || !c.repl.pacing.bucket.Ready(now) {
		return 0
	}
	pack, _ := c.session.peer.Append(now, l.egress.packets.next())
	pack = c.session.peer.AppendReliable(pack, packet.MaxSectionBytes-packet.FragmentSectionSize)
	pack = c.session.peer.AppendFragment(pack, packet.FragmentSectionSize)
	l.dispatch(now, c, pack) // the fragment is due again if this fails
	n := sealBytes + len(pack)
	l.Stats.Count[metrics.ContentBytes].Add(uint64(n))
	return n
}

// overdue reports whether a connection who is not ready has had its time. What it has asked for it must have first, unless it takes
// nothing of it for long.
func (c *conn) overdue(now time.Duration) bool {
	b := c.session.peer.Transfers()
	if b.Pending > 0 && b.GivenUp == 0 && now-c.session.loadingSince < fetchWithin {
		c.transfer.suppliedAt = now
	}
	return now-max(c.session.loadingSince, c.transfer.suppliedAt) >= readyWithin || b.GivenUp > 0
}

// served notes that a connection waits for content no longer: it gets ready, or its session is over.
func (l *Lobby) served(c *conn) {
	if c.transfer.requested != 0 {
		l.contents.waiting--
		c.transfer.requested = 0
	}
}
