package measure

import "github.com/tickrate/tickrate/internal/stage"

// UnitCost is what a stage of the running server pays for one unit of its work.
type UnitCost struct {
	Stage  string  `json:"stage"` // of the tick; stage.Match stands for all systems of the match
	Unit   string  `json:"unit"`
	Millis float64 `json:"ms_per_unit"`
	Units  float64 `json:"units_per_tick"`
	// Of the whole stage.
	StageMillis float64 `json:"stage_ms_per_tick"`
}

// Units divides the stages of a step by the work that the server counted in it; stages without work
// are left out. A pair is one player in one snapshot to one connection, sent or left out.
func (s Step) Units() (all []UnitCost) {
	stages := map[string]float64{}
	for _, st := range s.StageCPUMillis {
		stages[unitStage(st.Name)] += st.Mean
	}
	perLobby := float64(s.Players) / float64(max(s.Lobbies, 1))
	for _, u := range []UnitCost{
		{Stage: stage.Receive, Unit: "datagram received", Units: s.DatagramsInPerTick},
		{Stage: stage.Open, Unit: "datagram opened", Units: s.DatagramsInPerTick},
		{Stage: stage.Match, Unit: "command", Units: s.CommandsPerTick},
		{Stage: stage.Snapshot, Unit: "(player, connection) pair", Units: s.SnapshotsPerTick * perLobby},
		{Stage: stage.Seal, Unit: "datagram sealed", Units: s.DatagramsOutPerTick},
		{Stage: stage.Send, Unit: "datagram sent", Units: s.DatagramsOutPerTick},
	} {
		if u.StageMillis = stages[u.Stage]; u.StageMillis > 0 && u.Units > 0 {
			u.Millis = u.StageMillis / u.Units
			all = append(all, u)
		}
	}
	return all
}

// unitStage is the stage whose unit a stage shares: its own, or a command, with the match.
func unitStage(name string) string {
	if name == stage.Capture {
		return stage.Match
	}
	return stage.GroupOf(name)
}

// Encryption is the CPU time that sealed sessions take, in ms a tick and in percent of the tick;
// false if it was not measured.
func (s Step) Encryption() (millis, percent float64, ok bool) {
	all := 0.0
	for _, st := range s.StageCPUMillis {
		if st.Name == stage.Open || st.Name == stage.Seal {
			millis += st.Mean
		}
		all += st.Mean
	}
	if millis == 0 {
		return 0, 0, false
	}
	return millis, 100 * millis / all, true
}
