package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// hosts are the server processes of a step, one for each lobby, and the bad network before them.
type hosts struct {
	all    []*child
	at     []netip.AddrPort // where players dial
	mints  []*tickets
	looks  []*tickets // of who looks on
	ctx    context.Context
	cancel context.CancelFunc
	lines  []chan error // of the proxies, until they end
}

// open starts a process for every lobby of a scenario.
func (r *rig) open(ctx context.Context, sc scenario.Scenario) (h *hosts, err error) {
	h = &hosts{}
	h.ctx, h.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			h.stop()
		}
	}()
	link, err := impair.ParseProfile(sc.Network.Link)
	if err != nil {
		return nil, err
	}
	for range sc.Lobby.Lobbies {
		c, err := r.start(sc)
		if err != nil {
			return nil, err
		}
		h.all = append(h.all, c)
		mint := netcode.Mint{ProtocolID: uint64(defaultProtocol), TimeoutSeconds: server.DefaultTimeoutSeconds, Servers: []netip.AddrPort{c.udp}}
		play, err := mintedTickets(c.key, mint)
		if err != nil {
			return nil, err
		}
		look, err := mintedTickets(c.key, marked(mint, true))
		if err != nil {
			return nil, err
		}
		h.mints, h.looks = append(h.mints, play), append(h.looks, look)
		at := c.udp
		if link != (impair.Profile{}) {
			if at, err = h.line(c.udp, link, sc); err != nil {
				return nil, err
			}
		}
		h.at = append(h.at, at)
	}
	return h, nil
}

// line puts a bad network before a server, until the hosts stop.
func (h *hosts) line(to netip.AddrPort, link impair.Profile, sc scenario.Scenario) (netip.AddrPort, error) {
	p, err := impair.NewProxy(impair.ProxyConfig{To: to.String(), Up: link, Down: link, Seed: sc.Play.Seed + uint64(len(h.at)), Clients: sc.Lobby.Players + sc.Lobby.Spectators + 8})
	if err != nil {
		return netip.AddrPort{}, err
	}
	done := make(chan error, 1)
	h.lines = append(h.lines, done)
	go func() { done <- p.Run(h.ctx) }()
	return p.Addr(), nil
}

func (h *hosts) stop() {
	for _, c := range h.all {
		c.stop()
	}
	h.cancel()
	for _, done := range h.lines {
		<-done // what a proxy complains of at its end is nobody's loss
	}
}

// reset begins new figures everywhere, beside the swarm.
func (h *hosts) reset(ctx context.Context) <-chan error {
	var each []<-chan error
	for _, c := range h.all {
		each = append(each, c.reset(ctx))
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for _, one := range each {
			err = errors.Join(err, <-one)
		}
		done <- err
	}()
	return done
}

// stats asks every server for its figures.
func (h *hosts) stats(ctx context.Context) (all []metrics.Report, err error) {
	for _, c := range h.all {
		rep, err := c.stats(ctx)
		if err != nil {
			return nil, err
		}
		rep.HeapBytes = max(rep.HeapBytes, residentBytes(c.cmd.Process.Pid))
		all = append(all, rep)
	}
	return all, nil
}

// residentBytes is the memory of a process, 0 where that cannot be told.
func residentBytes(pid int) uint64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kB << 10
		}
	}
	return 0
}

// merged is the report of several lobbies as if they were one: what is counted adds up, mean times are means, and of the rest the worst
// lobby's count. A tick is that of one lobby. The reports stay as they are.
func merged(all []metrics.Report) metrics.Report {
	m := all[0]
	m.Counts, m.Stages = maps.Clone(m.Counts), slices.Clone(m.Stages)
	if m.Hiccup != nil {
		m.Hiccup = new(*m.Hiccup)
	}
	for _, r := range all[1:] {
		m.CPUSeconds, m.TicksSkipped, m.Overruns, m.Allocs, m.GCs = m.CPUSeconds+r.CPUSeconds, m.TicksSkipped+r.TicksSkipped, m.Overruns+r.Overruns, m.Allocs+r.Allocs, m.GCs+r.GCs
		m.SocketLost, m.HeapBytes = m.SocketLost+r.SocketLost, m.HeapBytes+r.HeapBytes
		m.Seconds = max(m.Seconds, r.Seconds)
		for name, n := range r.Counts {
			m.Counts[name] += n
		}
		worse(&m.TickCPU, r.TickCPU)
		worse(&m.TickWall, r.TickWall)
		worse(&m.Lateness, r.Lateness)
		worse(&m.LatenessRaw, r.LatenessRaw)
		if m.Hiccup != nil && r.Hiccup != nil {
			worse(m.Hiccup, *r.Hiccup)
		}
		for i := range m.Stages {
			worse(&m.Stages[i].Spread, r.Stages[i].Spread)
		}
	}
	each := 1 / float64(len(all))
	for _, s := range []*metrics.Spread{&m.TickCPU, &m.TickWall, &m.Lateness, &m.LatenessRaw} {
		s.Mean *= each
	}
	for i := range m.Stages {
		m.Stages[i].Mean *= each
	}
	if m.Hiccup != nil {
		m.Hiccup.Mean *= each
	}
	return m
}

// worse takes the larger of each quantile; means add up.
func worse(s *metrics.Spread, with metrics.Spread) {
	s.P50, s.P99, s.P999, s.Max = max(s.P50, with.P50), max(s.P99, with.P99), max(s.P999, with.P999), max(s.Max, with.Max)
	s.Mean += with.Mean
}

// factsOf is what a live step was measured on.
func factsOf(sc scenario.Scenario, step capacity.Step, reports []metrics.Report, f *swarm.Figures) *capacity.Facts {
	lobbies := float64(len(reports))
	ticks := max(reports[0].Seconds*float64(reports[0].Rate), 1) * lobbies
	var shots, memory float64
	for _, r := range reports {
		shots += float64(r.Counts[metrics.Shots.String()])
		memory += float64(r.HeapBytes)
	}
	out := asked(sc)
	out.Lobbies = len(reports)
	out.Visible, out.Shots = float64(f.Seen)/float64(max(f.Looks, 1)), shots/ticks
	out.Bytes, out.Memory = step.KbpsDownPerClient*125, memory/lobbies
	out.Datagrams = step.DatagramsOutPerTick * float64(sc.Rates.TickHz) / float64(sc.Total()+sc.Lookers())
	return &out
}

// sideOf is the edge of a scenario's map, in metres; 0 if there is no such map, which somebody else will say.
func sideOf(sc scenario.Scenario) float64 {
	a, err := openArena(fmt.Sprintf("%s:%d:%d", sc.Lobby.Map, sc.Ground(sc.Lobby.Players), sc.Play.Seed))
	if err != nil {
		return 0
	}
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	return float64(max(size.X, size.Z))
}
