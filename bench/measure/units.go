package measure

// UnitCost is what a stage of the running server pays for one unit of its work.
type UnitCost struct {
	Stage  string  `json:"stage"` // of the tick; StageMatch stands for all systems of the match
	Unit   string  `json:"unit"`
	Nanos  float64 `json:"ns_per_unit"`
	Units  float64 `json:"units_per_tick"`
	Micros float64 `json:"stage_us_per_tick"`
}

// Stages that have a unit of their own. All other stages are part of StageMatch; its unit is a
// command.
const (
	StageReceive  = "receive"
	StageOpen     = "open"
	StageSnapshot = "snapshot"
	StageSeal     = "seal"
	StageSend     = "send"
	StageMatch    = "match"
)

// Stages that a table of few rows keeps apart from the systems of the match.
const StageCapture = "capture"

// GroupOf is the row of a stage in a table of few rows: its own, or StageMatch for a system of the
// match.
func GroupOf(stage string) string {
	switch stage {
	case StageReceive, StageOpen, StageCapture, StageSnapshot, StageSeal, StageSend:
		return stage
	}
	return StageMatch
}

// Units divides the stages of a step by the work that the server counted in it; stages without work
// are left out. A pair is one player in one snapshot to one connection, sent or left out.
func (s Step) Units() (all []UnitCost) {
	stages := map[string]float64{}
	for _, st := range s.StageCPUMicros {
		switch st.Name {
		case StageReceive, StageOpen, StageSnapshot, StageSeal, StageSend:
			stages[st.Name] += st.Mean
		default:
			stages[StageMatch] += st.Mean
		}
	}
	perLobby := float64(s.Players) / float64(max(s.Lobbies, 1))
	for _, u := range []UnitCost{
		{Stage: StageReceive, Unit: "datagram received", Units: s.DatagramsInPerTick},
		{Stage: StageOpen, Unit: "datagram opened", Units: s.DatagramsInPerTick},
		{Stage: StageMatch, Unit: "command", Units: s.CommandsPerTick},
		{Stage: StageSnapshot, Unit: "(player, connection) pair", Units: s.SnapshotsPerTick * perLobby},
		{Stage: StageSeal, Unit: "datagram sealed", Units: s.DatagramsOutPerTick},
		{Stage: StageSend, Unit: "datagram sent", Units: s.DatagramsOutPerTick},
	} {
		if u.Micros = stages[u.Stage]; u.Micros > 0 && u.Units > 0 {
			u.Nanos = 1000 * u.Micros / u.Units
			all = append(all, u)
		}
	}
	return all
}

// Encryption is the CPU time that sealed sessions take, in µs a tick and in percent of the tick;
// false if it was not measured.
func (s Step) Encryption() (micros, percent float64, ok bool) {
	all := 0.0
	for _, st := range s.StageCPUMicros {
		if st.Name == StageOpen || st.Name == StageSeal {
			micros += st.Mean
		}
		all += st.Mean
	}
	if micros == 0 {
		return 0, 0, false
	}
	return micros, 100 * micros / all, true
}
