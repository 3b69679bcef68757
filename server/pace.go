package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/server/metrics"
)

// bytesPerSecond turns a limit in kilobits a second into bytes; 0 is none in both.
func bytesPerSecond(kbps int) int { return kbps * 1000 / 8 }

// newBucket returns a full bucket of bytes for a limit in kilobits a second.
func newBucket(kbps int) ratelimit.Bucket {
	return ratelimit.New(bytesPerSecond(kbps), 100*time.Millisecond)
}

// pace takes a connection's wish for fewer snapshots or bytes. It cannot have more than the lobby gives.
func (c *conn) pace(every uint8, kbps int, l *Lobby) {
	c.repl.pacing.requestedKbps = kbps
	if most := l.cfg.Kbps; kbps == 0 || most != 0 && most < kbps {
		kbps = most
	}
	c.repl.pacing.every = every
	c.repl.pacing.bucket.SetRate(bytesPerSecond(kbps))
}

// due reports whether a connection gets a snapshot in tick t. One that is due and cannot go is counted; nothing is lost with
// it, as the next tells all that has changed since the connection's baseline.
func (l *Lobby) due(now time.Duration, c *conn, t tick.Tick) bool {
	interval := uint32(l.cfg.SendInterval)
	if l.replication.batch > 1 {
		if !l.dueSince(c, t) {
			return false
		}
	} else if (uint32(t)+uint32(c.id.Index()))%(interval*uint32(l.every(c))) != 0 {
		return false
	}
	if !c.session.peer.CanSend(now) {
		l.Stats.Count[metrics.SnapshotsAckStalled].Inc()
		c.repl.pacing.delayed = DelayAckStalled
		return false
	}
	if c.starved(l, t) {
		l.Stats.Count[metrics.SnapshotsUnacked].Inc()
		c.repl.pacing.delayed = DelayUnacked
		return false
	}
	// A snapshot that comes late waits for a gap at which the one before can be its baseline, or it would be many times
	// as large and the next one later still.
	gap := int(uint32(t-c.repl.pacing.sent) / interval)
	if c.affords(now, l) && (!c.repl.pacing.late || snapshot.AgeInUse(gap) || gap > snapshot.MaxAge) {
		return true
	}
	l.Stats.Count[metrics.SnapshotsThrottled].Inc()
	c.repl.pacing.late, c.repl.pacing.delayed = true, DelayThrottled
	if t-c.repl.pacing.lastSend >= tick.Tick(l.cfg.Rules.Rate)/wordsPerSecond {
		l.wordTo(now, c, t)
	}
	return false
}

// dueSince is whether a connection's turn came in any of several ticks up to t, of which only t is told. Of one interval there is one
// snapshot at most, or a client could not tell them apart as baselines: then the turn waits for the next batch.
func (l *Lobby) dueSince(c *conn, t tick.Tick) bool {
	interval, slot := uint32(l.cfg.SendInterval), uint32(c.id.Index())
	period := interval * uint32(l.every(c))
	return (uint32(t)+slot)/period != (uint32(c.repl.pacing.sent)+slot)/period && uint32(t)/interval != uint32(c.repl.pacing.sent)/interval
}

// affords reports whether a connection's bucket has enough for a snapshot: where rows may wait, half of its share.
func (c *conn) affords(now time.Duration, l *Lobby) bool {
	if l.cfg.Relevance == RelevanceOff || c.repl.pacing.bucket.Rate() == 0 {
		return c.repl.pacing.bucket.Ready(now)
	}
	share := c.share(l)
	return 2*c.repl.pacing.bucket.Room(now, share) >= int(int64(share)*int64(c.repl.pacing.bucket.Rate())/int64(time.Second))
}

// share is the time from one snapshot of a connection to the next, in which the line must carry it.
func (c *conn) share(l *Lobby) time.Duration {
	return l.cfg.Rules.Rate.At(tick.Tick(l.cfg.SendInterval) * l.every(c))
}

// starveAfter is how many snapshots go unacknowledged before such as need no baseline come only every starveEvery: each is
// many times as large as one that has a baseline, and to withhold acks must not buy them.
const (
	starveAfter = 32
	starveEvery = 250 * time.Millisecond
)

// starved reports whether a connection that acknowledges nothing has to wait for its next snapshot.
func (c *conn) starved(l *Lobby, t tick.Tick) bool {
	if c.repl.acks.unacked <= starveAfter || c.repl.acks.sinceResync != 0 && t-c.repl.acks.sinceResync <= tick.Tick(snapshot.MaxAge*l.cfg.SendInterval) {
		return false
	}
	return t-c.repl.pacing.sent < tick.Tick(int64(starveEvery)*int64(l.cfg.Rules.Rate)/int64(time.Second))
}

// wordsPerSecond is how often a connection whose bucket is empty hears from us all the same: it must know that we are here, and
// what of its commands has arrived.
const wordsPerSecond = 4

// wordTo sends a connection acks and events only. It is paid for like anything else.
func (l *Lobby) wordTo(now time.Duration, c *conn, t tick.Tick) {
	buf, _ := c.session.peer.Append(now, l.egress.packets.next())
	c.repl.pacing.lastSend = t
	l.egress.packets.commit(len(c.session.peer.AppendReliable(buf, eventBudget)), c.id.Index(), metrics.SectionEnds{})
}

// turn notes that a snapshot of tick t goes out, and how long the connection had to do without: it looks at the world by so much
// later.
func (c *conn) turn(t tick.Tick, l *Lobby) {
	c.repl.pacing.spacing = tick.Tick(l.cfg.SendInterval) * l.every(c)
	if c.repl.pacing.late {
		c.repl.pacing.spacing = max(c.repl.pacing.spacing, t-c.repl.pacing.sent)
	}
	c.repl.pacing.sent, c.repl.pacing.lastSend, c.repl.pacing.late, c.repl.pacing.delayed = t, t, false, DelayNone
	c.repl.acks.unacked++
}
