package simbench

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
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
// are those of one lobby.
type Simulated struct {
	Window       Window
	Tick         measure.Estimate // CPU time, µs
	Stages       []StageEstimate  // CPU time, µs
	Tail         float64          // p99 of a tick's CPU time, as a multiple of its mean
	BytesDown    measure.Estimate // to each client a second, UDP payload
	BytesUp      measure.Estimate // from each client a second
	DatagramsIn  float64          // a tick
	DatagramsOut float64          // a tick
	Traffic      []Traffic        // of each lobby, from the first repeat
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
			var err error
			if runs[i], err = simulateOnce(ctx, one, o, windows, thread); err != nil {
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

// stepAll plays a tick of every lobby.
func stepAll(ctx context.Context, lobbies []*lobby) error {
	for _, l := range lobbies {
		if err := l.step(); err != nil {
			return err
		}
	}
	return ctx.Err()
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
	var lobbies []*lobby
	o.Around = thread.do
	for l := range s.Lobby.Lobbies {
		one, err := newLobby(s, o, l)
		if err != nil {
			return nil, err
		}
		lobbies = append(lobbies, one)
	}
	hugepage.CollapseHeap(ctx, func() {}) // as serve does
	var all []sample
	played := 0 // ticks since all clients have joined
	step := func() error { return stepAll(ctx, lobbies) }
	limit := s.Ticks(s.Play.Arrival + scenario.Duration(15*time.Second))
	for ; slices.ContainsFunc(lobbies, (*lobby).joining); limit-- {
		if limit < 0 {
			return nil, errors.New("not all clients joined within 15 s of virtual time")
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	run := func(until time.Duration) error {
		for end := s.Ticks(scenario.Duration(until)); played < end; played++ {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, w := range windows {
		thread.pace(0)
		if err := run(w.From - lead); err != nil {
			return nil, err
		}
		runtime.GC() // garbage of the set-up is not the window's
		if !o.Warm {
			thread.pace(tick.Rate(s.Rates.TickHz).Period() / time.Duration(len(lobbies)))
		}
		if err := run(w.From); err != nil {
			return nil, err
		}
		for _, l := range lobbies {
			l.begin()
		}
		if err := run(w.From + w.Long); err != nil {
			return nil, err
		}
		var sum sample
		for _, l := range lobbies {
			sum.add(l.end(w.Long), len(lobbies))
		}
		all = append(all, sum)
	}
	return all, nil
}

// lobby is a match with its socket metered.
type lobby struct {
	*Match
	meter     meter
	s         scenario.Scenario
	connected int // clients that connected so far
	ticks     int
	read      time.Duration // CPU time of one read of the thread's clock
	counts    [metrics.NumCounts]uint64
	traffic   *Traffic // nil: nothing is recorded
}

// newLobby makes lobby number index of a scenario. Its clients connect over the arrival time.
func newLobby(s scenario.Scenario, o Options, index int) (*lobby, error) {
	l := &lobby{s: s, read: clockCost()}
	all, lobbies := o.Brain, s.Lobby.Lobbies
	if all == nil {
		all = Brains(s)
	}
	// Clients are assigned to lobbies as the swarm assigns its players.
	o.Brain = func(n int) swarm.Brain { return all(n*lobbies + index) }
	start := time.Now()
	o.Lobby = func(c *server.Config) {
		c.CPU, c.Clock = clock.ThreadCPU, func() time.Duration { return time.Since(start) }
	} // as a host
	o.Conn = func(c netio.Conn) netio.Conn { l.meter.Conn = c; return &l.meter }
	s.Play.Full = max(1, s.Play.Full/lobbies)
	var err error
	if l.Match, err = NewMatch(s, o); err != nil {
		return nil, err
	}
	l.meter.clients = map[netip.AddrPort]uint16{}
	for i := range l.Clients {
		l.meter.clients[l.ClientAddr(i)] = uint16(i)
		if s.Play.Arrival > 0 {
			l.Crash(i) // it connects in its turn
		}
	}
	return l, nil
}

// step connects the clients that are due, and plays a tick.
func (l *lobby) step() error {
	due := len(l.Clients)
	if arrival := l.s.Ticks(l.s.Play.Arrival); arrival > 0 {
		due = min(due, 1+len(l.Clients)*l.ticks/arrival)
		for ; l.connected < due; l.connected++ {
			if err := l.Connect(l.connected); err != nil {
				return err
			}
		}
	}
	l.ticks++
	if l.traffic != nil {
		l.traffic.Ticks = append(l.traffic.Ticks, TickTraffic{})
		l.meter.tick = &l.traffic.Ticks[len(l.traffic.Ticks)-1]
	}
	return l.Match.Step()
}

// joining reports whether a client is not in the match yet.
func (l *lobby) joining() bool {
	for i := range l.Clients {
		if !l.joined(i) {
			return true
		}
	}
	return false
}

// begin begins a window.
func (l *lobby) begin() {
	st := &l.Lobby.Stats
	st.Tick.Reset()
	for _, h := range st.Stage {
		h.Reset()
	}
	for i := range l.counts {
		l.counts[i] = st.Count[i].Load()
	}
	l.meter.receive, l.meter.send, l.meter.receives, l.meter.sends = 0, 0, 0, 0
	l.traffic = &Traffic{TickHz: l.s.Rates.TickHz, Clients: len(l.Clients)}
}

// end ends a window. The time in the socket's place, and that of measuring it, is taken out of the
// stages.
func (l *lobby) end(long time.Duration) sample {
	st := &l.Lobby.Stats
	ticks := float64(len(l.traffic.Ticks))
	perTick := func(d time.Duration) float64 { return float64(d) / 1e3 / ticks }
	calls := func(n int) time.Duration { return time.Duration(n) * l.read }
	count := func(c metrics.Count) float64 { return float64(st.Count[c].Load() - l.counts[c]) }
	s := sample{tick: st.Tick.Mean() / 1e3, tail: float64(st.Tick.Quantile(0.99)) / st.Tick.Mean()}
	sum := 0.0
	for _, h := range st.Stage {
		sum += h.Mean()
	}
	for _, h := range st.Stage {
		s.stages = append(s.stages, h.Mean()/sum*s.tick) // stages are timed in one tick of 16
	}
	m := &l.meter
	s.stages[metrics.StageReceive] -= perTick(m.receive + calls(m.receives))
	s.stages[metrics.StageSend] -= perTick(m.send + calls(m.sends))
	s.tick -= perTick(m.receive + m.send + calls(m.receives+m.sends))
	clients := float64(len(l.Clients)) * long.Seconds()
	s.down, s.up = count(metrics.BytesOut)/clients, count(metrics.BytesIn)/clients
	s.in, s.out = count(metrics.Received)/ticks, count(metrics.Sent)/ticks
	s.traffic = []Traffic{*l.traffic}
	l.traffic, m.tick = nil, nil
	return s
}

// add adds a lobby to the mean of several.
func (s *sample) add(o sample, lobbies int) {
	each := 1 / float64(lobbies)
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

// HeapBytes is what one lobby of a scenario takes of the heap, ready for its players.
func HeapBytes(s scenario.Scenario) (float64, error) {
	cfg, err := Lobby(s)
	if err != nil {
		return 0, err
	}
	cfg.Netcode = netcode.ServerConfig{ProtocolID: protocol.ProtocolID, PrivateKey: netcode.Key{1},
		Entropy: [32]byte{1}, AllowTokenReuse: true,
		Addresses: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:7913")}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := server.NewLobby(cfg)
	if err != nil {
		return 0, err
	}
	l.Reserve()
	l.PackContent()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(l)
	return max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc)), nil
}
