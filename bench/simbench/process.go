package simbench

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// process is a server process in virtual time, with its socket metered: one lobby alone, or several
// on one port.
type process struct {
	*Match
	lobbies []*server.Lobby
	port    *metrics.Stats // of the shared port; nil: the lobby is alone
	meter   meter
	s       scenario.Scenario

	connected int // clients that connected so far
	ticks     int
	read      time.Duration // CPU time of one read of the thread's clock
	spent     time.Duration // CPU time of the rounds in this window
	counts    [metrics.NumCounts]uint64
	traffic   *Traffic // nil: nothing is recorded
}

// newProcess makes the process of lobby number index of a scenario, or that of all lobbies if index is
// negative. Its clients connect over the arrival time.
func newProcess(s scenario.Scenario, o Options, index int) (p *process, err error) {
	p = &process{s: s, read: clockCost()}
	p.meter.clients = map[netip.AddrPort]uint16{}
	start := time.Now()
	o.Lobby = func(c *server.Config) {
		c.CPU, c.Clock = clock.ThreadCPU, func() time.Duration { return time.Since(start) }
	} // as a host
	o.Conn = func(c netio.Conn) netio.Conn { p.meter.Conn = c; return &p.meter }
	around := o.Around
	o.Around = func(round func() error) error { return around(func() error { return p.play(round) }) }
	if index < 0 {
		var shared *portLobbies
		if p.Match, shared, err = newPortMatch(s, o); err != nil {
			return nil, err
		}
		p.lobbies, p.port = shared.lobbies, &shared.stats
	} else {
		all, lobbies := o.Brain, s.Lobby.Lobbies
		if all == nil {
			all = Brains(s)
		}
		// Clients are assigned to lobbies as the swarm assigns its players.
		o.Brain = func(n int) swarm.Brain { return all(n*lobbies + index) }
		s.Play.Full = max(1, s.Play.Full/lobbies)
		if p.Match, err = NewMatch(s, o); err != nil {
			return nil, err
		}
		p.lobbies = []*server.Lobby{p.Lobby}
	}
	for i := range p.Clients {
		p.meter.clients[p.ClientAddr(i)] = uint16(i)
		if s.Play.Arrival > 0 {
			p.Crash(i) // it connects in its turn
		}
	}
	return p, nil
}

// play measures a round, and records its datagrams.
func (p *process) play(round func() error) error {
	if p.traffic != nil {
		p.traffic.Rounds = append(p.traffic.Rounds, Round{})
		p.meter.round = &p.traffic.Rounds[len(p.traffic.Rounds)-1]
	}
	from := clock.ThreadCPU()
	err := round()
	p.spent += clock.ThreadCPU() - from
	return err
}

// step connects the clients that are due, and plays a tick.
func (p *process) step() error {
	due := len(p.Clients)
	if arrival := p.s.Ticks(p.s.Play.Arrival); arrival > 0 {
		due = min(due, 1+len(p.Clients)*p.ticks/arrival)
		for ; p.connected < due; p.connected++ {
			if err := p.Connect(p.connected); err != nil {
				return err
			}
		}
	}
	p.ticks++
	return p.Match.Step()
}

// joining reports whether a client is not in the match yet.
func (p *process) joining() bool {
	for i := range p.Clients {
		if !p.joined(i) {
			return true
		}
	}
	return false
}

// all are the figures of the lobbies and of their port.
func (p *process) all() (all []*metrics.Stats) {
	for _, l := range p.lobbies {
		all = append(all, &l.Stats)
	}
	if p.port != nil {
		all = append(all, p.port)
	}
	return all
}

// count is a count of all lobbies and their port.
func (p *process) count(c metrics.Count) (sum uint64) {
	for _, st := range p.all() {
		sum += st.Count[c].Load()
	}
	return sum
}

// begin begins a window.
func (p *process) begin() {
	for _, st := range p.all() {
		st.Tick.Reset()
		for _, h := range st.Stage {
			h.Reset()
		}
	}
	for i := range p.counts {
		p.counts[i] = p.count(metrics.Count(i))
	}
	p.meter.receive, p.meter.send, p.meter.receives, p.meter.sends, p.spent = 0, 0, 0, 0, 0
	p.traffic = &Traffic{Clients: len(p.Clients)}
}

// end ends a window. The time in the socket's place, and that of measuring it, is taken out of the
// stages.
func (p *process) end(long time.Duration) sample {
	p.traffic.Gaps = processGaps(p.s)
	ticks := float64(p.traffic.ticks() * len(p.lobbies))
	perTick := func(d time.Duration) float64 { return float64(d) / 1e3 / ticks }
	calls := func(n int) time.Duration { return time.Duration(n) * p.read }
	count := func(c metrics.Count) float64 { return float64(p.count(c) - p.counts[c]) }
	s := sample{tick: perTick(p.spent), stages: p.stages()}
	for _, l := range p.lobbies {
		s.tail = max(s.tail, float64(l.Stats.Tick.Quantile(0.99))/max(1, l.Stats.Tick.Mean()))
	}
	sum := 0.0
	for _, us := range s.stages {
		sum += us
	}
	for i := range s.stages {
		s.stages[i] *= s.tick / sum // stages are timed in one tick of 16
	}
	m := &p.meter
	s.stages[metrics.StageReceive] -= perTick(m.receive + calls(m.receives))
	s.stages[metrics.StageSend] -= perTick(m.send + calls(m.sends))
	s.tick -= perTick(m.receive + m.send + calls(m.receives+m.sends))
	clients := float64(len(p.Clients)) * long.Seconds()
	s.down, s.up = count(metrics.BytesOut)/clients, count(metrics.BytesIn)/clients
	s.in, s.out = count(metrics.Received)/ticks, count(metrics.Sent)/ticks
	s.traffic = []Traffic{*p.traffic}
	p.traffic, m.round = nil, nil
	return s
}

// stages are the mean times of the stages of a lobby's tick, with its part of the port's.
func (p *process) stages() (us []float64) {
	us = make([]float64, metrics.NumStages)
	rounds := float64(len(p.traffic.Rounds)) / float64(p.traffic.ticks())
	each := 1 / float64(len(p.lobbies)) / 1e3
	for _, st := range p.all() {
		for i, h := range st.Stage {
			if st == p.port {
				us[i] += h.Mean() * rounds * each
			} else {
				us[i] += h.Mean() * each
			}
		}
	}
	return us
}
