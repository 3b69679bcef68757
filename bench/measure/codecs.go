package measure

// Codecs compares the snapshot codecs in one lobby: the bytes that each saves and the time that it
// costs.
type Codecs struct {
	Players int     `json:"players"`
	Seconds float64 `json:"seconds"` // measured, virtual, after the last client had joined
	Each    []Codec `json:"each"`    // the codec of the plan's servers first
}

// Codec is the cost of one codec.
type Codec struct {
	Name           string  `json:"name"`
	BytesPerSecond float64 `json:"bytes_per_second"` // to each client, UDP payload
	// Mean CPU time of a tick, system calls left out.
	TickMillis float64 `json:"tick_ms"`
}

// Against returns the bytes and the time of codec i in percent of those of the first.
func (c Codecs) Against(i int) (bytes, time float64) {
	first, this := c.Each[0], c.Each[i]
	return 100 * this.BytesPerSecond / first.BytesPerSecond, 100 * this.TickMillis / first.TickMillis
}
