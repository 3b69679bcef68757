package capacity

import (
	"fmt"
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
	Alive    Habit            `json:"alive"`    // share of players
	Launches Habit            `json:"launches"` // of each who is alive, a second
	Flights  Habit            `json:"flights"`  // s that one lasts
	Turns    Habit            `json:"turns"`    // of each flight
	Shots    Habit            `json:"shots"`    // of each who is alive, a second
	Kills    Habit            `json:"kills"`    // likewise
	Sight    Habit            `json:"sight"`    // share of enemies, where not everybody is seen
	Absent   float64          `json:"absent"`   // s after one leaves until others see who came for him
	Tail     float64          `json:"tail"`     // p99 of a tick's CPU time, as a multiple of its mean: the median of the steps

	parcel             parcel
	nearCPU, nearBytes nearby // what neighbours differ from the laws by

	ranges map[string][2]float64
	walls  bool
}

// Coder is what a codec's rows take, and the time to code them, in terms of what those of the codec take that most was measured with, and of how many rows
// there are. That codec itself has none.
type Coder struct {
	Rows Law `json:"rows"` // bytes of a snapshot
	Time Law `json:"time"` // µs a tick, of the stage that codes, CodingStage
}

// CodingStage is the stage whose time depends on the codec.
const CodingStage = "snapshot"

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
		f := s.Facts.sighted()
		s.Facts = &f
		fit = append(fit, s)
		model.note(f)
	}
	if len(fit) < 4 {
		return model, fmt.Errorf("at least 4 steps that are not held out, got %d", len(fit))
	}
	model.Virtual, model.Steps = fit[0].Facts.Virtual, len(fit)
	first := fit.firstSeconds() // of which there are many; what the long run differs by from the laws of those is learned behind them
	model.learnHabits(first)
	plain := first.with(mainCodec(first))
	model.learnBytes(plain)
	if err := model.learnTimes(first); err != nil {
		return model, err
	}
	model.learnCodecs(first)
	model.correct(fit)
	return model, nil
}

// learnHabits learns what players do.
func (m *Model) learnHabits(fit lot) {
	for i, h := range m.habits() {
		*h = newHabit(&habits[i], fit)
	}
	missing, left := 0.0, 0.0
	for _, s := range fit {
		if f := s.Facts; !f.hides() && f.Leaves > 0 && f.PerLobby > 1 {
			missing, left = missing+1-f.Visible/float64(f.PerLobby-1), left+f.Leaves/60
		}
	}
	if left > 0 {
		m.Absent = missing / left
	}
}

// habits are a model's, in the order of habits.
func (m *Model) habits() [numHabits]*Habit {
	return [...]*Habit{&m.Alive, &m.Launches, &m.Shots, &m.Kills, &m.Flights, &m.Turns, &m.Sight}
}

// alive is how many players are, of one lobby; where that was not measured, all.
func alive(f Facts) float64 {
	if f.Alive <= 0 {
		return float64(f.PerLobby)
	}
	return float64(f.PerLobby) * f.Alive
}

// live works out what players come to do in a scenario.
func (m *Model) live(f *Facts) {
	f.Alive = m.Alive.at(*f)
	living := alive(*f)
	f.Launches, f.Kills = living*m.Launches.at(*f), living*m.Kills.at(*f)
	f.Shots = living * m.Shots.at(*f) / float64(f.TickHz)
	f.Flights, f.Turns = f.Launches*m.Flights.at(*f), f.Launches*m.Turns.at(*f)
	if f.Visible = float64(f.PerLobby-1) * (1 - m.Absent*f.Leaves/60); f.hides() {
		f.Visible = visible(*f, m.Sight.at(*f))
	}
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

// learnTimes learns what stages cost. What codes costs what the codec makes it: its law is of the main one, and those of the others are in terms of that.
func (m *Model) learnTimes(fit lot) error {
	main := mainCodec(fit)
	var facts []Facts
	var names []string
	var tails []float64
	times := map[string][]float64{}
	for _, s := range fit {
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
		of, us := facts, times[name]
		if name == CodingStage {
			of, us = withCodec(main, facts, us)
		}
		m.Stages = append(m.Stages, fitWeighed(name, "µs", of, us, timeWeights(of), 0.5, featuresOf(name)))
	}
	if len(tails) > 0 {
		m.Tail = QuantilesOf(tails).P50
	}
	return nil
}

// timeWeights are what timings count for in a law: one that is not known any better for its matches than laws are for all else counts for less.
func timeWeights(facts []Facts) (all []float64) {
	for _, f := range facts {
		all = append(all, 1/math.Hypot(1, f.TimeUnsure/lawNoise))
	}
	return all
}

// lawNoise is by how much laws and timings differ, relative, where matches leave a timing sure.
const lawNoise = 0.02

// withCodec are the facts of a codec, and what goes with them.
func withCodec(codec string, facts []Facts, y []float64) (some []Facts, of []float64) {
	for i, f := range facts {
		if f.Codec == codec {
			some, of = append(some, f), append(of, y[i])
		}
	}
	return some, of
}

// learnCodecs learns what the rows of the other codecs take, and the time to code them.
func (m *Model) learnCodecs(fit lot) {
	main := mainCodec(fit)
	m.Codecs[main] = Coder{}
	for _, s := range fit {
		codec := s.Facts.Codec
		if _, known := m.Codecs[codec]; known {
			continue
		}
		var told, timed []Facts
		var rows, times []float64
		for _, o := range fit.with(codec) {
			if byHuffman(o.Facts.sighted()) > mostByHuffman {
				continue
			}
			if len(m.Parts) > 0 && o.hasParts() {
				told, rows = append(told, *o.Facts), append(rows, o.Facts.Parts.Rows*interval(*o.Facts))
			}
			if f, ok := o.timed(); ok {
				for _, st := range o.StageCPUMicros {
					if st.Name == CodingStage {
						timed, times = append(timed, f), append(times, st.Mean)
					}
				}
			}
		}
		few := func(all []feature, points int) []feature { return all[:min((points+1)/2, len(all))] } // few lessons tell little apart
		m.Codecs[codec] = Coder{
			fitLaw("rows in "+codec, "B", told, rows, 1, few(m.coderRows(), len(told))),
			fitWeighed(CodingStage+" in "+codec, "µs", timed, times, timeWeights(timed), 1, few(m.coderTimes(), len(timed))),
		}
	}
}

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
		bytes = note(bytes, f, s.Facts.Bytes, f.Bytes, math.Hypot(nearbyNoise, bytesNoise*f.Unsure))
		if f, ok := s.timed(); ok {
			_, us := m.stages(f)
			cpu = note(cpu, f, s.stages(), us, math.Hypot(2*nearbyNoise, f.TimeUnsure))
		}
	}
	m.nearCPU, m.nearBytes = newNearby(coordinates, nearbySpread, cpu), newNearby(coordinates, bytesSpread, bytes)
}

// send works out bytes and datagrams by the laws alone, from what players do.
func (m *Model) send(f *Facts) {
	*f = f.sighted()
	if len(m.Parts) > 0 {
		m.fill(f)
		return
	}
	f.Bytes = m.Snapshot.at(*f, snapshotFeatures) / interval(*f)
	f.Datagrams = (m.Outgoing.at(*f, parcelFeatures) + math.Floor(f.Bytes*interval(*f)/parcelBytes)) / interval(*f)
}

// stages works out CPU times by the laws alone, from what players do and what is sent.
func (m *Model) stages(f Facts) (all []Stage, sum float64) {
	for _, l := range m.Stages {
		us := l.at(f, featuresOf(l.Name))
		if l.Name == CodingStage {
			us = coded(f, us, ticksByHuffman(f), m.Codecs[f.Codec].Time, m.coderTimes())
		}
		all = append(all, Stage{Name: l.Name, Mean: us})
		sum += us
	}
	return all, sum
}
