package runner

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// Reports of several lobbies add up to one and stay as they are.
func TestReportsOfLobbiesAreMerged(t *testing.T) {
	report := func(shots uint64, p99, mean float64) metrics.Report {
		s := metrics.Spread{P99: p99, Mean: mean}
		return metrics.Report{ElapsedMillis: 2000, Rate: 50, HeapBytes: 100, CPUMillis: 1000,
			Counts:  map[string]uint64{metrics.Shots.String(): shots},
			TickCPU: s, Stages: []metrics.StageCost{{Name: "move", Spread: s}}, Hiccup: new(s),
			Slowdown: new(s), TickFullSpeed: new(s)}
	}
	of := func(all ...metrics.Report) (hosts []hostFigures) {
		for _, r := range all {
			hosts = append(hosts, hostFigures{HostReport: httpapi.HostReport{Lobbies: []metrics.Report{r}}})
		}
		return hosts
	}
	make3 := func() []hostFigures { return of(report(10, 5, 1), report(20, 9, 2), report(60, 7, 6)) }
	all := make3()
	m, lobbies := merge(all)
	if lobbies != 3 {
		t.Errorf("%d lobbies", lobbies)
	}
	worst := metrics.Spread{P99: 9, Mean: 3}
	want := metrics.Report{ElapsedMillis: 2000, Rate: 50, HeapBytes: 300, CPUMillis: 3000,
		Counts:  map[string]uint64{metrics.Shots.String(): 90},
		TickCPU: worst, Stages: []metrics.StageCost{{Name: "move", Spread: worst}}, Hiccup: &worst,
		Slowdown: &worst, TickFullSpeed: &worst}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(make3(), all, cmp.AllowUnexported(hostFigures{})); diff != "" {
		t.Error("the reports were changed:", diff)
	}
	f := newFigures()
	step := newStep(30, 30, of(report(10, 5, 1), report(20, 9, 2)), f, Account(f))
	if step.FullSpeedMillis.P99 != 9 || step.Slowdown.P99 != 9 {
		t.Errorf("full speed %+v, slowdown %+v", step.FullSpeedMillis, step.Slowdown)
	}
	if step.Lobbies != 2 || math.Abs(step.TickCPUMillis.P99-9) > 1e-9 || step.ServerCores != 1 {
		t.Errorf("%+v", step)
	}
}

// Lobbies of one process: CPU, memory and garbage count once, and every tick has its part of what
// the loop does for all.
func TestReportsOfOneProcessAreMerged(t *testing.T) {
	lobby := func(mean float64) metrics.Report {
		return metrics.Report{ElapsedMillis: 1000, Rate: 10, CPUMillis: 500, HeapBytes: 100, GCs: 1,
			Counts:  map[string]uint64{metrics.Snapshots.String(): 10},
			TickCPU: metrics.Spread{P99: 9, Mean: mean}, TickWall: metrics.Spread{P99: 9, Mean: mean},
			Stages: []metrics.StageCost{{Name: "receive"}, {Name: "move", Spread: metrics.Spread{Mean: mean}}}}
	}
	host := hostFigures{resident: 250, HostReport: httpapi.HostReport{
		Lobbies: []metrics.Report{lobby(4), lobby(6)},
		Loops: []httpapi.LoopReport{{Calls: 10, Call: metrics.Spread{Mean: 40}, SocketLost: 3,
			Stages: []metrics.StageCost{{Name: "receive", Spread: metrics.Spread{Mean: 8}}}}}}}
	f := newFigures()
	s := newStep(20, 20, []hostFigures{host}, f, Account(f))
	want := []measure.Stage{{Name: "receive", Mean: 4, P99: 4}, {Name: "move", Mean: 5}}
	if diff := cmp.Diff(want, s.StageCPUMillis); diff != "" {
		t.Error(diff)
	}
	if s.Lobbies != 2 || s.Processes != 1 || s.ServerCores != 0.5 || s.MemoryBytes != 250 ||
		s.DatagramsLost != 3 || s.GCs != 1 || s.SnapshotsPerTick != 1 {
		t.Errorf("%+v", s)
	}
	if math.Abs(s.TickCPUMillis.Mean-9) > 1e-9 || math.Abs(s.TickCPUMillis.P99-13) > 1e-9 ||
		len(s.LoopCallMillis) != 1 || s.LoopCallMillis[0].Mean != 40 {
		t.Errorf("tick %+v, calls %+v", s.TickCPUMillis, s.LoopCallMillis)
	}
}

// newFigures are those of a swarm that measured nothing.
func newFigures() *swarm.Figures {
	h := func() *meter.Histogram { return meter.NewHistogram(0, meter.Fine) }
	return &swarm.Figures{Elapsed: time.Second, Late: h(), Played: h(), StealCorrected: h(), Age: h(),
		RTT: h(), Meter: client.NewMeter()}
}

// An input that the server lost of one player counts, whatever the swarm sent late of others: of
// another slot, lobby or process.
func TestLostInputsCountByPlayer(t *testing.T) {
	lobby := func(missing map[int]uint64) metrics.Report {
		all := uint64(0)
		for _, n := range missing {
			all += n
		}
		return metrics.Report{ElapsedMillis: 1000, Rate: 60, SlotMissing: missing,
			Counts: map[string]uint64{metrics.InputsMissing.String(): all}}
	}
	host := func(all ...metrics.Report) hostFigures {
		return hostFigures{HostReport: httpapi.HostReport{Lobbies: all}}
	}
	late := map[swarm.LobbySlot]uint64{swarm.NewLobbySlot(0, 1): 5, swarm.NewLobbySlot(1, 0): 2}
	for i, c := range []struct {
		hosts []hostFigures
		want  uint64
	}{
		{[]hostFigures{host(lobby(nil))}, 0},
		{[]hostFigures{host(lobby(map[int]uint64{1: 5}))}, 0},
		{[]hostFigures{host(lobby(map[int]uint64{1: 6}))}, 1},
		{[]hostFigures{host(lobby(map[int]uint64{0: 1, 1: 4}))}, 1}, // 7 late, 5 missing
		{[]hostFigures{host(lobby(nil), lobby(map[int]uint64{0: 2, 1: 3}))}, 3},
		{[]hostFigures{host(lobby(nil)), host(lobby(map[int]uint64{0: 2, 1: 3}))}, 3},
	} {
		f := newFigures()
		f.LateTicks, f.LateOf = 7, late
		if s := newStep(2, 2, c.hosts, f, Account(f)); s.InputsLost != c.want || s.InputsLate != 7 {
			t.Errorf("%d: %d inputs lost and %d late, want %d and 7", i, s.InputsLost, s.InputsLate, c.want)
		}
	}
}
