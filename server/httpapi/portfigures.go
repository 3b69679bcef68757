package httpapi

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// PortName names the figures of a shared UDP port where lobbies have their ID. Those of one of
// several workers have its number behind that name.
const PortName = "port"

// portName names the figures of a worker's side of the port.
func portName(worker, workers int) string {
	if workers == 1 {
		return PortName
	}
	return PortName + strconv.Itoa(worker)
}

// PortFigures are the figures of one worker's side of a UDP port that lobbies share: those of
// datagrams that belong to none of them, and those of the socket.
type PortFigures struct {
	Stats  *metrics.Stats
	Socket func() netio.Stats // of the UDP socket

	Busy   func() float64 // share of a processor that the worker took in the last second, 0 to 1
	Moved  func() uint64  // lobbies given to other workers
	Handed func() server.HandOvers

	mu    sync.Mutex // guards since
	since totals     // at the last reset
}

// PortReport is the answer of GET /stats?lobby=port, since POST /stats/reset?lobby=port or
// lobby=all.
type PortReport struct {
	Type       string            `json:"type"` // "stats-port"
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

// sinceReset reads all figures of the port, and those at the last reset.
func (p *PortFigures) sinceReset() (now, since totals) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.totals(), p.since
}

// reportPorts sums the ports of all workers up since the last reset.
func reportPorts(ports []*PortFigures) PortReport {
	var t, since totals
	for _, p := range ports {
		now, before := p.sinceReset()
		t.add(&now)
		since.add(&before)
	}
	r := PortReport{Type: "stats-port", Version: Version, Counts: map[string]uint64{}, Drops: map[string]uint64{},
		SocketLost: t.socketLost(&since), Socket: t.socket}
	for i := range t.count {
		if n := t.count[i] - since.count[i]; n > 0 {
			r.Counts[metrics.Count(i).String()] = n
		}
	}
	t.addDrops(r.Drops, &since)
	return r
}

// add adds the figures of another port.
func (t *totals) add(o *totals) {
	addCounts(t.count[:], o.count[:])
	addCounts(t.auth[:], o.auth[:])
	addCounts(t.packets[:], o.packets[:])
	addCounts(t.chat[:], o.chat[:])
	t.socket.Add(&o.socket)
}

func addCounts(to, more []uint64) {
	for i, n := range more {
		to[i] += n
	}
}

// ofPort reports whether a request is about the shared port.
func (d *directory) ofPort(r *http.Request) bool {
	return len(d.Ports) > 0 && r.URL.Query().Get("lobby") == PortName
}

// servePort answers /stats and /stats/reset of the shared port.
func (d *directory) servePort(w http.ResponseWriter, r *http.Request) (served bool) {
	if !d.ofPort(r) {
		return false
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /stats":
		writeJSON(w, reportPorts(d.Ports))
	case "POST /stats/reset":
		d.resetPorts()
		w.WriteHeader(http.StatusNoContent)
	default:
		return false
	}
	return true
}

func (d *directory) resetPorts() {
	for _, p := range d.Ports {
		p.reset()
	}
}
