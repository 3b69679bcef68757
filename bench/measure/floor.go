package measure

// Traffic is the datagrams that a server receives and sends between two waits: in a tick or, where
// lobbies share a loop, in a call of the loop. Numbers are means.
type Traffic struct {
	In       float64 `json:"in"` // datagrams
	Out      float64 `json:"out"`
	BytesIn  float64 `json:"bytes_in"` // UDP payload of a datagram
	BytesOut float64 `json:"bytes_out"`
	Clients  int     `json:"clients"` // addresses, of one loop
	Run      float64 `json:"run"`     // datagrams to one address in a row, 1 or more
	Ticks    float64 `json:"ticks"`   // of one lobby each
}

// Floor is the CPU time of the datagrams of a tick in a loop that does nothing else (package floor),
// and that of the server as multiples of it.
type Floor struct {
	Version int     `json:"version"` // of the loop
	Millis  float64 `json:"ms"`      // a tick of one lobby: the median of several samples
	// Least and largest of the samples.
	LeastMillis float64 `json:"least_ms"`
	MostMillis  float64 `json:"most_ms"`
	StageMillis []Stage `json:"stage_ms"` // receive, open, seal, send; without P99
	Tick        float64 `json:"tick"`     // mean CPU time of a tick, divided by Millis
	Process     float64 `json:"process"`  // of all threads of the server, by tick and lobby, likewise
	NotMeasured string  `json:"not_measured,omitempty"`
}
