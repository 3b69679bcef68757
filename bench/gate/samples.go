package gate

import (
	"encoding/json"
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/internal/perfevent"
)

// Version is the version of the files that this package writes and reads.
const Version = 3

// Samples are all measurements of one build: the content of a file.
type Samples struct {
	Version int             `json:"version"`
	Machine measure.Machine `json:"machine"`
	Commit  string          `json:"commit"`
	Lobbies []Lobby         `json:"lobbies"`        // in order of play
	Live    []Live          `json:"live,omitempty"` // steps on sockets, in order
	// Why plays have no events of the processor, in words; "": they have.
	NotCounted string `json:"not_counted,omitempty"`
}

// New are samples without measurements of this build on this machine.
func New(commit string) Samples {
	return Samples{Version: Version, Machine: measure.Here(), Commit: commit}
}

// Lobby is one match in virtual time. A round plays it once for each sample, so that each sample has
// plays from all rounds: a disturbance that lasts for some rounds meets all samples, and spoils the
// least time of none.
type Lobby struct {
	Name    string                `json:"name"`
	Players int                   `json:"players"`
	Samples []simbench.LeastTicks `json:"samples"`
}

// String names the match. Lobbies of equal names do equal work.
func (l Lobby) String() string { return fmt.Sprintf("%s with %d players", l.Name, l.Players) }

// Rounds is the number of plays of each sample.
func (l Lobby) Rounds() int { return l.Samples[0].Plays }

// Live is one step of a server on sockets.
type Live struct {
	Scenario string  `json:"scenario"`
	Players  int     `json:"players"`
	Floors   float64 `json:"floors"`    // CPU time of a tick, as a multiple of its floor's
	KbpsDown float64 `json:"kbps_down"` // to a client, UDP payload
}

// String names the work: the scenario and the number of players.
func (l Live) String() string {
	return fmt.Sprintf("%s with %d players on sockets", l.Scenario, l.Players)
}

// figures are the quantities of one sample that are compared.
type figures struct {
	stages []measure.Stage // µs a tick
	tick   float64         // sum of the stages
	bytes  float64         // to a client a second
	events *measure.Events // of the lobby, by player and tick; nil: not counted
}

// figures folds each sample.
func (l Lobby) figures() (all []figures) {
	for i := range l.Samples {
		least := l.Samples[i].Sum(l.Players)
		f := figures{stages: least.Stages, bytes: least.BytesPerClient, events: eventsOf(least.Events)}
		for _, st := range f.stages {
			f.tick += st.Mean
		}
		all = append(all, f)
	}
	return all
}

// stage is the CPU time of one stage, µs a tick.
func (f figures) stage(name string) float64 {
	for _, st := range f.stages {
		if st.Name == name {
			return st.Mean
		}
	}
	return 0
}

// eventsOf are counts as figures; nil of nil.
func eventsOf(n *perfevent.Counts) *measure.Events {
	if n == nil {
		return nil
	}
	return &measure.Events{Instructions: n[perfevent.Instructions], Cycles: n[perfevent.Cycles],
		BranchMisses: n[perfevent.BranchMisses], CacheMisses: n[perfevent.CacheMisses]}
}

// MeanTick is the CPU time of a tick, µs: the mean over samples.
func (l Lobby) MeanTick() (mean float64) {
	for _, f := range l.figures() {
		mean += f.tick / float64(len(l.Samples))
	}
	return mean
}

// Parse reads a file of samples; file is its name, for errors.
func Parse(file string, raw []byte) (s Samples, err error) {
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("%s: expected a JSON file of bench record: %w", file, err)
	}
	if s.Version != Version {
		return s, fmt.Errorf("%s: expected version %d of this build's bench record, got %d", file, Version, s.Version)
	}
	if len(s.Lobbies)+len(s.Live) == 0 {
		return s, fmt.Errorf("%s: expected lobbies, got none", file)
	}
	for _, l := range s.Lobbies {
		if len(l.Samples) != samplesPerLobby {
			return s, fmt.Errorf("%s: %v: expected %d samples, got %d", file, l, samplesPerLobby, len(l.Samples))
		}
		for _, sample := range l.Samples {
			for t, stages := range sample.Nanos {
				if len(stages) != len(sample.Stages) {
					return s, fmt.Errorf("%s: %v: tick %d: expected %d stages, got %d", file, l, t, len(sample.Stages), len(stages))
				}
			}
		}
		for _, f := range l.figures() {
			if !(f.bytes > 0) || !(f.tick > 0) {
				return s, fmt.Errorf("%s: %v: expected stages and bytes in each sample", file, l)
			}
		}
	}
	return s, nil
}

// Encode is the content of a file.
func (s Samples) Encode() ([]byte, error) {
	s.Version = Version
	raw, err := json.Marshal(s)
	return append(raw, '\n'), err
}
