package server

import (
	"bytes"
	"sync"
	"time"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// contents is what clients may lack of what a Welcome names, packed once and sent to all who ask. In a tick each of them gets one
// fragment at most, and all together no more than their bucket gives: who comes in costs no spike, however many come.
type contents struct {
	packed  bool
	parcels [3][]byte // by wire.Content; nil if it is too large to be sent
	bucket  ratelimit.Bucket
	waiting int // guests who have asked and are not ready
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
	c.parcels[wire.ContentArena] = arenaParcel(l.cfg.Arena)
	if c.parcels[wire.ContentModel] == nil {
		c.parcels[wire.ContentModel] = modelParcel(l.cfg.Models)
	}
}

// modelParcel packs models. Those that most lobbies have are packed once for all lobbies of a process: nobody writes into a parcel.
func modelParcel(m ghost.Models) []byte {
	if m == ghost.Trained() {
		return trainedParcel()
	}
	return parcel(wire.ContentModel, m.Append(nil))
}

var trainedParcel = sync.OnceValue(func() []byte { return parcel(wire.ContentModel, ghost.Trained().Append(nil)) })

// arenaParcel packs an arena.
func arenaParcel(a *arena.Arena) []byte {
	var file bytes.Buffer
	_ = a.Save(&file) // a buffer takes all
	return parcel(wire.ContentArena, file.Bytes())
}

// parcel packs a content, nil if it is too large to be sent.
func parcel(what wire.Content, raw []byte) []byte {
	if len(raw) > wire.MaxContent {
		return nil
	}
	method, packed := dict.Pack(raw)
	if wire.ParcelHead+len(packed) > session.MaxBlobSize {
		return nil
	}
	p := wire.Parcel{Content: what, Method: uint8(method), Size: uint32(len(raw)), Packed: packed}
	return p.Append(nil)
}

// fetch takes a guest's request for content: each once in a session. What cannot be sent ends the session as if the guest had
// not asked.
func (l *Lobby) fetch(now time.Duration, g *guest, what wire.Content) {
	if what == wire.ContentKillcam {
		l.camera(now, g)
		return
	}
	if g.ready || g.unlike != 0 || g.fetched>>what&1 != 0 {
		l.Stats.Count[metrics.ContentRefused].Inc()
		return
	}
	l.Prepare()
	parcel := l.contents.parcels[what]
	switch {
	case parcel != nil:
		if g.fetched == 0 {
			l.contents.waiting++
		}
		g.fetched |= 1 << what
		if g.peer.SendBlob(parcel) != nil { // there is room for four, and none is too long: it did not take those of three maps before
			l.dismiss(now, g, wire.ReasonArena)
			return
		}
		l.Stats.Count[metrics.ContentRequests].Inc()
	case what == wire.ContentModel:
		l.explain(now, g, wire.ReasonModel)
	default:
		l.dismiss(now, g, wire.ReasonArena)
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
		n := l.supplyTo(now, &l.guests[l.live[c.next]])
		c.bucket.Take(now, n)
		room -= n
	}
}

// supplyTo sends a guest the next fragment that is due, with the events that are, and returns the bytes of the datagram.
func (l *Lobby) supplyTo(now time.Duration, g *guest) int {
	if g.ready || g.fetched == 0 || !g.peer.BlobDue(now) || !g.peer.Ready(now) || !g.bucket.Ready(now) {
		return 0
	}
	pack, _ := g.peer.Append(now, l.drafts.next())
	pack = g.peer.AppendEvents(pack, wire.MaxSections-session.FragmentRoom)
	pack = g.peer.AppendBlob(pack, session.FragmentRoom)
	l.dispatch(now, g, pack) // the fragment is due again if this fails
	n := sealBytes + len(pack)
	l.Stats.Count[metrics.ContentBytes].Add(uint64(n))
	return n
}

// overdue reports whether a guest who is not ready has had its time. What it has asked for it must have first, unless it takes
// nothing of it for long.
func (g *guest) overdue(now time.Duration) bool {
	b := g.peer.Blobs()
	if b.Pending > 0 && b.GivenUp == 0 && now-g.loads < fetchWithin {
		g.supplied = now
	}
	return now-max(g.loads, g.supplied) >= readyWithin || b.GivenUp > 0
}

// served notes that a guest waits for content no longer: it gets ready, or its session is over.
func (l *Lobby) served(g *guest) {
	if g.fetched != 0 {
		l.contents.waiting--
		g.fetched = 0
	}
}
