package simbench

import (
	"math"

	"github.com/tickrate/tickrate/bench/scenario"
)

// Range is a predicted figure with an interval that is to hold what a live run measures nine times of
// ten. Low < Mean < High where Mean is above 0.
type Range struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Holds reports whether the interval holds x.
func (r Range) Holds(x float64) bool { return r.Low <= x && x <= r.High }

// Intervals are the figures of a prediction with their intervals.
type Intervals struct {
	TickMillis  Range `json:"tick_ms"` // CPU time of a lobby's tick
	Cores       Range `json:"cores"`   // of all processes
	BytesDown   Range `json:"bytes_down_per_client"`
	MemoryBytes Range `json:"memory_bytes"` // of all processes
}

// spread is how far predictions of a figure lie from live runs, as relative standard deviations.
type spread struct {
	model float64 // error of the model: the same in every repeat of a scenario
	match float64 // between two matches of one lobby; n lobbies have it divided by the root of n
}

// Spreads of the figures, from scenarios that Draw gives for the seeds 1 and 2 and from six matches of
// one lobby, live and simulated, on a busy virtual machine of two processors. They are no part of a
// mean: they only widen intervals.
var (
	tickSpread   = spread{model: 0.07, match: 0.08}
	coresSpread  = spread{model: 0.06, match: 0.08}
	bytesSpread  = spread{model: 0.02, match: 0.10}
	memorySpread = spread{model: 0.09}
)

// normal90 is the 95 % quantile of the normal distribution: an interval of it to both sides holds
// nine values of ten.
const normal90 = 1.645

// of returns the interval of a mean over a number of simulated matches of lobbies, for one live match.
// stderr is the standard error of the mean where it is known: it counts if it is the larger one.
func (d spread) of(mean, stderr float64, lobbies, matches int) Range {
	match := d.match / math.Sqrt(float64(max(1, lobbies)))
	simulated := match / math.Sqrt(float64(max(1, matches)))
	if mean > 0 {
		simulated = max(simulated, stderr/mean)
	}
	half := normal90 * math.Sqrt(d.model*d.model+match*match+simulated*simulated)
	return Range{mean, mean * max(0, 1-half), mean * (1 + half)}
}

// intervals returns the intervals of a window.
func intervals(s scenario.Scenario, c Cost, memory float64, matches int) Intervals {
	n := s.Lobby.Lobbies
	// The sockets of a prediction have no standard error: those of the ticks stand for them.
	relative := 0.0
	if c.TickMillis.Mean > 0 {
		relative = c.TickMillis.StdErr / c.TickMillis.Mean
	}
	return Intervals{
		TickMillis:  tickSpread.of(c.TickMillis.Mean, c.TickMillis.StdErr, n, matches),
		Cores:       coresSpread.of(c.ServerCores, relative*c.ServerCores, n, matches),
		BytesDown:   bytesSpread.of(c.BytesDown.Mean, c.BytesDown.StdErr, n, matches),
		MemoryBytes: memorySpread.of(memory, 0, n, matches),
	}
}

// AddMemory adds the memory of the scenario's processes to the prediction, and the intervals.
func (p *Prediction) AddMemory(m Memory, processes int) {
	p.Memory, p.MemoryBytes = m, m.Of(p.Scenario.Lobby.Lobbies, processes)
	p.Intervals = intervals(p.Scenario, p.Windows[0], p.MemoryBytes, p.Repeats)
}

// Usage is what the scenario takes of a host: the larger of its windows, and the mean traffic of
// the steady state.
func (p Prediction) Usage() Usage {
	u := Usage{Lobbies: p.Scenario.Lobby.Lobbies, Players: p.Scenario.Total(), MemoryBytes: p.MemoryBytes}
	for _, c := range p.Windows {
		u.Cores, u.EgressMbps, u.Packets = max(u.Cores, c.ServerCores), max(u.EgressMbps, c.EgressMbps),
			max(u.Packets, c.PacketsIn+c.PacketsOut)
		u.MeanMbps = c.EgressMbps
	}
	return u
}

// usageAt is Usage at the low ends of the intervals or at the high ones.
func (p Prediction) usageAt(end func(Range) float64) Usage {
	u, in := p.Usage(), p.Intervals
	part := func(r Range) float64 {
		if r.Mean == 0 {
			return 1
		}
		return end(r) / r.Mean
	}
	u.Cores *= part(in.Cores)
	u.EgressMbps *= part(in.BytesDown)
	u.MeanMbps *= part(in.BytesDown)
	u.MemoryBytes *= part(in.MemoryBytes)
	return u
}

// HostsFor returns the hosts for a demand, with the intervals of their number and of the money.
func (p Prediction) HostsFor(prices Prices, d Demand) (Hosts, error) {
	h, err := p.Usage().Hosts(prices, d)
	if err != nil {
		return h, err
	}
	low, errLow := p.usageAt(func(r Range) float64 { return r.Low }).Hosts(prices, d)
	high, errHigh := p.usageAt(func(r Range) float64 { return r.High }).Hosts(prices, d)
	if errLow != nil {
		low = h
	}
	if errHigh != nil { // a host may not carry a lobby: it then takes one for each
		high = h
		high.Hosts = max(h.Hosts+1, (d.Concurrent*p.Scenario.Lobby.Lobbies+p.Scenario.Total()-1)/p.Scenario.Total())
		high.HostsMonth = float64(high.Hosts) * prices.HostHour * hoursMonth
	}
	// A number of hosts has an interval of one at least: it is a rounded one.
	high.Hosts = max(high.Hosts, low.Hosts+1, h.Hosts)
	h.HostsRange = Range{float64(h.Hosts), float64(min(low.Hosts, h.Hosts)), float64(high.Hosts)}
	high.HostsMonth = float64(high.Hosts) * prices.HostHour * hoursMonth
	money := func(x Hosts) float64 { return x.HostsMonth + x.EgressMonth }
	h.MonthRange = Range{money(h), money(low), money(high)}
	return h, nil
}
