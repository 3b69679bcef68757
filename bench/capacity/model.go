package capacity

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Model says what a scenario costs without running it: what players do in it (habits), what each stage costs for that (laws), what each part
// of the bytes is long. All are of one lobby; several on a host cost as many times as much.
type Model struct {
	Machine  Machine          `json:"machine"`
	Commit   string           `json:"commit"`
	Virtual  bool             `json:"virtual"`  // no system calls are in its CPU time
	Steps    int              `json:"steps"`    // that it was fitted to
	Timed    int              `json:"timed"`    // of these, those with CPU times
	Stages   []Law            `json:"stages"`   // CPU µs a tick
	Snapshot Law              `json:"snapshot"` // bytes, where their parts were not measured
	Outgoing Law              `json:"outgoing"` // datagrams a snapshot, likewise
	Parts    []Law            `json:"parts"`    // of the bytes; none: not measured
	Codecs   map[string]Coder `json:"codecs"`
	Up       Law              `json:"up"`
	Memory   Law              `json:"memory"`
	Alive    Habit            `json:"alive"`
	Flights  Habit            `json:"flights"`  // of each player
	Launches Habit            `json:"launches"` // likewise, a second
	Turns    Habit            `json:"turns"`    // likewise
	Shots    Habit            `json:"shots"`    // likewise, a second
	Kills    Habit            `json:"kills"`    // likewise
	Sight    Habit            `json:"sight"`    // share of the others, where not everybody is seen
	Tail     float64          `json:"tail"`     // p99 of a tick's CPU time, as a multiple of its mean: the median of the steps

	parcel             parcel
	nearCPU, nearBytes nearby // what neighbours differ from the laws by

	ranges map[string][2]float64
	walls  bool
}

// Coder is what a codec's rows and the time to code them are beside those of the codec that most was measured with.
type Coder struct {
	Rows float64 `json:"rows"`
	Time float64 `json:"time"` // of the stage that codes, CodingStage
}

// CodingStage is the stage whose time depends on the codec.
const CodingStage = "snapshot"

// told is how many clients a snapshot goes to in a tick, and pairs how many rows those are asked about.
func told(f Facts) float64  { return clients(f) / float64(f.SendEvery) }
func pairs(f Facts) float64 { return told(f) * f.Visible }

// ruled is whether rows are chosen for each client, in place of shared blocks.
func ruled(f Facts) float64 {
	if f.Far > 0 || f.Walls {
		return 1
	}
	return 0
}

func interval(f Facts) float64 { return float64(f.SendEvery) / float64(f.TickHz) }

// stageFeatures are the a, b, c, d of a stage, and what else a tick does. Work of snapshots is done for the clients whose turn it is.
var stageFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"N", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"N·alive", func(f Facts) float64 { return float64(f.PerLobby) * f.Alive }},
	{"N·Hz", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.TickHz) / 100 }},
	{"N/every", told},
	{"N·V/every", func(f Facts) float64 { return pairs(f) * (1 - ruled(f)) }},
	{"N·V/every (chosen)", func(f Facts) float64 { return pairs(f) * ruled(f) }},
	{"N/every (chosen)", func(f Facts) float64 { return told(f) * ruled(f) }},
	{"N·N/every (chosen)", func(f Facts) float64 { return told(f) * float64(f.PerLobby) * ruled(f) }},
	{"shots", func(f Facts) float64 { return f.Shots }},
	{"flights", func(f Facts) float64 { return f.Flights }},
	{"N·flights/every", func(f Facts) float64 { return told(f) * f.Flights }},
	{"kB", func(f Facts) float64 { return f.Bytes * clients(f) / float64(f.TickHz) / 1000 }},
	{"datagrams", func(f Facts) float64 { return f.Datagrams * clients(f) / float64(f.TickHz) }},
	{"spectators", func(f Facts) float64 { return float64(f.Spectators) }},
	{"comings", func(f Facts) float64 { return f.Leaves * float64(f.PerLobby) / float64(f.TickHz) }},
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

var memoryFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"N", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"N·N", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.PerLobby) }},
	{"m²", func(f Facts) float64 { return sq(f.Side) }},
	{"spectators", func(f Facts) float64 { return float64(f.Spectators) }},
}

// FitModel fits a model to the measurements that are not held out. It refuses too few.
func FitModel(m Measurements) (Model, error) {
	model := Model{Machine: m.Machine, Commit: m.Commit, ranges: map[string][2]float64{}, Codecs: map[string]Coder{}}
	var fit lot
	for _, s := range m.Steps {
		if s.HeldOut {
			continue
		}
		if len(fit) > 0 && s.Facts.Virtual != fit[0].Facts.Virtual {
			return model, fmt.Errorf("steps of one kind, all in virtual time or all live: step %q is not as %q", s.Facts.Scenario, fit[0].Facts.Scenario)
		}
		fit = append(fit, s)
		model.note(*s.Facts)
	}
	if len(fit) < 4 {
		return model, fmt.Errorf("at least 4 steps that are not held out, got %d", len(fit))
	}
	model.Virtual, model.Steps = fit[0].Facts.Virtual, len(fit)
	model.learnHabits(fit)
	plain := fit.with(mainCodec(fit))
	model.learnBytes(plain)
	if err := model.learnTimes(plain); err != nil {
		return model, err
	}
	model.learnCodecs(fit)
	model.correct(fit)
	return model, nil
}

// lot is some of the measurements.
type lot []Measurement

// with are those of a codec.
func (l lot) with(codec string) (some lot) {
	for _, s := range l {
		if s.Facts.Codec == codec {
			some = append(some, s)
		}
	}
	return some
}

// mainCodec is the one that most was measured with.
func mainCodec(l lot) (best string) {
	counts := map[string]int{}
	for _, s := range l {
		if counts[s.Facts.Codec]++; counts[s.Facts.Codec] > counts[best] {
			best = s.Facts.Codec
		}
	}
	return best
}

// timed are the facts that a step's CPU times are of, and false if it has none.
func (s *Measurement) timed() (Facts, bool) {
	if len(s.StageCPUMicros) == 0 {
		return Facts{}, false
	}
	if s.Timed != nil {
		return *s.Timed, true
	}
	return *s.Facts, true
}

// told is whether the parts of a step's bytes were measured.
func (s *Measurement) hasParts() bool { return s.Facts.Parts.Sum() > 0 }

// each returns what of says of the facts of all.
func (l lot) each(of func(Facts) float64) (y []float64) {
	for _, s := range l {
		y = append(y, of(*s.Facts))
	}
	return y
}

func (l lot) facts() (all []Facts) {
	for _, s := range l {
		all = append(all, *s.Facts)
	}
	return all
}

// learnHabits learns what players do.
func (m *Model) learnHabits(fit lot) {
	unsure := fit.each(func(f Facts) float64 { return habitUnsure * f.Unsure })
	learn := func(name string, share bool, of func(Facts) float64) Habit {
		return newHabit(name, share, fit.facts(), fit.each(of), unsure, habitFeatures)
	}
	m.Alive = learn("alive", true, func(f Facts) float64 { return f.Alive })
	m.Flights = learn("flights", false, func(f Facts) float64 { return f.Flights / float64(f.PerLobby) })
	m.Launches = learn("launches", false, func(f Facts) float64 { return f.Launches / float64(f.PerLobby) })
	m.Turns = learn("turns", false, func(f Facts) float64 { return f.Turns / float64(f.PerLobby) })
	m.Shots = learn("shots", false, func(f Facts) float64 { return f.Shots * float64(f.TickHz) / float64(f.PerLobby) })
	m.Kills = learn("kills", false, func(f Facts) float64 { return f.Kills / float64(f.PerLobby) })
	var some lot
	for _, s := range fit {
		if ruled(*s.Facts) > 0 && s.Facts.PerLobby > 1 {
			some = append(some, s)
		}
	}
	m.Sight = newHabit("sight", true, some.facts(), some.each(func(f Facts) float64 { return min(f.Visible/float64(f.PerLobby-1), 0.999) }), make([]float64, len(some)), sightTerms)
}

// live works out what players come to do in a scenario.
func (m *Model) live(f *Facts) {
	n := float64(f.PerLobby)
	f.Alive, f.Flights = m.Alive.at(*f, habitFeatures), n*m.Flights.at(*f, habitFeatures)
	f.Launches, f.Turns = n*m.Launches.at(*f, habitFeatures), n*m.Turns.at(*f, habitFeatures)
	f.Shots, f.Kills = n*m.Shots.at(*f, habitFeatures)/float64(f.TickHz), n*m.Kills.at(*f, habitFeatures)
	f.Visible = n - 1
	if ruled(*f) > 0 {
		f.Visible *= m.Sight.at(*f, sightTerms)
	}
	f.Visible = (f.Visible*n + n*float64(f.Spectators)*f.Visible/max(n-1, 1)) / clients(*f) // who looks on sees its target, too
}

// learnBytes learns what is sent.
func (m *Model) learnBytes(plain lot) {
	var told lot
	for _, s := range plain {
		if s.hasParts() {
			told = append(told, s)
		}
	}
	if len(told) >= 4 {
		for _, l := range partLaws {
			y := told.each(func(f Facts) float64 { return *l.of(&f.Parts) * l.a(f) })
			m.Parts = append(m.Parts, fitLaw(l.name, "B", told.facts(), y, l.floor, l.features))
		}
		m.parcel = fitParcel(told.facts())
	}
	m.Snapshot = fitLaw("bytes of a snapshot", "B", plain.facts(), plain.each(func(f Facts) float64 { return f.Bytes * interval(f) }), 1, snapshotFeatures)
	m.Outgoing = fitLaw("datagrams of a snapshot", "", plain.facts(), plain.each(func(f Facts) float64 {
		return f.Datagrams*interval(f) - math.Floor(f.Bytes*interval(f)/parcelBytes)
	}), 0.1, parcelFeatures)
	var up []float64
	for _, s := range plain {
		up = append(up, s.KbpsUpPerClient)
	}
	m.Up = fitLaw("up", "kbit/s", plain.facts(), up, 0.1, upFeatures)
	var large lot
	for _, s := range plain {
		if s.Facts.Memory > 0 {
			large = append(large, s)
		}
	}
	m.Memory = fitLaw("memory", "B", large.facts(), large.each(func(f Facts) float64 { return f.Memory }), 1, memoryFeatures)
}

// learnTimes learns what stages cost.
func (m *Model) learnTimes(plain lot) error {
	var facts []Facts
	var names []string
	var tails []float64
	times := map[string][]float64{}
	for _, s := range plain {
		f, ok := s.timed()
		if !ok {
			continue
		}
		facts = append(facts, f)
		for _, st := range s.StageCPUMicros {
			if !slices.Contains(names, st.Name) {
				names = append(names, st.Name)
			}
			times[st.Name] = append(times[st.Name], st.Mean)
		}
		if s.TickCPUMillis.Mean > 0 {
			tails = append(tails, s.TickCPUMillis.P99/s.TickCPUMillis.Mean)
		}
	}
	m.Timed = len(facts)
	for _, name := range names {
		if len(times[name]) != len(facts) {
			return fmt.Errorf("every stage in every step: %q is in %d of %d", name, len(times[name]), len(facts))
		}
		m.Stages = append(m.Stages, fitLaw(name, "µs", facts, times[name], 0.5, stageFeatures))
	}
	if len(tails) > 0 {
		m.Tail = QuantilesOf(tails).P50
	}
	return nil
}

// learnCodecs learns by how much the rows of each codec are longer, and take longer, than the laws say.
func (m *Model) learnCodecs(fit lot) {
	main := mainCodec(fit)
	m.Codecs[main] = Coder{1, 1}
	for _, s := range fit {
		if _, known := m.Codecs[s.Facts.Codec]; known {
			continue
		}
		rows, time := mean{}, mean{}
		for _, o := range fit.with(s.Facts.Codec) {
			if len(m.Parts) > 0 && o.hasParts() {
				l := partLaws[rowsPart]
				rows.add(o.Facts.Parts.Rows * l.a(*o.Facts) / m.Parts[rowsPart].at(*o.Facts, l.features))
			}
			if f, ok := o.timed(); ok {
				for i, st := range o.StageCPUMicros {
					if st.Name == CodingStage && i < len(m.Stages) {
						time.add(st.Mean / m.Stages[i].at(f, stageFeatures))
					}
				}
			}
		}
		m.Codecs[s.Facts.Codec] = Coder{rows.of(), time.of()}
	}
}

// mean is a geometric one; that of nothing is 1.
type mean struct{ sum, n float64 }

func (m *mean) add(x float64) {
	if x > 0 && !math.IsInf(x, 0) {
		m.sum, m.n = m.sum+math.Log(x), m.n+1
	}
}

func (m *mean) of() float64 { return math.Exp(m.sum / max(m.n, 1)) }

// correct learns what the laws are off by where it was measured, what players did there taken as it was.
func (m *Model) correct(fit lot) {
	var cpu, bytes []offset
	note := func(all []offset, f Facts, measured, fitted, noise float64) []offset {
		if measured > 0 && fitted > 0 {
			all = append(all, offset{f, math.Log(measured / fitted), noise})
		}
		return all
	}
	for _, s := range fit {
		f := *s.Facts
		m.send(&f)
		bytes = note(bytes, f, s.Facts.Bytes, f.Bytes, nearbyNoise)
		if f, ok := s.timed(); ok {
			_, us := m.stages(f)
			cpu = note(cpu, f, s.stages(), us, 2*nearbyNoise)
		}
	}
	m.nearCPU, m.nearBytes = newNearby(coordinates, nearbySpread, cpu), newNearby(coordinates, nearbySpread, bytes)
}

// send works out bytes and datagrams by the laws alone, from what players do.
func (m *Model) send(f *Facts) {
	if len(m.Parts) > 0 {
		m.fill(f)
		return
	}
	f.Bytes = m.Snapshot.at(*f, snapshotFeatures) * m.coded(rowsPart, f.Codec) / interval(*f)
	f.Datagrams = (m.Outgoing.at(*f, parcelFeatures) + math.Floor(f.Bytes*interval(*f)/parcelBytes)) / interval(*f)
}

// stages works out CPU times by the laws alone, from what players do and what is sent.
func (m *Model) stages(f Facts) (all []Stage, sum float64) {
	for _, l := range m.Stages {
		us := l.at(f, stageFeatures)
		if l.Name == CodingStage {
			us *= m.Codecs[f.Codec].Time
		}
		all = append(all, Stage{Name: l.Name, Mean: us})
		sum += us
	}
	return all, sum
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
	{"spectators for each player", func(f Facts) float64 { return float64(f.Spectators) / float64(f.PerLobby) }},
	{"leaves a minute", func(f Facts) float64 { return f.Leaves }},
	{"s of delay", func(f Facts) float64 { return f.Delay }},
	{"lost datagrams", func(f Facts) float64 { return f.Loss }},
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
		return p, errors.New("CPU times, of which these measurements have none")
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

// Verdict is a prediction beside what was measured.
type Verdict struct {
	Scenario       string  `json:"scenario"`
	HeldOut        bool    `json:"held_out"`
	CPU            float64 `json:"cpu_us"`
	CPUPredicted   float64 `json:"cpu_predicted_us"`
	Bytes          float64 `json:"bytes"`
	BytesPredicted float64 `json:"bytes_predicted"`
	BytesUnsure    float64 `json:"bytes_unsure"` // standard error of Bytes, relative: matches differ
	CPUUnsure      float64 `json:"cpu_unsure"`   // likewise of CPU
}

// CPUError and BytesError are relative: 0.03 is 3 % too much.
func (v Verdict) CPUError() float64   { return v.CPUPredicted/v.CPU - 1 }
func (v Verdict) BytesError() float64 { return v.BytesPredicted/v.Bytes - 1 }

// Judge predicts a step that was measured.
func (m *Model) Judge(s Step) (Verdict, error) {
	p, err := m.Predict(*s.Facts)
	return Verdict{Scenario: s.Facts.Scenario, CPU: s.stages(), CPUPredicted: p.TickMicros, Bytes: s.Facts.Bytes, BytesPredicted: p.Facts.Bytes, BytesUnsure: s.Facts.Unsure,
		CPUUnsure: s.Facts.TimeUnsure}, err
}

// JudgeAll judges the model on all steps that were measured.
func (m *Model) JudgeAll(ms Measurements) (all []Verdict, err error) {
	for _, s := range ms.Steps {
		v, err := m.Judge(s.Step)
		if err != nil {
			return nil, err
		}
		v.HeldOut = s.HeldOut
		if s.Timed != nil {
			v.CPUUnsure = s.Timed.TimeUnsure
		}
		all = append(all, v)
	}
	return all, nil
}

// Worst is the largest error of CPU time and of bytes among verdicts of one kind, and the mean of their sizes. What was not timed says nothing
// of CPU time.
func Worst(all []Verdict, heldOut bool) (cpu, bytes, meanCPU, meanBytes float64) {
	n, timed := 0.0, 0.0
	for _, v := range all {
		if v.HeldOut != heldOut {
			continue
		}
		if v.CPU > 0 {
			c := math.Abs(v.CPUError())
			cpu, meanCPU, timed = max(cpu, c), meanCPU+c, timed+1
		}
		b := math.Abs(v.BytesError())
		bytes, meanBytes, n = max(bytes, b), meanBytes+b, n+1
	}
	return cpu, bytes, meanCPU / max(timed, 1), meanBytes / max(n, 1)
}

// Within counts the verdicts on what was held out, and of these those whose bytes and CPU time are off by no more than so much.
func Within(all []Verdict, cpuAim, bytesAim float64) (held, cpu, bytes int) {
	for _, v := range all {
		if !v.HeldOut {
			continue
		}
		held++
		if v.CPU > 0 && math.Abs(v.CPUError()) <= cpuAim {
			cpu++
		}
		if math.Abs(v.BytesError()) <= bytesAim {
			bytes++
		}
	}
	return held, cpu, bytes
}

// judgeBytes predicts the bytes of a step that was measured, whether there are CPU times or not.
func (m *Model) judgeBytes(s Measurement) Verdict {
	f := *s.Facts
	m.live(&f)
	m.send(&f)
	return Verdict{Scenario: f.Scenario, HeldOut: s.HeldOut, Bytes: s.Facts.Bytes, BytesPredicted: f.Bytes * m.nearBytes.factor(f), BytesUnsure: s.Facts.Unsure}
}
