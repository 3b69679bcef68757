package httpapi

import (
	"net/http"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// AllLobbies names all lobbies of a host at once where a lobby has its ID.
const AllLobbies = "all"

// HostReport is the answer of GET /stats?lobby=all, since POST /stats/reset?lobby=all. Figures of
// the whole process (CPU, memory, garbage, socket) are the same in all lobbies.
type HostReport struct {
	Version int              `json:"version"`
	Loops   []LoopReport     `json:"loops"`   // of loops with several lobbies; empty for a lobby alone
	Lobbies []metrics.Report `json:"lobbies"` // by ID
}

// LoopReport is what a loop spends for all of its lobbies together: receiving, opening and sending.
// A call plays the lobbies of one phase.
type LoopReport struct {
	Calls uint64         `json:"calls"`
	Call  metrics.Spread `json:"call_us"` // time elapsed in a call, ticks of its lobbies included
	// CPU time of one call in 16, µs, without the ticks of its lobbies.
	Stages []metrics.StageCost `json:"stages"`
}

// yieldEvery is the pause between two lobbies: the figures of hundreds of lobbies take longer than
// a tick, on a processor that the loop needs.
const yieldEvery = time.Millisecond

// serveAll answers /stats and /stats/reset of all lobbies.
func (d *directory) serveAll(w http.ResponseWriter, r *http.Request) (served bool) {
	if r.URL.Query().Get("lobby") != AllLobbies {
		return false
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /stats":
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
		writeJSON(w, d.report())
	case "POST /stats/reset":
		d.reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		return false
	}
	return true
}

// process reads the figures of the process.
func (d *directory) process(lobbies []*LobbyPages) *process {
	var now process
	if len(lobbies) > 0 {
		now.read(lobbies[0].Hiccup)
	}
	return &now
}

// reset begins a new measurement of all lobbies.
func (d *directory) reset() {
	lobbies := d.Lobbies()
	now := d.process(lobbies)
	if d.Port != nil {
		d.Port.reset()
	}
	for _, p := range lobbies {
		p.stats.reset(now)
		time.Sleep(yieldEvery)
	}
}

// report sums all lobbies up.
func (d *directory) report() HostReport {
	lobbies := d.Lobbies()
	now := d.process(lobbies)
	r := HostReport{Version: Version, Loops: []LoopReport{}, Lobbies: []metrics.Report{}}
	if d.Port != nil {
		r.Loops = append(r.Loops, d.Port.loop())
	}
	for _, p := range lobbies {
		r.Lobbies = append(r.Lobbies, p.stats.report(now))
		time.Sleep(yieldEvery)
	}
	return r
}

// reset begins new figures of the calls.
func (p *PortFigures) reset() {
	p.Stats.Tick.Reset()
	for _, stage := range p.Stats.Stage {
		stage.Reset()
	}
}

// loop sums the calls up.
func (p *PortFigures) loop() LoopReport {
	r := LoopReport{Calls: uint64(p.Stats.Tick.Count()),
		Call: metrics.SpreadOf(p.Stats.Tick, time.Microsecond)}
	for i, stage := range p.Stats.Stage {
		r.Stages = append(r.Stages, metrics.StageCost{Name: metrics.Stage(i).String(),
			Spread: metrics.SpreadOf(stage, time.Microsecond)})
	}
	return r
}
