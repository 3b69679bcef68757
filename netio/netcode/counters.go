package netcode

import "time"

// Counters account for every datagram: each that arrived is accepted or dropped for exactly one
// reason.
type Counters struct {
	Received uint64           // datagrams that arrived
	Accepted [numKinds]uint64 // by Kind
	Sent     [numKinds]uint64 // datagrams to send, by Kind
	Drops    [NumDrops]uint64 // by Drop; Drops[DropNone] stays 0

	Takeovers     uint64 // sessions ended by a fresh token of the same client (conn_takeover)
	Migrations    uint64 // sessions moved to another address (migrations_ok)
	Kicks         uint64 // sessions that flooded (kick_flood)
	AuthFloods    uint64 // sessions with an authentication flood (session_attacked)
	Amplification uint64 // answers that were too long to send (assert_amplification); must be 0

	// The wall clock and the monotonic clock differ by more than two seconds: the wall clock was
	// set, or the machine slept. Sessions go on, but tokens expire too early or too late.
	ClockJumps uint64        // number of jumps (clock_jumps)
	ClockJump  time.Duration // size of the last one, to a second; positive: the wall clock is ahead
}

// count records the result of a datagram.
func (c *Counters) count(k Kind, d Drop) {
	c.Received++
	if d == DropNone {
		c.Accepted[k]++
		return
	}
	c.Drops[d]++
}

// Add adds the counts of another session, up to its newest clock jump.
func (c *Counters) Add(b *Counters) {
	c.Received += b.Received
	for i := range b.Accepted {
		c.Accepted[i] += b.Accepted[i]
		c.Sent[i] += b.Sent[i]
	}
	for i := range b.Drops {
		c.Drops[i] += b.Drops[i]
	}
	c.Takeovers += b.Takeovers
	c.Migrations += b.Migrations
	c.Kicks += b.Kicks
	c.AuthFloods += b.AuthFloods
	c.Amplification += b.Amplification
	if c.ClockJumps += b.ClockJumps; b.ClockJumps > 0 {
		c.ClockJump = b.ClockJump
	}
}

// Dropped returns the sum of all drops.
func (c *Counters) Dropped() (n uint64) {
	for _, d := range c.Drops {
		n += d
	}
	return n
}

// Balanced reports whether every datagram that arrived was counted once.
func (c *Counters) Balanced() bool {
	n := c.Dropped()
	for _, a := range c.Accepted {
		n += a
	}
	return c.Received == n
}
