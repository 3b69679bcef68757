package server

import (
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
)

// connReplication is what one client holds of the match and how its next snapshot is chosen.
type connReplication struct {
	acks     connAcks
	viewer   viewer // set before each snapshot
	pacing   connPacing
	checksum connChecksum
	view     connView
	join     connJoin
	schedule rowSchedule // of a limited client
}

// connAcks is what the client has acknowledged.
type connAcks struct {
	tracker         *snapshot.Tracker     // baselines of public rows
	packets         *snapshot.AckHistory  // sent packets and when each was acked
	owner           *snapshot.OwnerWriter // the client's own row and its baselines
	newest          tick.Tick             // newest tick with an acknowledged packet
	sinceResync     tick.Tick             // likewise since the last restart without baselines
	unacked         int                   // snapshots sent since the last acknowledged one
	resyncRequested bool                  // the client cannot decode its snapshots
	resyncBackoff   uint8                 // times that the wait for the next restart has doubled
	resyncedAt      tick.Tick             // last restart without baselines
	objects         objectAcks            // baselines of object rows
}

// connPacing says when the client's next snapshot is due and what it may cost.
type connPacing struct {
	every         uint8       // requested intervals between two snapshots
	late          bool        // the last snapshot that was due found the bucket empty
	delayed       DelayReason // why the snapshot that is due has not gone
	sent          tick.Tick   // tick of the newest snapshot
	spacing       tick.Tick   // ticks between the two newest snapshots
	lastSend      tick.Tick   // tick of the newest packet
	bucket        ratelimit.Bucket
	requestedKbps int // 0: no limit
}

// connChecksum counts down to the next snapshot with a checksum.
type connChecksum struct {
	on        bool // the snapshot being written has one
	countdown int  // snapshots
}

// connView is what the client may see and how the rows of its newest snapshot were selected.
type connView struct {
	interest   *interest.Client // nil until the first look
	combat     []uint64         // two sets of recent opponents, see opponents
	combatSwap tick.Tick        // when the two sets swap
	blocks     tick.Tick        // newest snapshot, if it went in blocks; else 0
	viewpoint  int32            // slot that the newest snapshot was seen from, -1 for none
	selection  rowSelection     // of the newest snapshot
	byRow      bool             // the snapshot being written lists rows
	turn       rowTurn          // of the newest snapshot, if its rows took turns
}

// connJoin is the state of the join burst.
type connJoin struct {
	done       bool      // the client holds the world
	turns      uint8     // of rowsJoinTurns and rowsTurns; 0: none yet
	sent       uint16    // snapshots of the burst
	completeAt tick.Tick // first snapshot that left out nothing; 0: none
}

// open begins replication to a new session, in the memory of the one before.
func (r *connReplication) open(cfg *Config) {
	views := [2]*interest.Client{r.view.interest, r.acks.objects.view}
	r.clear(cfg)
	r.pacing = connPacing{every: 1, spacing: tick.Tick(cfg.SendInterval), bucket: newBucket(cfg.Kbps)}
	r.view.interest, r.acks.objects.view = views[0], views[1]
	for _, v := range views {
		if v != nil {
			v.Reset()
		}
	}
}

// changeMap begins replication of another match. Views are made for one map and go; the send rate
// stays.
func (r *connReplication) changeMap(cfg *Config) {
	p := r.pacing
	r.clear(cfg)
	r.pacing = connPacing{
		every: p.every, spacing: p.spacing, bucket: p.bucket, requestedKbps: p.requestedKbps,
	}
}

// clear empties the state. It keeps the memory of all but the views.
func (r *connReplication) clear(cfg *Config) {
	r.acks.tracker.Reset()
	r.acks.packets.Reset()
	r.acks.owner.Reset()
	r.acks.objects.reset()
	r.schedule.reset()
	clear(r.view.combat)
	a := &r.acks
	*a = connAcks{
		tracker: a.tracker, packets: a.packets, owner: a.owner,
		objects: objectAcks{tracker: a.objects.tracker, unchanged: a.objects.unchanged[:0]},
	}
	r.checksum = connChecksum{countdown: cfg.ChecksumEvery}
	r.view = connView{combat: r.view.combat}
	r.join = connJoin{}
}

// dropBaselines makes the next snapshots begin anew. What the client has been shown it may still
// show.
func (r *connReplication) dropBaselines() {
	r.acks.sinceResync = 0
	r.join = connJoin{sent: r.join.sent}
	r.acks.tracker.Forget()
	r.acks.objects.dropBaselines()
	r.acks.owner.Reset()
}

// next decides whether the snapshot at hand has a checksum: one of every has, none if every is not
// positive.
func (k *connChecksum) next(every int) {
	k.on = false
	if every > 0 {
		if k.countdown--; k.countdown <= 0 {
			k.on, k.countdown = true, every
		}
	}
}

// makeMemory makes the memory that every client needs, once.
func (r *connReplication) makeMemory(cfg *Config) {
	interval := tick.Tick(cfg.SendInterval)
	r.acks.tracker = snapshot.NewTracker(cfg.Players, interval)
	r.acks.packets = snapshot.NewAckHistory(cfg.Players)
	r.acks.tracker.KeepHistory(r.acks.packets)
	r.acks.owner = snapshot.NewOwnerWriter(cfg.Models.Owner, interval)
	r.acks.objects = newObjectAcks(cfg)
	if cfg.Relevance != RelevanceOff {
		r.view.combat = make([]uint64, 2*((cfg.Players+63)/64))
	}
}

// reserve makes the memory that a client needs where not all rows are sent to all clients.
func (r *connReplication) reserve(cfg *Config) {
	if cfg.Relevance == RelevanceOff {
		return
	}
	r.acks.tracker.Reserve()
	r.acks.objects.tracker.Reserve()
	if cfg.Kbps != 0 {
		r.schedule.alloc((cfg.Players + 63) / 64)
	}
}
