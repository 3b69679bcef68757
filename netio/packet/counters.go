package packet

// Counters account for every package that arrived: each is accepted or dropped for exactly one reason. They are plain
// numbers for one goroutine; the zero value is ready.
type Counters struct {
	Received uint64           // packages that came in
	Accepted uint64           // of these, taken
	Drops    [NumDrops]uint64 // refused ones by reason; Drops[DropNone] stays 0
}

// Arrived counts a package before anybody looks at it.
func (c *Counters) Arrived() { c.Received++ }

// Count says what became of the package: nil is accepted, a Drop is its reason. Call it once a package, with the
// last error that any parser of it gave. Any other error is a bug of the caller and panics.
func (c *Counters) Count(err error) {
	if err == nil {
		c.Accepted++
		return
	}
	d, ok := err.(Drop)
	if !ok || d == DropNone || d >= NumDrops {
		panic("packet: package counted for a reason that is no Drop")
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

// Balanced reports whether every package that arrived was counted once.
func (c *Counters) Balanced() bool { return c.Received == c.Accepted+c.Dropped() }
