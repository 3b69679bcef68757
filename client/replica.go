package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// replica is the newest owner row, and asks for new baselines where snapshots cannot be decoded.
type replica struct {
	decoder  *snapshot.OwnerReader // nil: owner rows are not decoded
	tick     tick.Tick             // of self
	self     netstate.Self
	starved  bool          // the newest row told of a tick without our command
	recount  bool          // the next row is of a host that counts those ticks anew
	resyncAt time.Duration // of the last request
	stats    replicaStats
}

// replicaStats counts snapshots.
type replicaStats struct {
	snapshots uint64 // distinct ticks
	starved   uint64 // ticks that the server played without our command
	stale     uint64 // sections too old to be kept
	undecoded uint64 // sections that could not be decoded
	diverged  uint64 // sections with another checksum than the server's
	resyncs   uint64 // requests for new baselines
}

// reset forgets the owner row for a change of the map. The decoder stays until the match starts.
func (r *replica) reset() { r.tick, r.self = 0, netstate.Self{} }

// take keeps the owner row of tick t and reports whether it is newer.
func (r *replica) take(t tick.Tick, row []int32) bool {
	if t <= r.tick {
		return false
	}
	before := r.self.Starved
	if r.recount {
		before, r.recount = netstate.SelfOf(row).Starved, false
	}
	r.self, r.tick = netstate.SelfOf(row), t
	starved := r.self.Starved - before
	r.starved = starved != 0
	r.stats.starved += uint64(starved)
	return true
}

// lost deals with a section of the snapshot of tick t that could not be decoded, or differs from
// the server's rows. Its packet is acked by now, so the server must be told: it would use rows as a
// baseline that are not here. A section that is only too old does no harm.
func (r *replica) lost(now time.Duration, t tick.Tick, err error, peer *packet.Peer) error {
	if err == snapshot.ErrStale {
		r.stats.stale++
		return nil
	}
	var buf [5]byte
	message := append(buf[:0], sim.AskResync)
	if err == snapshot.ErrSum {
		r.stats.diverged++
		message = sim.AppendDiverged(buf[:0], t)
	} else {
		r.stats.undecoded++
	}
	wait := 250*time.Millisecond + peer.RTT().Smoothed
	if r.stats.resyncs == 0 || now-r.resyncAt >= wait {
		if peer.QueueReliable(message) == nil {
			r.stats.resyncs++
			r.resyncAt = now
		}
	}
	if err == snapshot.ErrNoBaseline || err == snapshot.ErrSum {
		return nil // the datagram itself is valid
	}
	return packet.DropSnapshot
}
