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

// pace takes a guest's wish for fewer snapshots or bytes. It cannot have more than the lobby gives.
func (g *guest) pace(every uint8, kbps int, l *Lobby) {
	g.wish = kbps
	if most := l.cfg.Kbps; kbps == 0 || most != 0 && most < kbps {
		kbps = most
	}
	g.every = every
	g.bucket.SetRate(bytesPerSecond(kbps))
}

// due reports whether a guest gets a snapshot in tick t. One that is due and cannot go is counted; nothing is lost with
// it, as the next tells all that has changed since the guest's baseline.
func (l *Lobby) due(now time.Duration, g *guest, t tick.Tick) bool {
	interval := uint32(l.cfg.Interval)
	if l.batch > 1 {
		if !l.dueSince(g, t) {
			return false
		}
	} else if (uint32(t)+uint32(g.id.Index()))%(interval*uint32(l.every(g))) != 0 {
		return false
	}
	if !g.peer.Ready(now) {
		l.Stats.Count[metrics.SnapshotsAckStalled].Inc()
		g.held = HeldChoked
		return false
	}
	if g.starved(l, t) {
		l.Stats.Count[metrics.SnapshotsUnacked].Inc()
		g.held = HeldStarved
		return false
	}
	// A snapshot that comes late waits for a gap at which the one before can be its baseline, or it would be many times
	// as large and the next one later still.
	gap := int(uint32(t-g.sent) / interval)
	if g.affords(now, l) && (!g.late || snapshot.AgeInUse(gap) || gap > snapshot.MaxAge) {
		return true
	}
	l.Stats.Count[metrics.SnapshotsThrottled].Inc()
	g.late, g.held = true, HeldThrottled
	if t-g.spoke >= tick.Tick(l.cfg.Rules.Rate)/wordsPerSecond {
		l.wordTo(now, g, t)
	}
	return false
}

// dueSince is whether a guest's turn came in any of several ticks up to t, of which only t is told. Of one interval there is one
// snapshot at most, or a client could not tell them apart as baselines: then the turn waits for the next batch.
func (l *Lobby) dueSince(g *guest, t tick.Tick) bool {
	interval, slot := uint32(l.cfg.Interval), uint32(g.id.Index())
	period := interval * uint32(l.every(g))
	return (uint32(t)+slot)/period != (uint32(g.sent)+slot)/period && uint32(t)/interval != uint32(g.sent)/interval
}

// affords reports whether a guest's bucket has enough for a snapshot: where rows may wait, half of its share.
func (g *guest) affords(now time.Duration, l *Lobby) bool {
	if l.cfg.Relevance == RelevanceOff || g.bucket.Rate() == 0 {
		return g.bucket.Ready(now)
	}
	share := g.share(l)
	return 2*g.bucket.Room(now, share) >= int(int64(share)*int64(g.bucket.Rate())/int64(time.Second))
}

// share is the time from one snapshot of a guest to the next, in which the line must carry it.
func (g *guest) share(l *Lobby) time.Duration {
	return l.cfg.Rules.Rate.At(tick.Tick(l.cfg.Interval) * l.every(g))
}

// starveAfter is how many snapshots go unacknowledged before such as need no baseline come only every starveEvery: each is
// many times as large as one that has a baseline, and to withhold acks must not buy them.
const (
	starveAfter = 32
	starveEvery = 250 * time.Millisecond
)

// starved reports whether a guest that acknowledges nothing has to wait for its next snapshot.
func (g *guest) starved(l *Lobby, t tick.Tick) bool {
	if g.blind <= starveAfter || g.holds != 0 && t-g.holds <= tick.Tick(snapshot.MaxAge*l.cfg.Interval) {
		return false
	}
	return t-g.sent < tick.Tick(int64(starveEvery)*int64(l.cfg.Rules.Rate)/int64(time.Second))
}

// wordsPerSecond is how often a guest whose bucket is empty hears from us all the same: it must know that we are here, and
// what of its commands has arrived.
const wordsPerSecond = 4

// wordTo sends a guest acks and events only. It is paid for like anything else.
func (l *Lobby) wordTo(now time.Duration, g *guest, t tick.Tick) {
	buf, _ := g.peer.Append(now, l.drafts.next())
	g.spoke = t
	l.drafts.commit(len(g.peer.AppendEvents(buf, eventBudget)), g.id.Index(), metrics.SectionEnds{})
}

// turn notes that a snapshot of tick t goes out, and how long the guest had to do without: it looks at the world by so much
// later.
func (g *guest) turn(t tick.Tick, l *Lobby) {
	g.paced = tick.Tick(l.cfg.Interval) * l.every(g)
	if g.late {
		g.paced = max(g.paced, t-g.sent)
	}
	g.sent, g.spoke, g.late, g.held = t, t, false, HeldNot
	g.blind++
}
