package httpapi

import (
	"net/http"
	"sync"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server/metrics"
)

// PortName names the figures of a shared UDP port where lobbies have their ID.
const PortName = "port"

// PortFigures are the figures of a UDP port that lobbies share: those of datagrams that belong to
// none of them, and those of the socket.
type PortFigures struct {
	Stats  *metrics.Stats
	Socket func() netio.Stats // of the UDP socket

	mu    sync.Mutex // guards since
	since totals     // at the last reset
}

// PortReport is the answer of GET /stats?lobby=port, since POST /stats/reset?lobby=port or
// lobby=all.
type PortReport struct {
	Version    int               `json:"version"`
	Counts     map[string]uint64 `json:"counts"`
	Drops      map[string]uint64 `json:"drops"`
	SocketLost uint64            `json:"socket_lost"` // datagrams
	Socket     netio.Stats       `json:"socket"`      // since the start
}

// totals reads all figures of the port.
func (p *PortFigures) totals() (t totals) {
	t.readStats(p.Stats)
	t.socket = p.Socket()
	return t
}

// report sums up since the last reset.
func (p *PortFigures) report() PortReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.totals()
	r := PortReport{Version: Version, Counts: map[string]uint64{}, Drops: map[string]uint64{},
		SocketLost: t.socketLost(&p.since), Socket: t.socket}
	for i := range t.count {
		if n := t.count[i] - p.since.count[i]; n > 0 {
			r.Counts[metrics.Count(i).String()] = n
		}
	}
	t.addDrops(r.Drops, &p.since)
	return r
}

// ofPort reports whether a request is about the shared port.
func (d *directory) ofPort(r *http.Request) bool {
	return d.Port != nil && r.URL.Query().Get("lobby") == PortName
}

// servePort answers /stats and /stats/reset of the shared port.
func (d *directory) servePort(w http.ResponseWriter, r *http.Request) (served bool) {
	if !d.ofPort(r) {
		return false
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /stats":
		writeJSON(w, d.Port.report())
	case "POST /stats/reset":
		d.Port.reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		return false
	}
	return true
}
