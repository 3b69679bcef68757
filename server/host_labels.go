package server

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
)

// marker marks the goroutine that plays a lobby's ticks with the stage it is in: for profiles (go tool pprof -tagfocus stage=delta),
// and while an execution trace runs also as a region (go tool trace, User-defined regions). The label sets are made once: to mark
// allocates nothing unless a trace runs.
type marker struct {
	sets   []context.Context // by stage
	names  []string
	region *trace.Region // that is open; nil if none is
}

// newMarker returns what marks the stages of a lobby.
func newMarker(lobby string) *marker {
	m := &marker{}
	for s := range StageDelta + 1 {
		m.sets = append(m.sets, pprof.WithLabels(context.Background(), pprof.Labels("lobby", lobby, "stage", s.String())))
		m.names = append(m.names, "lobby "+lobby+" "+s.String())
	}
	return m
}

// enter begins a stage.
func (m *marker) enter(s Stage) {
	pprof.SetGoroutineLabels(m.sets[s])
	if m.region != nil || trace.IsEnabled() {
		m.trace(s)
	}
}

// trace ends the region that is open and begins that of a stage. The time between ticks has none.
func (m *marker) trace(s Stage) {
	if m.region != nil {
		m.region.End()
		m.region = nil
	}
	if s != StageIdle && trace.IsEnabled() {
		m.region = trace.StartRegion(m.sets[s], m.names[s])
	}
}

// Marks is what a host gives its lobby for Config.Enter: it labels the calling goroutine for profiles, and traces regions.
func Marks(lobby string) func(Stage) { return newMarker(lobby).enter }
