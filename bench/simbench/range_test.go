package simbench

import (
	"math"
	"reflect"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
)

// predicted is a prediction of two lobbies, by hand.
func predicted(cores, stderr float64, repeats int) Prediction {
	s := small()
	c := Cost{Window: "opening", TickMillis: measure.Estimate{Mean: 0.13, StdErr: stderr},
		BytesDown: measure.Estimate{Mean: 1050}, ServerCores: cores, EgressMbps: 2, PacketsIn: 500,
		PacketsOut: 300, Stages: make([]StageEstimate, 30)}
	p := Prediction{Scenario: s, Windows: []Cost{c}, Repeats: repeats}
	p.AddMemory(Memory{Process: 200e6, Lobby: 5e6, Player: 1e5}, 1)
	return p
}

// An interval has a width whatever the standard errors are, of money and hosts, too, and a wider one
// where matches scatter more or are fewer.
func TestIntervalsAreNeverZero(t *testing.T) {
	prices := Prices{HostHour: 1, EgressGB: 0.1, HostCores: 8, HostMemoryGB: 16, HostMbps: 1000,
		HostPackets: 1e6}
	for _, concurrent := range []int{1, 50, 100000} {
		p := predicted(0.5, 0, 1)
		h, err := p.HostsFor(prices, Demand{Concurrent: concurrent, CoreShare: 0.6})
		if err != nil {
			t.Fatal(err)
		}
		in := p.Intervals
		for i, r := range []Range{in.TickMillis, in.Cores, in.BytesDown, in.MemoryBytes, h.MonthRange} {
			if !(r.Low < r.Mean && r.Mean < r.High) {
				t.Errorf("%d players, interval %d: %+v", concurrent, i, r)
			}
		}
		if r := h.HostsRange; !(r.Low <= r.Mean && r.Mean <= r.High && r.Low < r.High) {
			t.Errorf("%d players: hosts %+v", concurrent, r)
		}
	}
	width := func(p Prediction) float64 { return p.Intervals.Cores.High - p.Intervals.Cores.Low }
	one, many, scattered := predicted(0.5, 0, 1), predicted(0.5, 0, 50), predicted(0.5, 0.13, 50)
	if !(width(many) < width(one) && width(one) < width(scattered)) {
		t.Errorf("widths %g, %g and %g", width(many), width(one), width(scattered))
	}
}

// The memory of a process is there once for each process.
func TestMemoryOfProcesses(t *testing.T) {
	m := Memory{Process: 200, Lobby: 5}
	if one, each := m.Of(12, 1), m.Of(12, 12); one != 260 || each != 2460 {
		t.Errorf("12 lobbies take %g in one process and %g in twelve", one, each)
	}
	s := small()
	for _, lobbies := range []int{1, 3} {
		s.Lobby.Lobbies = lobbies
		split, err := NewMemory(s, 500e6)
		if err != nil || split.Lobby <= 0 || split.Player <= 0 || split.Player*6 > split.Lobby ||
			math.Abs(split.Of(lobbies, 1)-500e6) > 1 {
			t.Errorf("%+v, %v", split, err)
		}
	}
}

// A verdict compares the same quantities of a prediction and of live steps, hosts and money included.
func TestJudge(t *testing.T) {
	p := predicted(0.5, 0, 3)
	p.Scenario.Lobby.ProcessPerLobby = true
	prices := Prices{Currency: "EUR", HostHour: 1, HostCores: 8, HostMemoryGB: 16, HostMbps: 1000,
		HostPackets: 1e6}
	d := Demand{Concurrent: 10000, CoreShare: 0.6}
	live := measure.Step{Lobbies: 2, TickCPUMillis: measure.Quantiles{Mean: 0.12}, ServerCores: 0.5,
		KbpsDownPerClient: 8.4, MemoryBytes: 210e6, DatagramsInPerTick: 4, DatagramsOutPerTick: 2}
	all := p.Judge([]measure.Step{live, live}, prices, d)
	if len(all) != 6 {
		t.Fatalf("%d verdicts: %+v", len(all), all)
	}
	for _, v := range all {
		if !v.Held() || !v.Within() {
			t.Errorf("%+v: %+.3f", v, v.Error())
		}
	}
	p.Scenario.Lobby.ProcessPerLobby = false
	live.ServerCores, live.MemoryBytes, live.KbpsDownPerClient = 0.25, 100e6, 16.8
	for _, v := range p.Judge([]measure.Step{live}, prices, d) {
		if v.Held() || v.Within() {
			t.Errorf("half as much: %+v: %+.3f", v, v.Error())
		}
	}
}

// Draws are scenarios that can be played, the same for the same seed, and of every kind.
func TestDraw(t *testing.T) {
	alone, shared, apart := 0, 0, 0
	for i := range 200 {
		s := Draw(7, i)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if again := Draw(7, i); !reflect.DeepEqual(s, again) {
			t.Errorf("%+v, again %+v", s, again)
		}
		switch {
		case s.Lobby.Lobbies == 1:
			alone++
		case s.SharedProcess():
			shared++
		default:
			apart++
		}
	}
	if alone < 30 || shared < 60 || apart < 3 {
		t.Errorf("%d alone, %d share a process, %d have processes", alone, shared, apart)
	}
	if all := BuiltIn(); len(all) != len(scenario.Names()) {
		t.Errorf("%d of %d scenarios of the build", len(all), len(scenario.Names()))
	}
}
