package simbench

import (
	"math"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
)

// Verdict is one predicted number beside the measured one.
type Verdict struct {
	Of        string           `json:"of"`
	Unit      string           `json:"unit"`
	Predicted Range            `json:"predicted"`
	Measured  measure.Estimate `json:"measured"`
	Wanted    float64          `json:"wanted"` // largest error, as a part of Measured
}

// Error is the error of the prediction, as a part of what was measured.
func (v Verdict) Error() float64 { return v.Predicted.Mean/v.Measured.Mean - 1 }

// Within reports whether the error is as small as wanted.
func (v Verdict) Within() bool { return math.Abs(v.Error()) <= v.Wanted }

// Held reports whether the interval holds what was measured.
func (v Verdict) Held() bool { return v.Predicted.Holds(v.Measured.Mean) }

// Wanted errors of a prediction.
const (
	WantedCPU    = 0.10
	WantedBytes  = 0.03
	WantedMemory = 0.15
	WantedHosts  = 0.15
)

// LiveUsage is what a live step of a scenario takes of a host.
func LiveUsage(s scenario.Scenario, step measure.Step) Usage {
	perSecond := float64(s.Rates.TickHz) * float64(max(1, step.Lobbies))
	clients := float64(s.Total() + s.Spectators())
	out := step.DatagramsOutPerTick * perSecond
	mbps := (125*step.KbpsDownPerClient*clients + measure.OverIPv4*out) * 8 / 1e6
	return Usage{Lobbies: s.Lobby.Lobbies, Players: s.Total(), Cores: step.ServerCores,
		EgressMbps: mbps, MeanMbps: mbps, Packets: step.DatagramsInPerTick*perSecond + out,
		MemoryBytes: step.MemoryBytes}
}

// Judge compares the opening of a prediction with live steps of the same scenario. Ticks are left out
// where lobbies share a process, hosts where no host carries a lobby, and money where everything is
// free.
func (p Prediction) Judge(live []measure.Step, prices Prices, d Demand) []Verdict {
	mean := func(of func(measure.Step) float64) measure.Estimate {
		var values []float64
		for _, s := range live {
			values = append(values, of(s))
		}
		return measure.EstimateOf(values)
	}
	in := p.Intervals
	var all []Verdict
	if !p.Scenario.SharedProcess() { // lobbies that share a worker measure elapsed time
		all = append(all, Verdict{"CPU of a tick", "ms", in.TickMillis,
			mean(func(s measure.Step) float64 { return s.TickCPUMillis.Mean }), WantedCPU})
	}
	all = append(all, []Verdict{
		{"server process", "cores", in.Cores,
			mean(func(s measure.Step) float64 { return s.ServerCores }), WantedCPU},
		{"sent to a client", "B/s", in.BytesDown,
			mean(func(s measure.Step) float64 { return 125 * s.KbpsDownPerClient }), WantedBytes},
		{"resident memory", "MB", Range{in.MemoryBytes.Mean / 1e6, in.MemoryBytes.Low / 1e6,
			in.MemoryBytes.High / 1e6},
			mean(func(s measure.Step) float64 { return s.MemoryBytes / 1e6 }), WantedMemory},
	}...)
	hosts, err := p.HostsFor(prices, d)
	var numbers, months []float64
	for _, s := range live {
		h, errLive := LiveUsage(p.Scenario, s).Hosts(prices, d)
		if err != nil || errLive != nil {
			return all
		}
		numbers, months = append(numbers, float64(h.Hosts)), append(months, h.HostsMonth+h.EgressMonth)
	}
	all = append(all, Verdict{"hosts", "", hosts.HostsRange, measure.EstimateOf(numbers), WantedHosts})
	if hosts.MonthRange.Mean > 0 {
		all = append(all, Verdict{"money", prices.Currency + " a month", hosts.MonthRange,
			measure.EstimateOf(months), WantedHosts})
	}
	return all
}
