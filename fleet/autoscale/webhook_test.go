package autoscale

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// post sends a request and returns its answer.
func post(t *testing.T, w *Webhook, body string) (status int, r reply, text string) {
	t.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest("POST", "/", strings.NewReader(body)))
	_ = json.Unmarshal(rec.Body.Bytes(), &r) // of an error it is none
	return rec.Code, r, rec.Body.String()
}

const review3 = `{"request": {"uid": "u-1", "name": "n", "namespace": "ns", "status": {"replicas": 3,
	"readyReplicas": 1, "reservedReplicas": 0, "allocatedReplicas": 2}}}`

// The webhook answers from the director's figures, and keeps the fleet as it is without them.
func TestWebhook(t *testing.T) {
	var figures atomic.Value
	figures.Store("no figures")
	director := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, figures.Load().(string))
	}))
	defer director.Close()
	w, err := NewWebhook(Config{PerHost: 100}, director.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if r, err := w.ask(ctx); err == nil {
			w.report, w.at = r, time.Now()
		}
	}
	ask()
	if status, r, _ := post(t, w, review3); status != 200 || r.Response.UID != "u-1" || r.Response.Scale ||
		r.Response.Replicas != 3 || w.stats.Blind != 1 {
		t.Errorf("without figures: %d %+v %+v", status, r, w.stats)
	}
	figures.Store(`{"version": 1, "hosts": 3, "players": 450, "busy": 0.5, "rooms": 45}`)
	ask()
	if _, r, _ := post(t, w, review3); !r.Response.Scale || r.Response.Replicas != 6 {
		t.Errorf("450 players, 100 a host: %+v, want 5 hosts and one to spare", r)
	}
	for _, c := range []struct {
		figures string
		want    int
	}{{`{"hosts": 3, "players": 450, "arrivals_minute": 30}`, 30}, {`{"hosts": 3, "players": 450, "arrivals_minute": null}`, 0}} {
		figures.Store(c.figures)
		if ask(); w.report.Arrivals != c.want {
			t.Errorf("%s: %+v", c.figures, w.report)
		}
	}
	figures.Store(`{"hosts": 3, "players": 450000}`)
	ask()
	if _, r, _ := post(t, w, review3); r.Response.Scale || w.stats.Lies != 1 {
		t.Errorf("a lie: %+v %+v", r, w.stats)
	}
	w.at = time.Now().Add(-reportValid - time.Second)
	if _, r, _ := post(t, w, review3); r.Response.Replicas != 3 || w.stats.Blind != 3 {
		t.Errorf("old figures: %+v %+v", r, w.stats)
	}
	for _, body := range []string{"", "{}", `{"request": {"status": {"replicas": -1}}}`,
		`{"request": {"uid": "` + strings.Repeat("x", maxReview) + `"}}`} {
		if status, _, text := post(t, w, body); status != 400 || !strings.Contains(text, "FleetAutoscaler") {
			t.Errorf("%.40s: %d %s", body, status, text)
		}
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest("PUT", "/", nil))
	if rec.Code != http.StatusMethodNotAllowed || w.stats.Refused != 5 {
		t.Errorf("PUT: %d, %d refused", rec.Code, w.stats.Refused)
	}
}

// Watch reads a director's figures until it is told to end.
func TestWatch(t *testing.T) {
	asked := make(chan struct{}, 1)
	director := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"hosts": 2, "players": 30, "busy": 0.1}`)
		select {
		case asked <- struct{}{}:
		default:
		}
	}))
	defer director.Close()
	w, err := NewWebhook(Config{PerHost: 100}, director.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Watch(ctx) }()
	<-asked
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		w.mu.Lock()
		r := w.report
		w.mu.Unlock()
		if r != nil && *r == (Report{Hosts: 2, Players: 30, Busy: 0.1}) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", r)
		}
	}
	cancel()
	<-done
}
