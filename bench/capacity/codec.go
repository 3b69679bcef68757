package capacity

// What package server calls the codecs that differ in more than a factor (see Model.coder and stale).
const (
	rangeCodec  = "range"
	storedCodec = "stored"
)

// Codecs are the ways to code snapshots, each played in the same lobby: what one saves in bytes and costs in time.
type Codecs struct {
	Players int     `json:"players"`
	Seconds float64 `json:"seconds"` // virtual ones that were measured, after everybody was in
	Each    []Codec `json:"each"`    // the one that the plan's servers used first
}

// Codec is one of them.
type Codec struct {
	Name           string  `json:"name"`
	BytesPerSecond float64 `json:"bytes_per_second"` // to each client, in datagrams as they leave
	TickMicros     float64 `json:"tick_us"`          // mean CPU time of a tick, without system calls
}

// Against is what c takes of what the first codec takes, in percent of its bytes and of its time.
func (c Codecs) Against(i int) (bytes, time float64) {
	first, this := c.Each[0], c.Each[i]
	return 100 * this.BytesPerSecond / first.BytesPerSecond, 100 * this.TickMicros / first.TickMicros
}
