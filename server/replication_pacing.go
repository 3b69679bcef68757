package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// bytesPerSecond turns a limit in kilobits a second into bytes; 0 is no limit in both.
func bytesPerSecond(kbps int) int { return kbps * 1000 / 8 }

// newBucket returns a full bucket of bytes for a limit in kilobits a second.
func newBucket(kbps int) ratelimit.Bucket {
	return ratelimit.New(bytesPerSecond(kbps), 100*time.Millisecond)
}

// setRate takes the client's request for fewer snapshots or bytes. Config.Kbps stays an upper
// limit.
func (p *connPacing) setRate(every uint8, kbps int, cfg *Config) {
	p.requestedKbps = kbps
	if most := cfg.Kbps; kbps == 0 || most != 0 && most < kbps {
		kbps = most
	}
	p.every = every
	p.bucket.SetRate(bytesPerSecond(kbps))
}

// every is the number of intervals between two snapshots: as requested, or more under overload.
func (r *replication) every(c *connReplication) tick.Tick {
	return tick.Tick(c.pacing.every) << min(r.loadLevel, overload.QuarterRate)
}

// spacing is the time between two snapshots of the client.
func (r *replication) spacing(c *connReplication) time.Duration {
	return r.cfg.Rules.Rate.At(tick.Tick(r.cfg.SendInterval) * r.every(c))
}

// intervalOf is the number of a tick's send interval.
func (r *replication) intervalOf(t tick.Tick) uint16 {
	return uint16(t / tick.Tick(r.cfg.SendInterval))
}

// snapshotDue reports whether a snapshot is due in this tick, see sendOffset. In a batch of several
// ticks a client is due if it was in any of them. A client of a large lobby is due at most
// once an interval: it could not tell two snapshots of one interval apart as baselines.
func (r *replication) snapshotDue(c *connReplication) bool {
	t, offset, interval := uint32(r.match.Tick()), r.sendOffset(c), uint32(r.cfg.SendInterval)
	period := interval * uint32(r.every(c))
	if r.cfg.sendsTogether() || r.batchTicks <= 1 {
		return (t+offset)%period < uint32(r.batchTicks)
	}
	sent := uint32(c.pacing.sent)
	return (t+offset)/period != (sent+offset)/period && t/interval != sent/interval
}

// maxTogether is the most slots of a lobby that sends all snapshots in one tick: with two packets
// each they fit one batch of datagrams.
const maxTogether = netio.BatchSize / 2

// sendsTogether reports whether all snapshots of an interval are due in one tick.
func (c *Config) sendsTogether() bool { return c.Players <= maxTogether }

// sendOffset is the number of ticks by which a client's snapshots come before those of slot 0. In a
// large lobby it differs by slot, so that each tick sends an equal part of the snapshots. In a small
// lobby all are due in one tick: they share rows coded once, and the ticks between send nothing.
// Small lobbies of one host have offsets by ID.
func (r *replication) sendOffset(c *connReplication) uint32 {
	if !r.cfg.sendsTogether() {
		return uint32(c.viewer.player.Index())
	}
	return r.cfg.sharedOffset()
}

// sharedOffset is sendOffset for the clients of a small lobby.
func (c *Config) sharedOffset() uint32 { return c.ID * idSpread >> 16 }

// sends reports whether a snapshot of the newest tick, the last of a batch, may be due.
func (r *replication) sends() bool {
	return !r.cfg.sendsTogether() ||
		(uint32(r.match.Tick())+r.cfg.sharedOffset())%uint32(r.cfg.SendInterval) < uint32(r.batchTicks)
}

// ringInterval is the number of ticks of which a ring of frames keeps one, and ringFrames is how many
// frames it has. A small lobby captures only the last tick of a batch in which snapshots are due: at
// most one in each interval, as intervals begin with the tick that is due (ringOffset).
func (c *Config) ringInterval() tick.Tick {
	if c.sendsTogether() {
		return tick.Tick(c.SendInterval)
	}
	return 1
}

func (c *Config) ringFrames() int {
	return snapshot.Window*c.SendInterval/int(c.ringInterval()) + 1
}

func (c *Config) ringOffset() tick.Tick {
	if c.sendsTogether() {
		return tick.Tick(c.sharedOffset())
	}
	return 0
}

// idSpread is odd and spreads adjacent IDs over all ticks of an interval.
const idSpread = 0x9e3779b1

// delay says why a snapshot that is due cannot be sent now, DelayNone if it can, and counts it.
// Nothing is lost with it: the next snapshot has all changes since the client's baseline.
func (r *replication) delay(now time.Duration, c *connReplication, peer *packet.Peer) DelayReason {
	switch {
	case !peer.CanSend(now):
		c.pacing.delayed = DelayAckStalled
		r.stats.Count[metrics.SnapshotsAckStalled].Inc()
	case r.unackedTooLong(c):
		c.pacing.delayed = DelayUnacked
		r.stats.Count[metrics.SnapshotsUnacked].Inc()
	case !r.affordable(now, c):
		c.pacing.late, c.pacing.delayed = true, DelayThrottled
		r.stats.Count[metrics.SnapshotsThrottled].Inc()
	default:
		return DelayNone
	}
	return c.pacing.delayed
}

// affordable reports whether the client's bucket has enough for a snapshot. A late snapshot waits
// for a gap at which the one before can be its baseline: else it would be many times as large and
// the next one later still.
func (r *replication) affordable(now time.Duration, c *connReplication) bool {
	gap := int(uint32(r.match.Tick()-c.pacing.sent) / uint32(r.cfg.SendInterval))
	return r.hasBytes(now, c) && (!c.pacing.late || snapshot.IsBaselineAge(gap) || gap > snapshot.MaxAge)
}

// hasBytes reports whether the bucket has enough: where rows may wait, half of what one spacing
// earns.
func (r *replication) hasBytes(now time.Duration, c *connReplication) bool {
	bucket := &c.pacing.bucket
	if r.cfg.Relevance == RelevanceOff || bucket.Rate() == 0 {
		return bucket.Ready(now)
	}
	spacing := r.spacing(c)
	return 2*bucket.Room(now, spacing) >= int(int64(spacing)*int64(bucket.Rate())/int64(time.Second))
}

// After unackedLimit snapshots without an ack, snapshots without baselines are sent every
// unackedSpacing only: each is many times as large as others, and a client must not get them by
// withholding acks. So are those of a join burst that has lasted for burstLimit snapshots, the life
// of a baseline: a client that acknowledges a part of each snapshot only never ends its burst.
const (
	unackedLimit   = 32
	burstLimit     = snapshot.MaxAge
	unackedSpacing = 250 * time.Millisecond
)

// unackedTooLong reports whether a client that acknowledges nothing, or too little to end its join
// burst, has to wait for its next snapshot.
func (r *replication) unackedTooLong(c *connReplication) bool {
	t, acked := r.match.Tick(), c.acks.sinceResync
	hasBaselines := acked != 0 && t-acked <= tick.Tick(snapshot.MaxAge*r.cfg.SendInterval)
	if c.join.sent <= burstLimit && (c.acks.unacked <= unackedLimit || hasBaselines) {
		return false
	}
	return t-c.pacing.sent < r.ticks(unackedSpacing)
}

// keepAlivesPerSecond is how often a throttled client gets a packet without a snapshot: acks of its
// commands, and proof that the server is there.
const keepAlivesPerSecond = 4

// keepAliveDue reports whether a throttled client gets a packet without a snapshot.
func (r *replication) keepAliveDue(c *connReplication) bool {
	return r.match.Tick()-c.pacing.lastSend >= tick.Tick(r.cfg.Rules.Rate)/keepAlivesPerSecond
}

// recordSend notes that a snapshot of tick t goes out. spacing is what the client interpolates
// over.
func (r *replication) recordSend(c *connReplication, t tick.Tick) {
	p := &c.pacing
	p.spacing = tick.Tick(r.cfg.SendInterval) * r.every(c)
	if p.late {
		p.spacing = max(p.spacing, t-p.sent)
	}
	p.sent, p.lastSend, p.late, p.delayed = t, t, false, DelayNone
	c.acks.unacked++
}
