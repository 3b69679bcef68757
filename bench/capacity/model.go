package capacity

import (
	"fmt"
	"math"
	"slices"
)

// Model says what a scenario costs without running it: a law by stage for CPU time, and laws for bytes, fire, sight and memory.
// All are of one lobby; several on a host cost as many times as much.
type Model struct {
	Machine  Machine `json:"machine"`
	Commit   string  `json:"commit"`
	Virtual  bool    `json:"virtual"` // no system calls are in its CPU time
	Steps    int     `json:"steps"`   // that it was fitted to
	Stages   []Law   `json:"stages"`  // CPU µs a tick
	Snapshot Law     `json:"snapshot"`
	Up       Law     `json:"up"`
	Shots    Law     `json:"shots"`
	Sight    Law     `json:"sight"`
	Memory   Law     `json:"memory"`
	Outgoing Law     `json:"outgoing"` // datagrams a snapshot
	Tail     float64 `json:"tail"`     // p99 of a tick's CPU time, as a multiple of its mean: the median of the steps

	nearCPU, nearBytes, nearSight, nearShots nearby // what neighbours differ from the laws by

	ranges map[string][2]float64
	codecs []string
	walls  bool
}

// told is how many clients a snapshot goes to in a tick, and pairs how many rows those are asked about.
func told(f Facts) float64  { return float64(f.PerLobby) / float64(f.SendEvery) }
func pairs(f Facts) float64 { return told(f) * f.Visible }

// ruled is whether rows are chosen for each client, in place of shared blocks.
func ruled(f Facts) float64 {
	if f.Far > 0 || f.Walls {
		return 1
	}
	return 0
}

func interval(f Facts) float64 { return float64(f.SendEvery) / float64(f.TickHz) }

// stageFeatures are the a, b, c, d of a stage. Work of snapshots is done for the clients whose turn it is.
var stageFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"N", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"N/every", told},
	{"N·V/every", func(f Facts) float64 { return pairs(f) * (1 - ruled(f)) }},
	{"N·V/every (chosen)", func(f Facts) float64 { return pairs(f) * ruled(f) }},
	{"N/every (chosen)", func(f Facts) float64 { return told(f) * ruled(f) }},
	{"shots", func(f Facts) float64 { return f.Shots }},
	{"N·Hz", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.TickHz) / 100 }},
	{"N·N", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.PerLobby) }},
}

// parcels is how many datagrams a client is sent for each snapshot, one at least each 50 ms, before any is too long for one.
func parcels(f Facts) float64 { return max(1, 20*interval(f)) }

// parcelBytes is about what one datagram of a snapshot holds.
const parcelBytes = 1180

var snapshotFeatures = []feature{
	{"datagrams", parcels},
	{"V", func(f Facts) float64 { return f.Visible }},
	{"V·s", func(f Facts) float64 { return f.Visible * interval(f) }},
	{"V·Hz", func(f Facts) float64 { return f.Visible / interval(f) / 100 }},
	{"V·Hz²", func(f Facts) float64 { return f.Visible / sq(interval(f)*100) }}, // acked rows are more snapshots old
	{"V (chosen)", func(f Facts) float64 { return f.Visible * ruled(f) }},
	{"V·log m", func(f Facts) float64 { return f.Visible * math.Log2(max(f.Side, 2)) }},
	{"shots·interval", func(f Facts) float64 { return f.Shots * float64(f.SendEvery) }},
	{"1 (chosen)", ruled},
	{"unseen (chosen)", func(f Facts) float64 { return ruled(f) * (float64(f.PerLobby-1) - f.Visible) }},
}

var parcelFeatures = []feature{{"datagrams", parcels}}

var shotsFeatures = []feature{
	{"N·s", func(f Facts) float64 { return float64(f.PerLobby) / float64(f.TickHz) }},
	{"N·bursts", func(f Facts) float64 { return float64(f.PerLobby) * f.Bursts / float64(f.TickHz) }},
	{"N·crowd", func(f Facts) float64 { return float64(f.PerLobby) * f.Crowd / float64(f.TickHz) }},
	{"N·density", func(f Facts) float64 {
		return float64(f.PerLobby) * min(1, 40*float64(f.PerLobby)/sq(max(f.Side, 1))) / float64(f.TickHz)
	}},
}

var memoryFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"N", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"N·N", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.PerLobby) }},
	{"m²", func(f Facts) float64 { return sq(f.Side) }},
}

// within is the chance that two places in a square of the given side are nearer than far.
func within(far, side float64) float64 {
	if far <= 0 || side <= 0 || far >= side {
		return 1
	}
	r := far / side
	return min(1, math.Pi*r*r-8*r*r*r/3+r*r*r*r/2)
}

// sightFeatures: all, or those within reach, who are told by whole cells, linger and gather where the fight is.
var sightFeatures = []feature{
	{"all", func(f Facts) float64 { return float64(f.PerLobby-1) * (1 - ruled(f)) }},
	{"near", func(f Facts) float64 { return float64(f.PerLobby-1) * ruled(f) * within(f.Far, f.Side) }},
	{"√near", func(f Facts) float64 { return float64(f.PerLobby-1) * ruled(f) * math.Sqrt(within(f.Far, f.Side)) }},
	{"all (chosen)", func(f Facts) float64 { return float64(f.PerLobby-1) * ruled(f) }},
}

// FitModel fits a model to the measurements that are not held out. It refuses too few.
func FitModel(m Measurements) (Model, error) {
	model := Model{Machine: m.Machine, Commit: m.Commit, ranges: map[string][2]float64{}}
	var facts []Facts
	var names []string
	times := map[string][]float64{}
	var bytes, up, shots, sight, memory, outgoing, tails []float64
	var withMemory []Facts
	for _, s := range m.Steps {
		if s.HeldOut {
			continue
		}
		f := *s.Facts
		if len(facts) > 0 && f.Virtual != facts[0].Virtual {
			return model, fmt.Errorf("steps of one kind, all in virtual time or all live: step %q is not as %q", f.Scenario, facts[0].Scenario)
		}
		facts = append(facts, f)
		for _, st := range s.StageCPUMicros {
			if !slices.Contains(names, st.Name) {
				names = append(names, st.Name)
			}
			times[st.Name] = append(times[st.Name], st.Mean)
		}
		if f.Memory > 0 {
			withMemory, memory = append(withMemory, f), append(memory, f.Memory)
		}
		bytes = append(bytes, f.Bytes*interval(f))
		outgoing = append(outgoing, f.Datagrams*interval(f)-math.Floor(f.Bytes*interval(f)/parcelBytes))
		up = append(up, s.KbpsUpPerClient)
		shots = append(shots, f.Shots)
		if s.TickCPUMillis.Mean > 0 {
			tails = append(tails, s.TickCPUMillis.P99/s.TickCPUMillis.Mean)
		}
		sight = append(sight, f.Visible)
		model.note(f)
	}
	if len(facts) < 4 {
		return model, fmt.Errorf("at least 4 steps that are not held out, got %d", len(facts))
	}
	model.Virtual, model.Steps = facts[0].Virtual, len(facts)
	for _, name := range names {
		if len(times[name]) != len(facts) {
			return model, fmt.Errorf("every stage in every step: %q is in %d of %d", name, len(times[name]), len(facts))
		}
		model.Stages = append(model.Stages, fitLaw(name, "µs", facts, times[name], 0.5, stageFeatures))
	}
	model.Snapshot = fitLaw("bytes of a snapshot", "B", facts, bytes, 1, snapshotFeatures)
	model.Outgoing = fitLaw("datagrams of a snapshot", "", facts, outgoing, 0.1, parcelFeatures)
	model.Up = fitLaw("up", "kbit/s", facts, up, 0.1, upFeatures)
	model.Shots = fitLaw("shots", "a tick", facts, shots, 0.05, shotsFeatures)
	model.Sight = fitLaw("sees", "players", facts, sight, 0.5, sightFeatures)
	model.Memory = fitLaw("memory", "B", withMemory, memory, 1, memoryFeatures)
	model.correct(facts, m)
	if len(tails) > 0 {
		model.Tail = QuantilesOf(tails).P50
	}
	return model, nil
}

// correct learns what the laws are off by where it was measured: sight first, as the others are worked out from it.
func (m *Model) correct(facts []Facts, ms Measurements) {
	var cpu, bytes, sight, shots, cpuFitted, bytesFitted, sightFitted, shotsFitted []float64
	var steps []Step
	for _, s := range ms.Steps {
		if !s.HeldOut {
			steps = append(steps, s.Step)
		}
	}
	for _, f := range facts {
		sight, sightFitted = append(sight, f.Visible), append(sightFitted, m.Sight.at(f, sightFeatures))
		shots, shotsFitted = append(shots, f.Shots), append(shotsFitted, m.Shots.at(f, shotsFeatures))
	}
	m.nearSight, m.nearShots = newNearby(facts, sight, sightFitted), newNearby(facts, shots, shotsFitted)
	for i, f := range facts {
		p := m.laws(f)
		cpu, cpuFitted = append(cpu, steps[i].stages()), append(cpuFitted, p.TickMicros)
		bytes, bytesFitted = append(bytes, f.Bytes), append(bytesFitted, p.Facts.Bytes)
	}
	m.nearCPU, m.nearBytes = newNearby(facts, cpu, cpuFitted), newNearby(facts, bytes, bytesFitted)
}

// laws works out a scenario by the laws alone, but for who sees whom.
func (m *Model) laws(f Facts) (p Prediction) {
	f.Visible = min(m.Sight.at(f, sightFeatures)*m.nearSight.factor(f), float64(f.PerLobby-1))
	f.Shots = m.Shots.at(f, shotsFeatures) * m.nearShots.factor(f)
	f.Memory = m.Memory.at(f, memoryFeatures)
	f.Bytes = m.Snapshot.at(f, snapshotFeatures) / interval(f)
	for _, l := range m.Stages {
		us := l.at(f, stageFeatures)
		p.Stages = append(p.Stages, Stage{Name: l.Name, Mean: us})
		p.TickMicros += us
	}
	p.Facts = f
	return p
}

var upFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"Hz", func(f Facts) float64 { return float64(f.TickHz) }},
}

// inputs are what a prediction may go beyond.
var inputs = []feature{
	{"players in a lobby", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"Hz", func(f Facts) float64 { return float64(f.TickHz) }},
	{"snapshots a second", func(f Facts) float64 { return 1 / interval(f) }},
	{"metres of the map", func(f Facts) float64 { return f.Side }},
	{"bursts a second", func(f Facts) float64 { return f.Bursts }},
	{"throws a second", func(f Facts) float64 { return f.Throws }},
	{"share in the hot spot", func(f Facts) float64 { return f.Crowd }},
}

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
	if !slices.Contains(m.codecs, f.Codec) {
		m.codecs = append(m.codecs, f.Codec)
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
}

// Predict works out what f costs. Visible, Shots, Bytes, Datagrams and Memory of f are not read: they are predicted, too.
func (m *Model) Predict(f Facts) (Prediction, error) {
	p := Prediction{Facts: f}
	if !slices.Contains(m.codecs, f.Codec) {
		return p, fmt.Errorf("codec %q was not measured; those were: %v", f.Codec, m.codecs)
	}
	if f.Walls && !m.walls {
		return p, fmt.Errorf("maps whose houses hide players were not measured")
	}
	for _, x := range inputs {
		if v, r := x.of(f), m.ranges[x.name]; v < r[0]*0.999 || v > r[1]*1.001 {
			p.Extrapolated = append(p.Extrapolated, fmt.Sprintf("%s: %g, measured %g to %g", x.name, math.Round(v*100)/100, math.Round(r[0]*100)/100, math.Round(r[1]*100)/100))
		}
	}
	by := m.laws(f)
	f = by.Facts
	f.Bytes *= m.nearBytes.factor(f)
	if f.Cap > 0 && f.Bytes > f.Cap {
		p.Squeezed, f.Bytes = true, f.Cap
	}
	f.Datagrams = (m.Outgoing.at(f, parcelFeatures) + math.Floor(f.Bytes*interval(f)/parcelBytes)) / interval(f)
	scale := m.nearCPU.factor(f)
	for _, st := range by.Stages {
		p.Stages = append(p.Stages, Stage{Name: st.Name, Mean: st.Mean * scale})
	}
	p.TickMicros = by.TickMicros * scale
	n := float64(f.PerLobby * f.Lobbies)
	p.Cores = p.TickMicros / 1e6 * float64(f.TickHz) * float64(f.Lobbies)
	p.KbpsDown, p.KbpsUp = f.Bytes*8/1000, m.Up.at(f, upFeatures)
	p.PacketsOut, p.PacketsIn = f.Datagrams*n, float64(f.TickHz)*n
	p.EgressMbps = (f.Bytes + OverIPv4*f.Datagrams) * 8 * n / 1e6
	p.MemoryMB = f.Memory / 1e6 * float64(f.Lobbies)
	p.Facts, p.Tail = f, m.Tail
	return p, nil
}

// Verdict is a prediction beside what was measured.
type Verdict struct {
	Scenario       string  `json:"scenario"`
	HeldOut        bool    `json:"held_out"`
	CPU            float64 `json:"cpu_us"`
	CPUPredicted   float64 `json:"cpu_predicted_us"`
	Bytes          float64 `json:"bytes"`
	BytesPredicted float64 `json:"bytes_predicted"`
}

// CPUError and BytesError are relative: 0.03 is 3 % too much.
func (v Verdict) CPUError() float64   { return v.CPUPredicted/v.CPU - 1 }
func (v Verdict) BytesError() float64 { return v.BytesPredicted/v.Bytes - 1 }

// Judge predicts a step that was measured.
func (m *Model) Judge(s Step) (Verdict, error) {
	p, err := m.Predict(*s.Facts)
	cpu := 0.0
	for _, st := range s.StageCPUMicros {
		cpu += st.Mean
	}
	return Verdict{Scenario: s.Facts.Scenario, CPU: cpu, CPUPredicted: p.TickMicros, Bytes: s.Facts.Bytes, BytesPredicted: p.Facts.Bytes}, err
}

// JudgeAll judges the model on all steps that were measured.
func (m *Model) JudgeAll(ms Measurements) (all []Verdict, err error) {
	for _, s := range ms.Steps {
		v, err := m.Judge(s.Step)
		if err != nil {
			return nil, err
		}
		v.HeldOut = s.HeldOut
		all = append(all, v)
	}
	return all, nil
}

// Worst is the largest error of CPU time and of bytes among verdicts of one kind, and the mean of their sizes.
func Worst(all []Verdict, heldOut bool) (cpu, bytes, meanCPU, meanBytes float64) {
	n := 0.0
	for _, v := range all {
		if v.HeldOut != heldOut {
			continue
		}
		c, b := math.Abs(v.CPUError()), math.Abs(v.BytesError())
		cpu, bytes = max(cpu, c), max(bytes, b)
		meanCPU, meanBytes, n = meanCPU+c, meanBytes+b, n+1
	}
	return cpu, bytes, meanCPU / max(n, 1), meanBytes / max(n, 1)
}
