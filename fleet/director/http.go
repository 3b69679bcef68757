package director

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tickrate/tickrate/internal/web"
	"github.com/tickrate/tickrate/server/httpapi"
)

const (
	maxBody      = 4096             // of a request, in bytes
	matchTimeout = 20 * time.Second // of a request; a lobby may have to be made
	maxWaiting   = 256              // requests at a time
)

// Stats is the answer of GET /stats.
type Stats struct {
	Type       string            `json:"type"` // "stats-director"
	Version    int               `json:"version"`
	Hosts      int               `json:"hosts"`     // with a lease
	Available  int               `json:"available"` // of these, below their limit of load and not draining
	Rooms      int               `json:"rooms"`
	Players    int               `json:"players"`         // with a session or a promised place
	Busy       float64           `json:"busy"`            // sum of the shares that the busiest worker of each host took
	Arrivals   *int              `json:"arrivals_minute"` // players that joined in the last minute; null: a host does not say
	Matched    uint64            `json:"matched"`         // requests with a place
	Failed     uint64            `json:"failed"`          // requests without
	Made       uint64            `json:"made"`            // lobbies that hosts were asked for
	Conflict   uint64            `json:"conflict"`        // writes that another director was faster with
	Lost       uint64            `json:"lost"`            // hosts whose lease ended
	Announced  uint64            `json:"announced"`
	Refused    map[string]uint64 `json:"refused"` // announcements, by reason
	ServiceMax struct {
		Busy float64 `json:"busy"`
		Tick float64 `json:"tick_ms"`
	} `json:"limit"`
}

// Stats returns the figures of the director.
func (d *Director) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Stats{Type: "stats-director", Version: httpapi.Version, Hosts: len(d.index.hosts), Rooms: len(d.index.rooms),
		Matched: d.matched.Load(), Failed: d.failed.Load(), Made: d.made.Load(), Conflict: d.conflicts.Load(),
		Lost: d.lost.Load(), Announced: d.intake.taken.Load(), Refused: map[string]uint64{}}
	s.ServiceMax.Busy, s.ServiceMax.Tick = d.index.busy, d.index.tickUS/1000
	arrivals, told := 0, 0
	for _, h := range d.index.hosts {
		if h.Arrivals != nil {
			arrivals, told = arrivals+*h.Arrivals, told+1
		}
		s.Players += h.committed
		s.Busy += h.Busy
		if d.index.holdsLevel(h) {
			s.Available++
		}
	}
	if told > 0 && told == s.Hosts {
		s.Arrivals = &arrivals
	}
	for i := range refusals {
		s.Refused[refusals[i].name] = d.intake.refused[i].Load()
	}
	return s
}

// Pages returns the pages of the director.
func (d *Director) Pages() *http.ServeMux {
	mux := httpapi.NewMux(httpapi.Healthy, http.NotFound)
	waiting := make(chan struct{}, maxWaiting)
	mux.HandleFunc("POST /v1/match", func(w http.ResponseWriter, r *http.Request) {
		select {
		case waiting <- struct{}{}:
			defer func() { <-waiting }()
			d.serveMatch(w, r)
		default:
			fail(w, http.StatusServiceUnavailable, NoRoom("too many requests at a time: ask again"))
		}
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { httpapi.WriteJSON(w, d.Stats()) })
	mux.HandleFunc("GET /metrics", d.serveMetrics)
	return mux
}

// serveMatch answers 200 and an Answer, 400 for a request that makes no sense, 409 for a request_id of
// another request, 503 if there is no room now.
func (d *Director) serveMatch(w http.ResponseWriter, r *http.Request) {
	web.MayTake(w, matchTimeout)
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	var ask Ask
	if decoder.Decode(&ask) != nil || decoder.Decode(new(any)) != io.EOF {
		fail(w, http.StatusBadRequest, fmt.Errorf(`%w: expected {"request_id": "m-1", "players": 5, `+
			`"map": "arena-16", "mode": "deathmatch"}`, ErrAsk))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), matchTimeout)
	defer cancel()
	w.Header().Set("Cache-Control", "no-store")
	answer, err := d.Match(ctx, ask)
	if err == nil {
		d.matched.Inc()
		httpapi.WriteJSON(w, answer)
		return
	}
	d.failed.Inc()
	switch {
	case errors.Is(err, ErrAsk):
		fail(w, http.StatusBadRequest, err)
	case errors.Is(err, ErrChanged):
		fail(w, http.StatusConflict, err)
	default:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, err)
	}
}

// fail answers why a request has failed.
func fail(w http.ResponseWriter, status int, why error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why.Error()}) // the reader may be gone
}

// serveMetrics answers a scrape in the text format of Prometheus.
func (d *Director) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	s := d.Stats()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	one := func(name, kind, help string, value uint64) {
		name = "tickrate_director_" + name
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", name, help, name, kind, name, value)
	}
	one("hosts", "gauge", "Hosts with a lease.", uint64(s.Hosts))
	one("hosts_available", "gauge", "Hosts that get players.", uint64(s.Available))
	one("rooms", "gauge", "Lobbies of the fleet.", uint64(s.Rooms))
	one("players", "gauge", "Players with a session or a promised place.", uint64(s.Players))
	if s.Arrivals != nil {
		one("arrivals_minute", "gauge", "Players that joined in the last minute.", uint64(*s.Arrivals))
	}
	one("matches_total", "counter", "Requests with a place.", s.Matched)
	one("matches_failed_total", "counter", "Requests without a place.", s.Failed)
	one("lobbies_made_total", "counter", "Lobbies that hosts were asked for.", s.Made)
	one("conflicts_total", "counter", "Writes that another director was faster with.", s.Conflict)
	one("hosts_lost_total", "counter", "Hosts whose lease ended.", s.Lost)
	one("announcements_total", "counter", "Announcements taken.", s.Announced)
	fmt.Fprint(w, "# HELP tickrate_director_refused_total Announcements refused, by reason.\n"+
		"# TYPE tickrate_director_refused_total counter\n")
	for _, r := range refusals {
		fmt.Fprintf(w, "tickrate_director_refused_total{reason=%q} %d\n", r.name, s.Refused[r.name])
	}
}
