package client

import (
	"time"

	"github.com/tickrate/tickrate/client/objects"
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
)

// Stats is what a client knows of its connection and of itself. Counters only grow.
type Stats struct {
	Datagrams    netcode.Counters // Received = sum of Accepted + sum of Drops
	Packets      packet.Counters  // kind payload: Received = Accepted + sum of Drops
	BytesIn      uint64
	DatagramsOut uint64
	BytesOut     uint64
	Traffic      Traffic // BytesIn by section

	Snapshots uint64 // distinct ticks
	Stale     uint64 // sections too old to be kept
	Undecoded uint64 // sections that could not be decoded
	Diverged  uint64 // sections whose rows differ from the server's by checksum; none is shown
	Maps      uint64 // changes of the map
	Moves     uint64 // to another host, with the match
	Resyncs   uint64 // requests for new baselines
	Events    uint64 // events received
	Overrun   uint64 // events overwritten because NextEvent was not called
	Lines     uint64 // lines received, and made of roster changes and kills
	Unread    uint64 // lines overwritten because Chat.Next was not called
	Shots     uint64 // rounds fired, as predicted
	Killcams  uint64 // received whole

	Projectiles objects.Stats // own ones

	RTT, RTTMin time.Duration // smoothed; least of two seconds
	Jitter      time.Duration // 95th percentile of how late snapshots are
	Loss        float32       // share of packets lost to the server, smoothed
	SnapshotAge time.Duration // the server's clock less the newest snapshot's instant
	InterpDelay time.Duration // from the newest snapshot that could have arrived to the view

	Lead          int8          // ticks from a command's arrival to its use; negative: late
	LeadWanted    time.Duration // that the predicted clock steers for
	InputsMissing uint64        // ticks that the server played without our command

	HardResets   uint64 // of the predicted clock
	RenderResets uint64 // of the render clock
	RenderStalls uint64 // Advances at which the render clock waited for a snapshot

	TickRate  tick.Rate // of the server; 0 before the client has joined
	Timescale uint16    // of protocol.FullTimescale; lower under overload

	Prediction predict.Stats
	Errors     predict.ErrorStats // smoothing of mispredictions, knock-backs and so on
}

// Stats returns the numbers as they are now. It allocates nothing.
func (c *Client) Stats() Stats {
	net, rep := &c.conn.stats, &c.replica.stats
	datagrams, moves := *c.dial.Counters(), uint64(0)
	if m := c.moving; m != nil {
		moves = m.count
		if m.past != nil {
			datagrams.Add(m.past)
		}
	}
	s := Stats{
		Datagrams: datagrams, Packets: net.packets,
		BytesIn: net.bytesIn, DatagramsOut: net.datagramsOut, BytesOut: net.bytesOut, Traffic: net.traffic,
		Snapshots: rep.snapshots, Stale: rep.stale, Undecoded: rep.undecoded, Diverged: rep.diverged,
		Maps: c.changes.count, Moves: moves, Resyncs: rep.resyncs,
		Events: c.events.ring.Added(), Overrun: c.events.ring.Lost(),
		Lines: c.Chat.ring.Added(), Unread: c.Chat.ring.Lost(),
		Shots: c.Shots.ring.Added(), Killcams: c.killcam.count, Projectiles: c.Objects.Stats(),
		RTT: c.rtt.Smoothed, RTTMin: c.rtt.Min, Jitter: c.clock.Server.Jitter, Loss: c.clock.Predicted.Loss(),
		SnapshotAge: c.interp.Age, Lead: c.replica.self.Lead, InputsMissing: rep.starved,
		HardResets: c.clock.Predicted.Resets, RenderResets: c.clock.Render.Resets,
		RenderStalls: c.clock.Render.Stalls, TickRate: c.clock.Rate, Timescale: c.clock.Timescale.Scale(),
		Prediction: c.predict.Stats, Errors: c.predict.Error.Stats,
	}
	if c.clock.Rate != 0 { // the client has joined
		s.LeadWanted = c.clock.Predicted.Want()
		s.InterpDelay = c.clock.InterpDelay()
	}
	return s
}

// Clocks returns the three clocks at the last Advance as time since tick 0. All are 0 until they
// run.
func (c *Client) Clocks() (server, predicted, render time.Duration) {
	if c.interp.Newest() == 0 {
		return 0, 0, 0
	}
	return c.clock.ServerTime(), c.clock.Predicted.At, c.clock.Render.At
}

// Pulse is the part of Stats that a driver of thousands of clients asks for every tick. It reads a
// few cache lines where Stats copies twenty.
type Pulse struct {
	Age, RTT       time.Duration // SnapshotAge and RTT of Stats
	Snapshots      uint64
	Mispredictions uint64
	Shots          uint64
	Lead           int8
	Joined         bool
}

// Pulse returns the numbers as they are now. It allocates nothing.
func (c *Client) Pulse() Pulse {
	return Pulse{
		Joined: c.state == Joined, Age: c.interp.Age, RTT: c.rtt.Smoothed, Lead: c.replica.self.Lead,
		Snapshots: c.replica.stats.snapshots, Mispredictions: c.predict.Stats.Mispredictions,
		Shots: c.Shots.ring.Added(),
	}
}
