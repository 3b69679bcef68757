package capacity

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// inputs are what a prediction may go beyond.
var inputs = []feature{
	{"players in a lobby", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"Hz", func(f Facts) float64 { return float64(f.TickHz) }},
	{"snapshots a second", func(f Facts) float64 { return 1 / interval(f) }},
	{"metres of the map", func(f Facts) float64 { return f.Side }},
	{"bursts a second", func(f Facts) float64 { return f.Bursts }},
	{"throws a second", func(f Facts) float64 { return f.Throws }},
	{"share in the hot spot", func(f Facts) float64 { return f.Crowd }},
	{"spectators for each player", func(f Facts) float64 { return float64(f.Spectators) / float64(f.PerLobby) }},
	{"leaves a minute", func(f Facts) float64 { return f.Leaves }},
	{"s of delay", func(f Facts) float64 { return f.Delay }},
	{"s of jitter", func(f Facts) float64 { return f.Jitter }},
	{"lost datagrams", func(f Facts) float64 { return f.Loss }},
	{"snapshots that acknowledgements are old", func(f Facts) float64 { return ackAge(f) / interval(f) }},
}

// thingShare is which part of a budget flights and what stands about have, in package server.
const thingShare = 1. / 8

// note keeps within which ranges was measured.
func (m *Model) note(f Facts) {
	for _, x := range inputs {
		v := x.of(f)
		r, seen := m.ranges[x.name]
		if !seen {
			r = [2]float64{v, v}
		}
		m.ranges[x.name] = [2]float64{min(r[0], v), max(r[1], v)}
	}
	m.walls = m.walls || f.Walls
}

// Prediction is what a scenario costs, of the whole host.
type Prediction struct {
	Facts        Facts    `json:"facts"`
	TickMicros   float64  `json:"tick_us"` // CPU time of a tick of one lobby, mean
	Stages       []Stage  `json:"stages"`
	Tail         float64  `json:"tail"` // p99 of the tick as a multiple of its mean
	Cores        float64  `json:"cores"`
	KbpsDown     float64  `json:"kbps_down_per_client"`
	KbpsUp       float64  `json:"kbps_up_per_client"`
	PacketsOut   float64  `json:"packets_out_per_second"`
	PacketsIn    float64  `json:"packets_in_per_second"`
	EgressMbps   float64  `json:"egress_mbps"` // with what UDP and IPv4 add
	MemoryMB     float64  `json:"memory_mb"`
	Squeezed     bool     `json:"squeezed"` // the budget is less than would be sent
	Extrapolated []string `json:"extrapolated,omitempty"`

	LongRun *Prediction `json:"long_run,omitempty"` // the same later in a match; nil: not predicted
}

// Predict works out what f costs. What came of a scenario (Visible, Shots, Bytes and so on of f) is not read: it is predicted, too.
func (m *Model) Predict(f Facts) (Prediction, error) {
	p := Prediction{Facts: f}
	if _, ok := m.Codecs[f.Codec]; !ok {
		return p, fmt.Errorf("codec %q was not measured; those were: %v", f.Codec, slices.Sorted(maps.Keys(m.Codecs)))
	}
	if f.Walls && !m.walls {
		return p, fmt.Errorf("maps whose houses hide players were not measured")
	}
	if f.Mode != "" {
		return p, fmt.Errorf("mode %q was not measured; deathmatch was", f.Mode)
	}
	if len(m.Stages) == 0 {
		return p, errors.New("expected CPU times, of which these measurements have none")
	}
	for _, x := range inputs {
		if v, r := x.of(f), m.ranges[x.name]; v < r[0]*0.999 || v > r[1]*1.001 {
			p.Extrapolated = append(p.Extrapolated, fmt.Sprintf("%s: %g, measured %g to %g", x.name, math.Round(v*100)/100, math.Round(r[0]*100)/100, math.Round(r[1]*100)/100))
		}
	}
	m.live(&f)
	m.send(&f)
	f.Memory = m.Memory.at(f, memoryFeatures)
	all, us := m.stages(f) // by what would be sent: choosing what is left out costs no less
	scale := m.nearBytes.factor(f)
	f.Bytes, f.Datagrams = f.Bytes*scale, max(f.Datagrams*scale, parcels(f)/interval(f))
	if f.Cap > 0 {
		p.Extrapolated = append(p.Extrapolated, "a byte budget: CPU time of keeping to it, a quarter more where one that is never used up meets a link that loses datagrams")
	}
	if f.Cap > 0 && f.Parts.Things > thingShare*f.Cap/2 { // on average, so that many snapshots want more
		p.Extrapolated = append(p.Extrapolated, "the budget makes flights wait, which have an eighth of it: fewer bytes, and CPU time of choosing among them")
	}
	if f.Cap > 0 && f.Bytes > f.Cap {
		p.Squeezed, f.Bytes = true, f.Cap
		p.Extrapolated = append(p.Extrapolated, "the budget holds bytes down: CPU time of choosing what fits was not measured")
	}
	scale = m.nearCPU.factor(f)
	for _, st := range all {
		p.Stages = append(p.Stages, Stage{Name: st.Name, Mean: st.Mean * scale})
	}
	p.TickMicros = us * scale
	n, each := clients(f)*float64(f.Lobbies), float64(f.TickHz*f.Lobbies)
	p.Cores = p.TickMicros / 1e6 * each
	p.KbpsDown, p.KbpsUp = f.Bytes*8/1000, m.Up.at(f, upFeatures)
	p.PacketsOut, p.PacketsIn = f.Datagrams*n, each*clients(f)
	p.EgressMbps = (f.Bytes + OverIPv4*f.Datagrams) * 8 * n / 1e6
	p.MemoryMB = f.Memory / 1e6 * float64(f.Lobbies)
	p.Facts, p.Tail = f, m.Tail
	return p, nil
}
