package simbench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/metrics"
)

// Window is a part of a match that is measured: a time after the last client has joined.
type Window struct {
	Name       string
	From, Long time.Duration
}

// Windows are the opening of a match, as a live step measures it, and its steady state. Most
// players are alive in the opening, and a match is busiest then. Later deaths and respawns balance:
// in lobbies of 12 to 100 players about half are alive from 20 s on.
func Windows(s scenario.Scenario) []Window {
	long := time.Duration(s.Measure.Duration)
	opening := Window{"opening", time.Duration(s.Measure.Warmup), long}
	return []Window{opening, {"steady state", max(20*time.Second, opening.From+long), long}}
}

// Simulated is what a window of a match costs in virtual time, without its socket. Figures of ticks
// are those of one lobby; what its process does for all of them is divided among them.
type Simulated struct {
	Window       Window
	Tick         measure.Estimate // CPU time, µs
	Stages       []StageEstimate  // CPU time, µs
	Tail         float64          // p99 of a tick's CPU time, as a multiple of its mean
	BytesDown    measure.Estimate // to each client a second, UDP payload
	BytesUp      measure.Estimate // from each client a second
	DatagramsIn  float64          // a tick
	DatagramsOut float64          // a tick
	Traffic      []Traffic        // of each process, from the first repeat
}

// StageEstimate is the CPU time of one stage, µs a tick.
type StageEstimate struct {
	Name string `json:"name"`
	measure.Estimate
}

// Simulate plays matches of a scenario one after the other and measures them in windows, which must
// be in order. Repeats differ in their seeds. The lobbies of a match share one thread, on the first
// processor, as the servers of a live run share it; their clients run on the others. Measured ticks
// begin at their instants by the wall clock.
func Simulate(ctx context.Context, s scenario.Scenario, o Options, windows []Window,
	repeats int) ([]Simulated, error) {
	cpus := clock.CPUs()
	var onServer []int
	if len(cpus) >= 2 {
		onServer = cpus[:1]
	}
	thread := newCore(onServer)
	defer thread.stop()
	runs, result := make([][]sample, repeats), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: a thread that is pinned ends with its goroutine
		if len(cpus) >= 2 {
			_ = clock.SetThreadAffinity(cpus[1:])
		}
		for i := range repeats {
			one := s
			one.Play.Seed += uint64(i)
			each := o
			if o.Played != nil {
				each.Played = func(_ int, played, of time.Duration) { o.Played(i, played, of) }
			}
			var err error
			if runs[i], err = simulateOnce(ctx, one, each, windows, thread); err != nil {
				result <- err
				return
			}
		}
		result <- nil
	}()
	if err := <-result; err != nil {
		return nil, err
	}
	all := make([]Simulated, len(windows))
	for w := range windows {
		each := make([]sample, repeats)
		for i := range runs {
			each[i] = runs[i][w]
		}
		all[w] = sumUp(windows[w], each)
	}
	return all, nil
}

// warmTime is how long the tick of WarmTick is measured.
const warmTime = 3 * time.Second

// WarmTick returns the CPU time by stage of a tick of one lobby of a scenario, ms, where ticks follow
// one another at once: caches stay warm, and there are no system calls.
func WarmTick(ctx context.Context, s scenario.Scenario,
	brain func(n int) swarm.Brain) (stages []measure.Stage, err error) {
	s.Lobby.Lobbies = 1
	window := Window{"opening", time.Duration(s.Measure.Warmup), warmTime}
	all, err := Simulate(ctx, s, Options{Brain: brain, Warm: true}, []Window{window}, 1)
	if err != nil {
		return nil, err
	}
	for _, st := range all[0].Stages {
		stages = append(stages, measure.Stage{Name: st.Name, Mean: st.Mean / 1e3})
	}
	return stages, nil
}

// stepAll plays a tick of every process.
func stepAll(ctx context.Context, all []*process) error {
	for _, p := range all {
		if err := p.step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// processGaps are the times before each round of a tick, of one process of a scenario.
func processGaps(s scenario.Scenario) (all []time.Duration) {
	left, phases := tick.Rate(s.Rates.TickHz).Period(), 1
	if s.SharedProcess() {
		phases = slices.Max(host.Phases(s.Lobby.Lobbies)) + 1
	}
	period := left
	for range phases - 1 { // a step of the simulation ends with phase 0
		all = append(all, period/phaseParts)
		left -= period / phaseParts
	}
	return append(all, left)
}

// scaled are times divided by n.
func scaled(all []time.Duration, n int) []time.Duration {
	for i := range all {
		all[i] /= time.Duration(n)
	}
	return all
}

// phaseParts is the number of phases in a period, see host.Phases.
const phaseParts = 8

// newProcesses makes the processes of a scenario: one with all lobbies, or one for each.
func newProcesses(s scenario.Scenario, o Options) (all []*process, err error) {
	if s.SharedProcess() {
		p, err := newProcess(s, o, -1)
		return []*process{p}, err
	}
	for l := range s.Lobby.Lobbies {
		p, err := newProcess(s, o, l)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// lead is the time before a window in which ticks are paced already.
const lead = 500 * time.Millisecond

// sample is one repeat of one window.
type sample struct {
	tick, tail float64 // µs; p99 by mean
	stages     []float64
	down, up   float64 // bytes a client a second
	in, out    float64 // datagrams a tick
	traffic    []Traffic
}

// simulateOnce plays the lobbies of one repeat side by side, tick by tick.
func simulateOnce(ctx context.Context, s scenario.Scenario, o Options, windows []Window,
	thread *core) ([]sample, error) {
	o.Around = thread.do
	processes, err := newProcesses(s, o)
	if err != nil {
		return nil, err
	}
	hugepage.CollapseHeap(ctx, func() {}) // as serve does
	var all []sample
	played := 0 // ticks since all clients have joined
	step := func() error { return stepAll(ctx, processes) }
	limit := s.Ticks(s.Play.Arrival + scenario.Duration(15*time.Second))
	for ; slices.ContainsFunc(processes, (*process).joining); limit-- {
		if limit < 0 {
			return nil, errors.New("not all clients joined within 15 s of virtual time")
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	last := windows[len(windows)-1]
	period := tick.Rate(s.Rates.TickHz).Period()
	run := func(until time.Duration) error {
		for end := s.Ticks(scenario.Duration(until)); played < end; played++ {
			if err := step(); err != nil {
				return err
			}
			if o.Played != nil {
				o.Played(0, time.Duration(played)*period, last.From+last.Long)
			}
		}
		return nil
	}
	for _, w := range windows {
		thread.pace()
		if err := run(w.From - lead); err != nil {
			return nil, err
		}
		runtime.GC() // garbage of the set-up is not the window's
		if !o.Warm {
			// Processes take turns, each at a part of the period.
			thread.pace(scaled(processGaps(s), len(processes))...)
		}
		if err := run(w.From); err != nil {
			return nil, err
		}
		for _, p := range processes {
			p.begin()
		}
		if err := run(w.From + w.Long); err != nil {
			return nil, err
		}
		var sum sample
		for _, p := range processes {
			sum.add(p.end(w.Long), len(processes))
		}
		all = append(all, sum)
	}
	return all, nil
}

// sumUp makes estimates of repeats.
func sumUp(w Window, repeats []sample) Simulated {
	estimate := func(of func(sample) float64) measure.Estimate {
		var values []float64
		for _, r := range repeats {
			values = append(values, of(r))
		}
		return measure.EstimateOf(values)
	}
	s := Simulated{
		Window: w, Traffic: repeats[0].traffic,
		Tick:         estimate(func(r sample) float64 { return r.tick }),
		Tail:         estimate(func(r sample) float64 { return r.tail }).Mean,
		BytesDown:    estimate(func(r sample) float64 { return r.down }),
		BytesUp:      estimate(func(r sample) float64 { return r.up }),
		DatagramsIn:  estimate(func(r sample) float64 { return r.in }).Mean,
		DatagramsOut: estimate(func(r sample) float64 { return r.out }).Mean,
	}
	for i := range metrics.NumStages {
		s.Stages = append(s.Stages, StageEstimate{metrics.Stage(i).String(),
			estimate(func(r sample) float64 { return r.stages[i] })})
	}
	return s
}

// add adds a process to the mean of several.
func (s *sample) add(o sample, processes int) {
	each := 1 / float64(processes)
	if s.stages == nil {
		s.stages = make([]float64, len(o.stages))
	}
	for i, us := range o.stages {
		s.stages[i] += each * us
	}
	s.tick, s.tail = s.tick+each*o.tick, max(s.tail, o.tail)
	s.down, s.up, s.in, s.out = s.down+each*o.down, s.up+each*o.up, s.in+each*o.in, s.out+each*o.out
	s.traffic = append(s.traffic, o.traffic...)
}
