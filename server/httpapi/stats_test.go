package httpapi

import (
	"math"
	"sync"
	"testing"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// Each distribution of /stats is of one moment while ticks are recorded, and the stages add up to
// the tick that the same answer has.
func TestStatsAreOfOneMoment(t *testing.T) {
	const value = 100 // ns: has a bucket of its own
	l := newTestHost(t, server.Config{}, 1, 1)
	port := &PortFigures{Stats: &metrics.Stats{Histograms: metrics.NewHistograms(true)},
		Socket: func() netio.Stats { return netio.Stats{} }}
	r, schedule, done := &reporter{src: &l.src}, l.src.Schedule, make(chan struct{})
	r.reset(new(process)) // the ticks of newTestHost
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			schedule.Took(value)
			schedule.Frame(1, value, 1, 0)
			for _, h := range []*metrics.Histograms{l.src.Lobby.Stats.Histograms, port.Stats.Histograms} {
				h.Tick.Record(value)
				for i, stage := range h.Stage {
					stage.Record(int64(i + 1))
				}
			}
		}
	})
	check := func(name string, s metrics.Spread, scaled bool) {
		if scaled {
			s.Mean = s.P50
		}
		if x := s.Max; s != (metrics.Spread{P50: x, P95: x, P99: x, P999: x, Max: x, Mean: x}) {
			t.Errorf("%s of equal times: %+v", name, s)
		}
	}
	filled := 0
	for range 500 {
		got, loop := r.report(new(process)), port.loop()
		check("tick", got.TickCPU, false)
		check("elapsed time", got.TickWall, false)
		check("lateness", got.Lateness, false)
		check("raw lateness", got.LatenessRaw, false)
		check("call", loop.Call, false)
		if (loop.Calls > 0) != (loop.Call.P50 > 0) {
			t.Errorf("%d calls of %+v", loop.Calls, loop.Call)
		}
		sum := 0.0
		for _, s := range got.Stages {
			check(s.Name, s.Spread, true)
			sum += s.Mean
		}
		if got.TickCPU.Mean > 0 && sum > 0 {
			filled++
			if math.Abs(sum/got.TickCPU.Mean-1) > 1e-9 {
				t.Errorf("stages of %v ms in a tick of %v", sum, got.TickCPU.Mean)
			}
		}
		if t.Failed() {
			break
		}
		r.reset(new(process))
		port.reset()
	}
	close(done)
	writer.Wait()
	if filled == 0 && !t.Failed() {
		t.Error("no report had a tick")
	}
}
