package capacity

// Encryption is what sealed sessions cost a server, of one Step: all that a plain protocol would not have to do.
type Encryption struct {
	Percent    float64 `json:"percent"`     // of the tick's CPU time
	OpenNanos  float64 `json:"open_ns"`     // a datagram received: look up its session, replay window, open
	SealNanos  float64 `json:"seal_ns"`     // a datagram sent
	Opened     float64 `json:"opened_tick"` // datagrams a tick
	Sealed     float64 `json:"sealed_tick"`
	TickMicros float64 `json:"tick_us"` // both together, a tick
}

// Names of the stages in which datagrams are opened and sealed.
const (
	StageOpen = "open"
	StageSeal = "seal"
)

// Encryption works out what encryption cost, false if the step did not measure it.
func (s Step) Encryption() (e Encryption, ok bool) {
	var open, seal, all float64
	for _, st := range s.StageCPUMicros {
		switch st.Name {
		case StageOpen:
			open = st.Mean
		case StageSeal:
			seal = st.Mean
		}
		all += st.Mean
	}
	if open+seal == 0 || s.DatagramsInPerTick == 0 || s.DatagramsOutPerTick == 0 {
		return e, false
	}
	return Encryption{
		Percent: 100 * (open + seal) / all, TickMicros: open + seal,
		OpenNanos: 1000 * open / s.DatagramsInPerTick, SealNanos: 1000 * seal / s.DatagramsOutPerTick,
		Opened: s.DatagramsInPerTick, Sealed: s.DatagramsOutPerTick,
	}, true
}
