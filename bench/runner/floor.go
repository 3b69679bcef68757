package runner

import (
	"context"
	"time"

	"github.com/tickrate/tickrate/bench/floor"
	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/internal/stage"
	"github.com/tickrate/tickrate/server/metrics"
)

// The floor is measured for half a second beside each step. The least and the largest of six samples
// hold the true median 31 times of 32.
const (
	floorSamples = 6
	floorTime    = 75 * time.Millisecond // of a sample
)

// addFloor measures the floor of a step's datagrams and adds it to the step. A void step, which says
// nothing about the server, gets none.
func (r *Runner) addFloor(ctx context.Context, s *measure.Step) {
	if !r.cfg.Floor || s.Void || s.Fault != "" || ctx.Err() != nil {
		return
	}
	s.Floor = measureFloor(ctx, s.Traffic, r.onServer)
	if f := s.Floor; f.Millis > 0 {
		process := 1e3 * s.ServerCores / float64(max(1, s.Lobbies)*r.cfg.Scenario.Rates.TickHz)
		f.Tick, f.Process = s.TickCPUMillis.Mean/f.Millis, process/f.Millis
	}
}

// measureFloor measures the floor on processors of the server.
func measureFloor(ctx context.Context, t measure.Traffic, cpus []int) *measure.Floor {
	samples, err := floor.Measure(ctx, floor.Traffic{In: t.In, Out: t.Out, BytesIn: t.BytesIn,
		BytesOut: t.BytesOut, Clients: t.Clients, Run: t.Run},
		floor.Config{Server: cpus, Samples: floorSamples, Time: floorTime})
	if err != nil {
		return &measure.Floor{Version: floor.Version, NotMeasured: err.Error()}
	}
	median, least, most := floor.Median(samples)
	f := &measure.Floor{Version: floor.Version}
	perTick := func(nanos float64) float64 { return nanos / 1e6 / t.Ticks }
	f.Millis, f.LeastMillis, f.MostMillis = perTick(median.Total()), perTick(least), perTick(most)
	for _, st := range []measure.Stage{{Name: stage.Receive, Mean: median.Receive}, {Name: stage.Open, Mean: median.Open},
		{Name: stage.Seal, Mean: median.Seal}, {Name: stage.Send, Mean: median.Send}} {
		f.StageMillis = append(f.StageMillis, measure.Stage{Name: st.Name, Mean: perTick(st.Mean)})
	}
	return f
}

// trafficOf is the traffic of a process between two waits, from the counters of all lobbies. Lobbies
// that share a loop are served in one call. clients are in all lobbies.
func trafficOf(rep *metrics.Report, hosts []hostFigures, lobbies, clients int) (t measure.Traffic) {
	count := func(c metrics.Count) float64 { return float64(rep.Counts[c.String()]) }
	in, out, snapshots := count(metrics.Received), count(metrics.Sent), count(metrics.Snapshots)
	ticks := rep.ElapsedMillis / 1000 * float64(rep.Rate) * float64(lobbies)
	if in == 0 || out == 0 || ticks == 0 {
		return t
	}
	turns, waiting := ticks, lobbies // each tick is a turn, each lobby waits by itself
	loops, calls := 0, 0.
	for _, h := range hosts {
		for _, l := range h.Loops {
			loops, calls = loops+1, calls+float64(l.Calls)
		}
	}
	if calls > 0 {
		turns, waiting = calls, loops
	}
	t = measure.Traffic{In: in / turns, Out: out / turns, BytesIn: count(metrics.BytesIn) / in,
		BytesOut: count(metrics.BytesOut) / out, Clients: (clients + waiting - 1) / waiting, Run: 1,
		Ticks: ticks / turns}
	if snapshots > 0 {
		t.Run = max(1, out/snapshots)
	}
	return t
}
