package server

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// A killcam is a recording of the last eight to twelve seconds of the match, sent to who has died and had asked for such. It shows what
// is over: it ends with the tick in which it is made, and arrives later. One is made every camEvery at most, for all who died since the
// last, and it is the same for all of them. Each gets it as a blob, no more than a fragment at a time and no faster than camKbps, or a
// quarter of what its line carries, and all together from the bytes for content: snapshots do not wait for it.
const (
	camEvery   = time.Second
	camKbps    = 512
	camPlayers = 64 // the most players of a lobby that gives killcams unless told otherwise
)

// Killcam says whether a lobby gives killcams.
type Killcam uint8

const (
	// KillcamAuto gives killcams in lobbies of at most 64 players in which relevance hides nobody. The inputs of more players in
	// twelve seconds are longer than a transfer. A killcam has everybody's last seconds and the seed of the spread in it, which
	// RelevanceGrid keeps from clients.
	KillcamAuto Killcam = iota
	KillcamOn
	KillcamOff
)

// ParseKillcam reads auto, on or off.
func ParseKillcam(s string) (Killcam, error) {
	for i, name := range [...]string{"auto", "on", "off"} {
		if s == name {
			return Killcam(i), nil
		}
	}
	return 0, fmt.Errorf("killcam %q: expected auto, on or off", s)
}

// cams are a lobby's killcams.
type cams struct {
	askers int       // connections who want killcams
	made   tick.Tick // when the last was
	next   int       // in live: whose turn it is
}

// cam is what a connection is to be shown.
type cam struct {
	asked  bool
	died   bool // and has not been sent a killcam of it
	bucket ratelimit.Bucket
}

// givesKillcams reports whether clients of the lobby may ask for killcams. c must be filled.
func (c *Config) givesKillcams() bool {
	if c.Killcam == KillcamAuto {
		return c.Players <= camPlayers && c.Relevance != RelevanceGrid
	}
	return c.Killcam == KillcamOn
}

// camera takes a connection's wish for killcams: once, and if the lobby gives any.
func (l *Lobby) camera(now time.Duration, c *conn) {
	if !l.cfg.givesKillcams() || !c.session.ready || c.transfer.killcam.asked {
		l.Stats.Count[metrics.ContentRefused].Inc()
		return
	}
	kbps := camKbps
	if rate := c.repl.pacing.bucket.Rate(); rate > 0 {
		kbps = min(kbps, max(1, rate*8/1000/4))
	}
	c.transfer.killcam = cam{asked: true, bucket: newBucket(kbps)}
	l.cams.askers++
}

// uncamera notes that a connection is gone.
func (l *Lobby) uncamera(c *conn) {
	if c.transfer.killcam.asked {
		l.cams.askers--
	}
	c.transfer.killcam = cam{}
}

// mourn notes who died in the tick.
func (l *Lobby) mourn(e *sim.Event) {
	if c := &l.conns[e.Victim.Index()]; c.id == e.Victim && c.transfer.killcam.asked {
		c.transfer.killcam.died = true
	}
}

// film makes a killcam if one is due, and sends fragments of those that are on their way.
func (l *Lobby) showCams(now time.Duration) {
	if l.cams.askers == 0 || l.film.rec == nil {
		return
	}
	var blob []byte
	for _, slot := range l.live {
		c := &l.conns[slot]
		if !c.transfer.killcam.died || c.session.peer.Transfers().Pending > 0 {
			continue
		}
		if blob == nil {
			if blob = l.develop(); blob == nil {
				break
			}
		}
		c.transfer.killcam.died = false
		if c.session.peer.SendTransfer(blob) == nil {
			l.Stats.Count[metrics.Killcams].Inc()
		}
	}
	l.supplyCams(now)
}

// develop makes the blob of a killcam that ends now, nil if it is not yet time for another or it is too long.
func (l *Lobby) develop() []byte {
	c := &l.cams
	t := l.match.Tick()
	if c.made != 0 && t < c.made+l.ticksOf(int(camEvery/time.Millisecond)) && t >= c.made {
		return nil
	}
	c.made = t
	reel := l.film.cam.Append(nil, l.film.rec, packet.MaxTransferSize-protocol.ContentTransferHead)
	if len(reel) == 0 {
		l.Stats.Count[metrics.KillcamsTooLong].Inc()
		return nil
	}
	p := protocol.ContentTransfer{Content: protocol.ContentKillcam, Size: uint32(len(reel)), Compressed: reel}
	return p.Append(nil)
}

// supplyCams sends the next fragments, one to a connection, as far as the bytes for all go.
func (l *Lobby) supplyCams(now time.Duration) {
	room := l.contents.bucket.Room(now, l.cfg.Rules.Rate.Period())
	for range len(l.live) {
		if room <= 0 {
			return
		}
		if l.cams.next++; l.cams.next >= len(l.live) {
			l.cams.next = 0
		}
		c := &l.conns[l.live[l.cams.next]]
		if !c.transfer.killcam.asked || !c.session.ready || !c.transfer.killcam.bucket.Ready(now) || !c.session.peer.FragmentDue(now) || !c.session.peer.CanSend(now) || !c.repl.pacing.bucket.Ready(now) {
			continue
		}
		pack, _ := c.session.peer.Append(now, l.egress.packets.next())
		pack = c.session.peer.AppendFragment(pack, packet.FragmentSectionSize)
		l.dispatch(now, c, pack) // the fragment is due again if this fails
		n := sealBytes + len(pack)
		l.Stats.Count[metrics.ContentBytes].Add(uint64(n))
		c.transfer.killcam.bucket.Take(now, n)
		l.contents.bucket.Take(now, n)
		room -= n
	}
}
