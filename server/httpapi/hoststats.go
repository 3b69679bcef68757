package httpapi

import (
	"net/http"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// AllLobbies is the value of ?lobby= that means all lobbies of a host.
const AllLobbies = "all"

// HostReportType says what JSON a HostReport is.
const HostReportType = "stats-all"

// HostReport is the answer of GET /stats?lobby=all: figures since POST /stats/reset?lobby=all.
// Each lobby repeats those of the whole process (CPU, memory, garbage).
type HostReport struct {
	Type    string           `json:"type"` // HostReportType
	Version int              `json:"version"`
	Loops   []LoopReport     `json:"loops"`   // by worker; empty for a lobby alone
	Lobbies []metrics.Report `json:"lobbies"` // by ID
}

// LoopReport is what the loop of a worker spends for all of its lobbies together: receiving, opening
// and sending. In a call it plays the lobbies that are due at once.
type LoopReport struct {
	Calls uint64         `json:"calls"`
	Call  metrics.Spread `json:"call_ms"` // time elapsed in a call, ticks of its lobbies included
	// CPU time of a call without the ticks of its lobbies; of about one call in 16, drawn at random.
	Stages     []metrics.StageCost `json:"stages_ms"`
	SocketLost uint64              `json:"socket_lost"` // datagrams lost at the socket of the loop
}

// yieldEvery is the pause after the figures of each lobby. Those of hundreds of lobbies take longer
// than a tick, and the loop may need the processor.
const yieldEvery = time.Millisecond

// serveAll answers /stats?lobby=all and /stats/reset?lobby=all. served is false for other requests.
func (d *directory) serveAll(w http.ResponseWriter, r *http.Request) (served bool) {
	if r.URL.Query().Get("lobby") != AllLobbies {
		return false
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /stats":
		writeJSON(w, d.report())
	case "POST /stats/reset":
		d.reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		return false
	}
	return true
}

// machineOf is what the process of the lobbies measures of its machine.
func machineOf(lobbies []*LobbyPages) machine {
	if len(lobbies) == 0 {
		return machine{}
	}
	return lobbies[0].machine()
}

// reset begins a new measurement of all lobbies.
func (d *directory) reset() {
	lobbies, now := d.Lobbies(), process{}
	now.reset(machineOf(lobbies))
	d.resetPorts()
	for _, p := range lobbies {
		p.stats.reset(&now)
		time.Sleep(yieldEvery)
	}
	if d.Reset != nil {
		d.Reset()
	}
}

// report sums all lobbies up.
func (d *directory) report() HostReport {
	lobbies, now := d.Lobbies(), process{}
	now.read(machineOf(lobbies))
	r := HostReport{Type: HostReportType, Version: Version, Loops: []LoopReport{}, Lobbies: []metrics.Report{}}
	for _, p := range d.Ports {
		r.Loops = append(r.Loops, p.loop())
	}
	for _, p := range lobbies {
		r.Lobbies = append(r.Lobbies, p.stats.report(&now))
		time.Sleep(yieldEvery)
	}
	return r
}

// reset begins a new measurement of the port.
func (p *PortFigures) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = p.totals()
	p.Stats.Tick.Reset()
	for _, stage := range p.Stats.Stage {
		stage.Reset()
	}
}

// loop sums the calls up.
func (p *PortFigures) loop() LoopReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, calls := p.totals(), p.Stats.Tick.Summary()
	r := LoopReport{Calls: uint64(calls.Count), Call: metrics.SpreadOf(calls, time.Millisecond), SocketLost: now.socketLost(&p.since)}
	for i, stage := range p.Stats.Stage {
		r.Stages = append(r.Stages, metrics.StageCost{Name: metrics.Stage(i).String(),
			Spread: metrics.SpreadOf(stage.Summary(), time.Millisecond)})
	}
	return r
}
