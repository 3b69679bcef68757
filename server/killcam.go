package server

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// A killcam is a recording of the last eight to twelve seconds of the match, for connections that
// have asked for it and whose player has died. It ends with the tick that asks Config.Background
// for it, and arrives later. One is made each killcamEvery at most, the same for all that died
// since the last. It goes as a transfer, a fragment a tick and no faster than killcamKbps or a
// quarter of the link, and all together from the bucket for content: snapshots do not wait for it.
const (
	killcamEvery   = time.Second
	killcamKbps    = 512
	killcamPlayers = 64 // the most players of a lobby with KillcamAuto that gives killcams
)

// Killcam says whether a lobby gives killcams.
type Killcam uint8

const (
	// KillcamAuto gives killcams in lobbies of at most 64 players whose relevance hides no player.
	// The inputs of more players in twelve seconds are longer than a transfer. A killcam contains
	// the last seconds of all players and the seed of the spread, which RelevanceGrid hides.
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

// givesKillcams reports whether clients of the lobby may ask for killcams. c must be filled.
func (c *Config) givesKillcams() bool {
	if c.Killcam == KillcamAuto {
		return c.Players <= killcamPlayers && c.Relevance != RelevanceGrid
	}
	return c.Killcam == KillcamOn
}

// reservesKillcams reports whether the recording for killcams has its memory before a client asks
// for one. That takes milliseconds and megabytes, but in a lobby of up to maxTogether slots.
func (c *Config) reservesKillcams() bool { return c.givesKillcams() && !c.sendsTogether() }

// killcams is the state of a lobby's killcams.
type killcams struct {
	viewers int       // connections that want killcams
	made    tick.Tick // when the last was made
	next    int       // index in live of the last one served
}

// killcamViewer is the killcam state of a connection.
type killcamViewer struct {
	asked   bool
	died    bool      // and no killcam of it was asked of Config.Background
	diedAt  tick.Tick // of the last death
	waiting bool      // for the killcam that is being made
	bucket  ratelimit.Bucket
}

// killcamJob makes one killcam. The tick fills it in and sets busy; done gives it back.
type killcamJob struct {
	cam     *replay.Killcam
	pending replay.Chunk // in progress when the killcam was asked for
	busy    bool         // belongs to the tick, as all does while it is false
	done    atomic.Bool

	transfer []byte    // empty: there is none
	first    tick.Tick // that the transfer shows
	err      error     // of Killcam.Append
	run      func()    // encode, bound once
}

// encode runs outside the tick.
func (j *killcamJob) encode() {
	recorded, first, err := j.cam.Append(nil, &j.pending,
		packet.MaxTransferSize-protocol.ContentTransferHead)
	if j.transfer, j.first, j.err = nil, first, err; err == nil {
		size := uint32(len(recorded))
		t := protocol.ContentTransfer{Content: protocol.ContentKillcam, Size: size, Compressed: recorded}
		j.transfer = t.Append(make([]byte, 0, protocol.ContentTransferHead+len(recorded)))
	}
	j.done.Store(true)
}

// request handles a connection's request for killcams, once in a session.
func (r *recording) request(now time.Duration, c *conn) {
	if !r.cfg.givesKillcams() || !c.session.ready || c.transfer.killcam.asked {
		r.Stats.Count[metrics.ContentRefused].Inc()
		return
	}
	kbps := killcamKbps
	if rate := c.repl.pacing.bucket.Rate(); rate > 0 {
		kbps = min(kbps, max(1, rate*8/1000/4))
	}
	c.transfer.killcam = killcamViewer{asked: true, bucket: newBucket(kbps)}
	r.killcams.viewers++
}

// forget notes that a connection wants no killcams any more, or is gone.
func (r *recording) forget(c *conn) {
	if c.transfer.killcam.asked {
		r.killcams.viewers--
	}
	c.transfer.killcam = killcamViewer{}
}

// markDeath notes that a player has died in the tick.
func (r *recording) markDeath(e *sim.Event) {
	if c := &r.conns[e.Victim.Index()]; c.id == e.Victim && c.transfer.killcam.asked {
		c.transfer.killcam.died, c.transfer.killcam.diedAt = true, e.Tick
	}
}

// sendKillcams asks for a killcam if one is due, begins to send one that is made, and sends
// fragments of those on their way, as far as the bucket of t goes.
func (r *recording) sendKillcams(now time.Duration, t *transfers) {
	if r.killcams.viewers == 0 || r.rec == nil {
		return
	}
	j := &r.jobs.killcam
	if !j.busy && r.makeKillcam() {
		j.busy, j.cam, j.pending = true, r.last, r.rec.Pending(j.pending.Log)
		r.cfg.Background(j.run)
	}
	if j.busy && j.done.Load() {
		r.beginTransfers(j)
		j.busy = false
		j.done.Store(false)
	}
	r.sendFragments(now, t)
}

// makeKillcam reports whether a killcam is to be made now, and makes all that it is for wait.
func (r *recording) makeKillcam() (due bool) {
	k, t := &r.killcams, r.match.Tick()
	if k.made != 0 && t < k.made+r.millis(int(killcamEvery/time.Millisecond)) && t >= k.made {
		return false
	}
	for _, slot := range r.live {
		c := &r.conns[slot]
		if viewer := &c.transfer.killcam; viewer.died && c.session.peer.Transfers().Pending == 0 {
			viewer.died, viewer.waiting, due = false, true, true
		}
	}
	if due {
		k.made = t
	}
	return due
}

// killcamRetry is how long after a death a killcam is tried again while no state is complete: the
// recording begins anew after a gap, and has a state then within replay.KeyEvery chunks.
const killcamRetry = (replay.KeyEvery + 1) * replay.ChunkMillis

// beginTransfers begins to send a killcam to each connection that waits for it and whose death it
// shows.
func (r *recording) beginTransfers(j *killcamJob) {
	if j.err == replay.ErrTooLong {
		r.Stats.Count[metrics.KillcamsTooLong].Inc()
	}
	for _, slot := range r.live {
		c := &r.conns[slot]
		if viewer := &c.transfer.killcam; viewer.waiting {
			viewer.waiting = false
			if j.err == replay.ErrNoState && r.match.Tick()-viewer.diedAt < r.millis(killcamRetry) {
				viewer.died = true
			}
			if len(j.transfer) > 0 && j.first <= viewer.diedAt &&
				c.session.peer.SendTransfer(j.transfer) == nil {
				r.Stats.Count[metrics.Killcams].Inc()
			}
		}
	}
	j.transfer = nil // the connections hold it while they send
}

// sendFragments sends the next fragment to each connection, as far as the bucket goes.
func (r *recording) sendFragments(now time.Duration, t *transfers) {
	k := &r.killcams
	room := t.bucket.Room(now, r.cfg.Rules.Rate.Period())
	for range len(r.live) {
		if room <= 0 {
			return
		}
		if k.next++; k.next >= len(r.live) {
			k.next = 0
		}
		c := &r.conns[r.live[k.next]]
		viewer := &c.transfer.killcam
		if !viewer.asked || !c.session.ready || !viewer.bucket.Ready(now) || !t.linkReady(now, c) {
			continue
		}
		buf, _ := c.session.peer.Append(now, r.port.egress.packets.next())
		n := t.sendFragment(now, c, buf)
		viewer.bucket.Take(now, n)
		t.bucket.Take(now, n)
		room -= n
	}
}
