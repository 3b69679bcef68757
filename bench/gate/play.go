package gate

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/internal/perfevent"
)

// Eight samples a side can show a chance below MaxP beside a dozen stages. The smallest chance of
// Mann-Whitney with eight and eight is 1 in 6435.
const samplesPerLobby = 8

// Times of a play.
const (
	playDuration = scenario.Duration(3 * time.Second)
	playWarmup   = scenario.Duration(2 * time.Second)
)

// Names are the lobbies of a round.
var Names = []string{"duel", "match", "crowd"}

// Scenarios are the lobbies of a round: small and fast, and large.
func Scenarios() (all []scenario.Scenario) {
	for i, l := range []struct{ players, hz, every int }{{10, 128, 2}, {64, 60, 3}, {192, 60, 3}} {
		s := scenario.Default()
		s.Name, s.Lobby.Players, s.Rates.TickHz, s.Rates.SendEvery, s.Play.Full = Names[i], l.players, l.hz,
			l.every, 1
		s.Measure.Duration, s.Measure.Warmup = playDuration, playWarmup
		all = append(all, s)
	}
	return all
}

// Play adds one round of each lobby, or of the one named only, and says which lobby it has played.
func (s *Samples) Play(ctx context.Context, only string, slow Slowdown, say func(Lobby)) error {
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

// play adds a round with a probe.
func (s *Samples) play(ctx context.Context, only string, probe simbench.Probe, say func(Lobby)) error {
	for _, sc := range Scenarios() {
		if only != "" && sc.Name != only {
			continue
		}
		l := s.lobby(sc)
		for i := range l.Samples {
			if err := l.Samples[i].Play(ctx, sc, probe); err != nil {
				return err
			}
		}
		if say != nil {
			say(*l)
		}
	}
	return nil
}

// lobby is the lobby of a scenario, which is added if it is new.
func (s *Samples) lobby(sc scenario.Scenario) *Lobby {
	l := Lobby{Name: sc.Name, Players: sc.Lobby.Players}
	i := slices.IndexFunc(s.Lobbies, func(old Lobby) bool { return old.String() == l.String() })
	if i < 0 {
		l.Samples = make([]simbench.LeastTicks, samplesPerLobby)
		i, s.Lobbies = len(s.Lobbies), append(s.Lobbies, l)
	}
	return &s.Lobbies[i]
}
