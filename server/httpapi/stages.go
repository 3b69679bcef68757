package httpapi

import (
	"context"
	"net/http"
	"net/http/pprof"
	labels "runtime/pprof"
	"runtime/trace"
	"strings"
	"sync/atomic"

	"github.com/tickrate/tickrate/internal/stage"
	"github.com/tickrate/tickrate/internal/traceregion"
	"github.com/tickrate/tickrate/server/metrics"
)

// StageLabels labels the goroutine of a lobby with the stage of its tick: while a CPU profile runs,
// for go tool pprof -tagfocus stage=snapshot, and as regions of an execution trace. At other times
// the goroutine has the label of the lobby alone: changing labels takes 40 ns, two percent of the
// tick of a small lobby. Entering a stage allocates nothing.
type StageLabels struct {
	profiles *atomic.Int32      // running; all lobbies of a host count as one
	lobby    context.Context    // label of the lobby alone
	sets     []context.Context  // by stage
	names    []string           // of the regions, by stage
	whole    string             // name of the region of a tick
	marked   bool               // the goroutine has the labels of a stage
	tick     traceregion.Region // from its first stage to the last
	region   traceregion.Region // of the stage, within it
	coarse   bool               // regions are those of coarseStage
	of       metrics.Stage      // whose region is open
}

// NewStageLabels returns labels for the lobby of that name, off until a profile runs.
func NewStageLabels(lobby string) *StageLabels { return newStageLabels(lobby, new(atomic.Int32)) }

// Of returns labels for another lobby of the same host: a profile labels the stages of all.
func (s *StageLabels) Of(lobby string) *StageLabels { return newStageLabels(lobby, s.profiles) }

func newStageLabels(lobby string, profiles *atomic.Int32) *StageLabels {
	s := &StageLabels{profiles: profiles, whole: "lobby " + lobby + " tick",
		lobby: labels.WithLabels(context.Background(), labels.Labels("lobby", lobby))}
	for stage := range metrics.StageIdle + 1 {
		set := labels.Labels("lobby", lobby, "stage", stage.String())
		s.sets = append(s.sets, labels.WithLabels(context.Background(), set))
		s.names = append(s.names, "lobby "+lobby+" "+stage.String())
	}
	return s
}

// Always labels stages at all times: for programs that profile a lobby themselves. Call it before
// the first tick.
func (s *StageLabels) Always() { s.profiles.Add(1) }

// CoarseRegions makes regions fewer, for traces that always run: each takes half a microsecond. Open
// is then within receive, the systems of the match are one region, and seal and send are within
// snapshot. Call it before the first tick.
func (s *StageLabels) CoarseRegions() {
	s.coarse = true
	s.names[metrics.StageSystems] = strings.TrimSuffix(s.whole, "tick") + stage.Match
}

// coarseStage is the stage whose region stands for a stage.
func coarseStage(stage metrics.Stage) metrics.Stage {
	switch {
	case stage == metrics.StageOpen:
		return metrics.StageReceive
	case stage > metrics.StageSystems && stage < metrics.StageCapture:
		return metrics.StageSystems
	case stage == metrics.StageSeal || stage == metrics.StageSend:
		return metrics.StageSnapshot
	}
	return stage
}

// Enter begins a stage. It is for server.Config.EnterStage.
func (s *StageLabels) Enter(stage metrics.Stage) {
	switch {
	case s.profiles.Load() > 0:
		labels.SetGoroutineLabels(s.sets[stage])
		s.marked = true
	case s.marked:
		s.Rest()
	}
	if s.tick.Open() || trace.IsEnabled() {
		s.trace(stage)
	}
}

// Rest leaves the goroutine with the label of the lobby.
func (s *StageLabels) Rest() {
	labels.SetGoroutineLabels(s.lobby)
	s.marked = false
}

// trace ends the open region and begins that of a stage, within that of the tick. The time between
// ticks has none.
func (s *StageLabels) trace(stage metrics.Stage) {
	if s.coarse {
		if stage = coarseStage(stage); s.region.Open() && stage == s.of {
			return
		}
		s.of = stage
	}
	s.region.End()
	if stage == metrics.StageIdle {
		s.tick.End()
		return
	}
	if !trace.IsEnabled() {
		return
	}
	if !s.tick.Open() {
		s.tick.Begin(s.whole)
	}
	s.region.Begin(s.names[stage])
}

// serveProfile answers /debug/pprof/profile and labels stages while it runs. Any number may run.
func (s *StageLabels) serveProfile(w http.ResponseWriter, r *http.Request) {
	s.profiles.Add(1)
	defer s.profiles.Add(-1)
	pprof.Profile(w, r)
}
