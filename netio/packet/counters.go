package packet

import "fmt"

// Counters account for every packet that arrived: each is accepted or dropped for exactly one
// reason. They are plain numbers for one goroutine; the zero value is ready.
type Counters struct {
	Received uint64           // packets that came in
	Accepted uint64           // packets that every parser took
	Drops    [NumDrops]uint64 // refused packets by reason; Drops[DropNone] stays 0
}

// Arrived counts a packet before any parser sees it.
func (c *Counters) Arrived() { c.Received++ }

// Count records the result of a packet: nil is accepted, a Drop is its reason. Call it once per
// packet, with the last error that a parser of it returned. It panics on any other error.
func (c *Counters) Count(err error) {
	if err == nil {
		c.Accepted++
		return
	}
	d, ok := err.(Drop)
	if !ok || d == DropNone || d >= NumDrops {
		panic(fmt.Sprintf("packet: packet counted with error %v, want nil or a Drop", err))
	}
	c.Drops[d]++
}

// Dropped is the sum of all drops.
func (c *Counters) Dropped() uint64 {
	var n uint64
	for _, d := range c.Drops {
		n += d
	}
	return n
}

// Balanced reports whether every packet that arrived was counted once.
func (c *Counters) Balanced() bool { return c.Received == c.Accepted+c.Dropped() }
