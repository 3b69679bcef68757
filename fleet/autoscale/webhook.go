package autoscale

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	maxReview   = 64 << 10         // bytes of a request
	maxStats    = 1 << 20          // bytes of a director's answer
	askTimeout  = 2 * time.Second  // of a director
	watchEvery  = 5 * time.Second  // between two questions to it
	reportValid = 30 * time.Second // since a director has answered
)

// Webhook answers the requests of a FleetAutoscaler of Agones:
//
//	POST {"request": {"uid": "u", "name": "n", "namespace": "ns", "status": {"replicas": 3,
//	      "readyReplicas": 1, "reservedReplicas": 0, "allocatedReplicas": 2}}}
//	200  {"response": {"uid": "u", "scale": true, "replicas": 4}}
//
// Any number of goroutines may use it.
type Webhook struct {
	director string // URL
	http     http.Client
	log      *slog.Logger
	start    time.Time

	mu      sync.Mutex // guards the fields below
	policy  *Policy
	report  *Report // nil: none yet
	at      time.Time
	silent  bool // the director has not answered the last question
	refused error
	stats   WebhookStats
}

// WebhookStats is the answer of GET /stats.
type WebhookStats struct {
	Version  int    `json:"version"`
	Answered uint64 `json:"answered"`
	Blind    uint64 `json:"blind"`   // of these, without figures of the hosts: as many hosts as there were
	Refused  uint64 `json:"refused"` // requests that were none
	Lies     uint64 `json:"lies"`    // figures of hosts that cannot be
	Replicas int    `json:"replicas"`
}

// NewWebhook returns a handler that asks the director at a URL, once Watch runs.
func NewWebhook(cfg Config, director string, log *slog.Logger) (*Webhook, error) {
	policy, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &Webhook{director: director, log: log, start: time.Now(), policy: policy,
		stats: WebhookStats{Version: 1}}, nil
}

// Watch asks the director for the figures of the hosts until ctx ends.
func (w *Webhook) Watch(ctx context.Context) {
	defer w.http.CloseIdleConnections()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		r, err := w.ask(ctx)
		w.mu.Lock()
		if err == nil {
			w.report, w.at = r, time.Now()
		}
		if silent := err != nil; silent != w.silent && ctx.Err() == nil {
			w.silent = silent
			if silent {
				w.log.Warn("no answer of the director", "err", err)
			} else {
				w.log.Info("the director answers again")
			}
		}
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ask reads the figures of a director.
func (w *Webhook) ask(ctx context.Context) (*Report, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", w.director+"/stats", nil)
	if err != nil {
		return nil, err
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s: expected 200", resp.Status)
	}
	var s struct {
		Hosts, Players *int
		Busy           float64
		Arrivals       *int `json:"arrivals_minute"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxStats)).Decode(&s)
	if err != nil || s.Hosts == nil || s.Players == nil {
		return nil, fmt.Errorf("no figures of a director: %w", err)
	}
	r := &Report{Hosts: *s.Hosts, Players: *s.Players, Busy: s.Busy}
	if s.Arrivals != nil {
		r.Arrivals = *s.Arrivals
	}
	return r, nil
}

// review is a request of a FleetAutoscaler, as far as it matters here.
type review struct {
	Request *struct {
		UID    string `json:"uid"`
		Status Fleet  `json:"status"`
	} `json:"request"`
}

// reply is the answer to a review.
type reply struct {
	Response struct {
		UID      string `json:"uid"`
		Scale    bool   `json:"scale"`
		Replicas int    `json:"replicas"`
	} `json:"response"`
}

// ServeHTTP answers one request, and GET /stats.
func (w *Webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/stats":
		w.mu.Lock()
		s := w.stats
		w.mu.Unlock()
		writeJSON(out, s)
		return
	case r.Method != http.MethodPost:
		out.Header().Set("Allow", http.MethodPost)
		w.refuse(out, http.StatusMethodNotAllowed, errors.New("expected POST"))
		return
	}
	var ask review
	err := json.NewDecoder(http.MaxBytesReader(out, r.Body, maxReview)).Decode(&ask)
	if err == nil && ask.Request == nil {
		err = errors.New("no request in it")
	}
	if err == nil {
		err = ask.Request.Status.Check()
	}
	if err != nil {
		w.refuse(out, http.StatusBadRequest, fmt.Errorf("not the request of a FleetAutoscaler: %w", err))
		return
	}
	var answer reply
	answer.Response.UID = ask.Request.UID
	answer.Response.Replicas = w.decide(ask.Request.Status)
	answer.Response.Scale = answer.Response.Replicas != ask.Request.Status.Replicas
	writeJSON(out, &answer)
}

// decide answers for a fleet now.
func (w *Webhook) decide(f Fleet) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.report
	if r != nil && time.Since(w.at) > reportValid {
		r = nil
	}
	n, err := w.policy.Hosts(time.Since(w.start), f, r)
	if err != nil {
		w.stats.Lies++
		if w.refused == nil || w.refused.Error() != err.Error() {
			w.log.Warn("figures of the director refused", "err", err)
		}
	}
	w.refused = err
	if r == nil || err != nil {
		w.stats.Blind++
	}
	w.stats.Answered++
	w.stats.Replicas = n
	return n
}

// refuse answers a request that is none.
func (w *Webhook) refuse(out http.ResponseWriter, status int, err error) {
	w.mu.Lock()
	w.stats.Refused++
	w.mu.Unlock()
	http.Error(out, err.Error(), status)
}

func writeJSON(out http.ResponseWriter, v any) {
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(v)
}
