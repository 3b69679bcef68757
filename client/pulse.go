package client

import "time"

// Pulse is what a driver of thousands of clients asks each of them between two ticks. It reads a few lines of memory where Stats copies
// twenty; with many clients, each line is far away.
type Pulse struct {
	Age, RTT       time.Duration // SnapshotAge and RTT of Stats
	Snapshots      uint64        // and so these
	Mispredictions uint64
	Shots          uint64
	Lead           int8
	Joined         bool
}

// Pulse returns the client's as it is now. It allocates nothing.
func (c *Client) Pulse() Pulse {
	p := Pulse{
		Age: c.stats.SnapshotAge, Snapshots: c.stats.Snapshots, Joined: c.state == Joined,
		Mispredictions: c.predict.count.Mispredictions, Shots: c.shots.fired, Lead: c.self.Lead,
	}
	if c.peer != nil {
		p.RTT = c.peer.RTT().Smoothed
	}
	return p
}

// Due is the instant at which Advance will next ask for a command, to within a twentieth of a tick, unless a datagram changes
// that, and at most a tick away; the last Advance's as long as that cannot be told. A driver of thousands need not look at a client
// before.
func (c *Client) Due() time.Duration {
	if c.state != Joined || !c.measured || c.predict.first == 0 {
		return c.now
	}
	return c.now + min(max(0, c.rate.At(c.predict.newest+1)-c.predicted.at), c.rate.Period())
}
