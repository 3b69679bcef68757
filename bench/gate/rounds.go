package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/internal/perfevent"
)

// Version is the version of the files that this package writes. It reads version 1, too.
const Version = 2

// Samples are the rounds of one build: the content of a file.
type Samples struct {
	Version int             `json:"version"`
	Machine measure.Machine `json:"machine"`
	Commit  string          `json:"commit"`
	Rounds  []Round         `json:"rounds"`
	// Why rounds have no events of the processor, in words; "": they have.
	NotCounted string `json:"not_counted,omitempty"`
}

// Round is one measurement of one lobby.
type Round struct {
	// Name, players and rates: rounds of one name are of the same work.
	Scenario       string          `json:"scenario"`
	Stages         []measure.Stage `json:"stages"` // µs a tick
	BytesPerClient float64         `json:"bytes_per_client"`
	// Of the lobby, by player and tick; nil: not counted, see Samples.NotCounted.
	Events *measure.Events `json:"events,omitempty"`
}

// stages is the CPU time of all stages, µs a tick.
func (r Round) stages() (sum float64) {
	for _, st := range r.Stages {
		sum += st.Mean
	}
	return sum
}

// stage is the CPU time of one stage, µs a tick.
func (r Round) stage(name string) float64 {
	for _, st := range r.Stages {
		if st.Name == name {
			return st.Mean
		}
	}
	return 0
}

// A round plays each tick several times, and the least time counts.
const (
	roundPlays    = 6
	roundDuration = scenario.Duration(3 * time.Second)
	roundWarmup   = scenario.Duration(2 * time.Second)
)

// Names are the lobbies of a round.
var Names = []string{"duel", "match", "crowd"}

// Scenarios are the lobbies of a round: small and fast, and large.
func Scenarios() (all []scenario.Scenario) {
	for i, l := range []struct{ players, hz, every int }{{10, 128, 2}, {64, 60, 3}, {192, 60, 3}} {
		s := scenario.Default()
		s.Name, s.Lobby.Players, s.Rates.TickHz, s.Rates.SendEvery, s.Play.Full = Names[i], l.players, l.hz,
			l.every, 1
		s.Measure.Duration, s.Measure.Warmup = roundDuration, roundWarmup
		all = append(all, s)
	}
	return all
}

// Play adds one round of each lobby, or of the one named only, and says what it added.
func (s *Samples) Play(ctx context.Context, only string, slow Slowdown, say func(Round)) error {
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	probe := simbench.Probe{Burn: slow.burner()}
	counters, err := perfevent.Open(perfevent.Config{Events: perfevent.Hardware, Threads: []int{0}})
	if err == nil {
		defer counters.Close()
		probe.Count = counters.Read
		_, err = counters.Read()
	}
	if s.NotCounted = ""; err != nil {
		probe.Count, s.NotCounted = nil, err.Error()
	}
	return s.play(ctx, only, probe, say)
}

// play adds the rounds with a probe.
func (s *Samples) play(ctx context.Context, only string, probe simbench.Probe, say func(Round)) error {
	for _, sc := range Scenarios() {
		if only != "" && sc.Name != only {
			continue
		}
		l, err := simbench.PlayLeast(ctx, sc, roundPlays, probe)
		if err != nil {
			return err
		}
		r := Round{fmt.Sprintf("%s with %d players", sc.Name, sc.Lobby.Players), l.Stages, l.BytesPerClient,
			eventsOf(l.Events)}
		s.Rounds = append(s.Rounds, r)
		if say != nil {
			say(r)
		}
	}
	return nil
}

// eventsOf are counts as figures; nil of nil.
func eventsOf(n *perfevent.Counts) *measure.Events {
	if n == nil {
		return nil
	}
	return &measure.Events{Instructions: n[perfevent.Instructions], Cycles: n[perfevent.Cycles],
		BranchMisses: n[perfevent.BranchMisses], CacheMisses: n[perfevent.CacheMisses]}
}

// MeanTick is the CPU time of a tick, µs.
func (r Round) MeanTick() float64 { return r.stages() }

// New are samples without rounds of this build on this machine.
func New(commit string) Samples {
	return Samples{Version: Version, Machine: measure.Here(), Commit: commit}
}

// Parse reads a file of samples, of this version or of version 1 (tickrate plan rounds); file is
// its name, for errors.
func Parse(file string, raw []byte) (s Samples, err error) {
	var old struct {
		Samples
		Steps []struct {
			Stages []measure.Stage `json:"stage_cpu_us"`
			Facts  *struct {
				Scenario string  `json:"scenario"`
				Lobbies  int     `json:"lobbies"`
				Players  int     `json:"players_per_lobby"`
				Bytes    float64 `json:"bytes_client"`
			} `json:"facts"`
		} `json:"steps"`
	}
	if err := json.Unmarshal(raw, &old); err != nil {
		return s, fmt.Errorf("%s: expected a JSON file of bench record: %w", file, err)
	}
	s = old.Samples
	if s.Version != 1 && s.Version != Version {
		return s, fmt.Errorf("%s: expected version 1 or %d, got %d", file, Version, s.Version)
	}
	for _, step := range old.Steps {
		if f := step.Facts; f != nil && f.Players > 0 && f.Lobbies <= 1 {
			s.Rounds = append(s.Rounds, Round{fmt.Sprintf("%s with %d players", f.Scenario, f.Players),
				step.Stages, f.Bytes, nil})
		}
	}
	for _, r := range s.Rounds {
		if !(r.BytesPerClient > 0) || !(r.stages() > 0) {
			return s, fmt.Errorf("%s: expected stages and bytes in each round of %s", file, r.Scenario)
		}
	}
	if len(s.Rounds) == 0 {
		return s, fmt.Errorf("%s: expected rounds, got none", file)
	}
	return s, nil
}

// Encode is the content of a file.
func (s Samples) Encode() ([]byte, error) {
	s.Version = Version
	raw, err := json.MarshalIndent(s, "", " ")
	return append(raw, '\n'), err
}

// errFew is the reason why too few rounds prove nothing.
var errFew = errors.New("too few rounds")
