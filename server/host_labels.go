package server

import (
	"context"
	"net/http"
	"net/http/pprof"
	labels "runtime/pprof"
	"runtime/trace"
	"sync/atomic"

	"github.com/tickrate/tickrate/server/metrics"
)

// marker marks the goroutine that plays a lobby's ticks with the stage it is in: while a CPU profile is taken, for
// go tool pprof -tagfocus stage=delta, and while an execution trace runs as a region (go tool trace, User-defined regions). At other
// times it has the lobby's label alone: to change labels takes 40 ns, and so two percent of the tick of a small lobby.
// The label sets are made once: to mark allocates nothing unless a trace runs.
type marker struct {
	profiles atomic.Int32      // that are being taken
	lobby    context.Context   // label of the lobby alone
	sets     []context.Context // by stage
	names    []string
	marked   bool          // the goroutine has a stage's labels
	region   *trace.Region // that is open; nil if none is
}

// newMarker returns what marks the stages of a lobby.
func newMarker(lobby string) *marker {
	m := &marker{lobby: labels.WithLabels(context.Background(), labels.Labels("lobby", lobby))}
	for s := range metrics.StageIdle + 1 {
		m.sets = append(m.sets, labels.WithLabels(context.Background(), labels.Labels("lobby", lobby, "stage", s.String())))
		m.names = append(m.names, "lobby "+lobby+" "+s.String())
	}
	return m
}

// enter begins a stage.
func (m *marker) enter(s metrics.Stage) {
	switch {
	case m.profiles.Load() > 0:
		labels.SetGoroutineLabels(m.sets[s])
		m.marked = true
	case m.marked:
		m.rest()
	}
	if m.region != nil || trace.IsEnabled() {
		m.trace(s)
	}
}

// rest leaves the goroutine with the lobby's label.
func (m *marker) rest() {
	labels.SetGoroutineLabels(m.lobby)
	m.marked = false
}

// trace ends the region that is open and begins that of a stage. The time between ticks has none.
func (m *marker) trace(s metrics.Stage) {
	if m.region != nil {
		m.region.End()
		m.region = nil
	}
	if s != metrics.StageIdle && trace.IsEnabled() {
		m.region = trace.StartRegion(m.sets[s], m.names[s])
	}
}

// profile is /debug/pprof/profile with labels for as long as it is taken.
func (m *marker) profile(w http.ResponseWriter, r *http.Request) {
	m.profiles.Add(1)
	defer m.profiles.Add(-1)
	pprof.Profile(w, r)
}

// Marks is a function for Config.EnterStage that labels the calling goroutine with lobby and stage at all times, and traces regions: for
// programs that profile a lobby themselves. A Host does so while a profile is taken over its HTTP port.
func Marks(lobby string) func(metrics.Stage) {
	m := newMarker(lobby)
	m.profiles.Add(1)
	return m.enter
}
