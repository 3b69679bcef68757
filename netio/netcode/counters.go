package netcode

import "time"

// Counters account for every datagram: each that arrived was accepted or dropped for exactly one reason.
type Counters struct {
	Received uint64           // datagrams that came in
	Accepted [numKinds]uint64 // by Kind
	Sent     [numKinds]uint64 // datagrams made to be sent, by Kind
	Drops    [NumDrops]uint64 // by Drop; Drops[DropNone] stays 0

	Takeovers     uint64 // sessions ended by a fresh token of the same client (conn_takeover)
	Migrations    uint64 // sessions moved to another address (migrations_ok)
	Kicks         uint64 // sessions ended because they sent far too much (kick_flood)
	AuthFloods    uint64 // sessions from whose address more than 100 forgeries a second came for five seconds (session_attacked)
	Amplification uint64 // answers withheld because they were too long (assert_amplification); anything but 0 is a bug

	// The wall clock and the one by which sessions live have gone apart by more than two seconds: somebody has set the former, or
	// the machine slept. Sessions do not mind, but tokens expire too early or too late.
	ClockJumps uint64        // how often (clock_jumps); warn when it grows
	ClockJump  time.Duration // how far the newest time, to about a second; positive: the wall clock is ahead
}

// count books the fate of a datagram.
func (c *Counters) count(k Kind, d Drop) {
	c.Received++
	if d == DropNone {
		c.Accepted[k]++
		return
	}
	c.Drops[d]++
}

// Dropped is the sum of all drops.
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
