// Package httpapi is the HTTP port of a game server: health, figures, profiles, the live page, the
// console, and connect tokens. Requests go in; text and JSON come out. A host gives it a Source for
// its lobby. Handlers run on goroutines of net/http and never touch the lobby: they read published
// figures, or ask the host to run a function between two ticks.
package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/server/metrics"
)

// Version is the version of all JSON that the port answers.
const Version = metrics.ReportVersion

// LobbyName labels a lobby alone in metrics and answers.
const LobbyName = "0"

// Source is what the port serves of a lobby. Its functions may be called from any goroutine. All
// fields are required unless their comment says otherwise.
type Source struct {
	Name    string // labels the lobby in metrics and answers; default LobbyName
	Content string // hash of its content pack, in hexadecimal

	// Stats and Summary are for any goroutine, all else for functions under Do.
	Lobby    *server.Lobby
	Schedule *metrics.Schedule
	Status   func() server.Status // as of the last second
	Rate     tick.Rate
	Interval int                      // ticks from one snapshot of a client to the next
	Workers  int                      // threads that share the systems of a tick
	Worker   func() int               // that plays the lobby, from 0
	Host     *HostFigures             // nil: one lobby alone
	Socket   func() netio.Stats       // of the UDP socket; nil: lobbies share it, see PortFigures
	Query    func() map[string]uint64 // counters of the query port; nil map: none
	Hiccup   *meter.Histogram         // wake-up delays of an idle thread, ns; nil: not measured
	Slowdown *meter.Histogram         // of the processor, in clock.SlowdownUnit; nil: not measured
	Clock    func() time.Duration     // since the start of the host
	Ended    <-chan struct{}          // closed when the lobby has ended
	Stages   *StageLabels
	Dash     *DashFeed // nil: no live page

	// Do runs f between two ticks on the goroutine of the lobby. It returns ErrBusy if no tick came
	// before ctx ended, and ErrEnded if the lobby has ended. f has run to its end only if Do
	// returns nil.
	Do func(ctx context.Context, f func(now time.Duration, l *server.Lobby)) error
}

// HostFigures are the figures of a host with several lobbies.
type HostFigures struct {
	Lobbies func() int    // that play
	Faults  func() uint64 // lobbies that have panicked
}

// Errors of Source.Do.
var (
	ErrBusy  = errors.New("no tick had time for it")
	ErrEnded = errors.New("the lobby has ended")
)

// NewMux returns the pages that every host has. /debug/pprof/cmdline is left out: a command line
// may hold the private key.
func NewMux(health, profile http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", health)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return mux
}

// api has the handlers of a lobby.
type api struct {
	Source
	stats reporter
}

// LobbyPages are the pages of one lobby.
type LobbyPages struct {
	api
	mux *http.ServeMux
}

// NewLobbyPages returns the pages of a lobby. If secret is not empty, pages that tell positions or
// change the lobby require it from every request; figures are open.
func NewLobbyPages(src Source, secret string) *LobbyPages {
	src.Name = cmp.Or(src.Name, LobbyName)
	p := &LobbyPages{api: api{Source: src}, mux: http.NewServeMux()}
	a, mux := &p.api, p.mux
	a.stats.src = &a.Source
	if src.Dash != nil {
		src.Dash.page.Routes(mux)
		mux.HandleFunc("GET "+dash.Prefix+"entities", a.serveEntities)
		mux.HandleFunc("GET "+dash.Prefix+"entity", a.serveEntity)
	}
	mux.HandleFunc("GET /stats", a.stats.serve)
	mux.HandleFunc("GET /v1/bandwidth", a.serveBandwidth)
	mux.HandleFunc("GET /v1/explain", requireSecret(secret, a.serveExplain))
	mux.HandleFunc("POST /stats/reset", a.stats.serveReset)
	mux.HandleFunc("POST /v1/console", requireSecret(secret, a.serveConsole))
	mux.HandleFunc("GET /v1/shots", requireSecret(secret, a.serveShots))
	return p
}

// do runs f between two ticks, and answers the request itself if that fails.
func (a *api) do(w http.ResponseWriter, r *http.Request, f func(now time.Duration,
	l *server.Lobby)) (done bool) {
	ctx, cancel := context.WithTimeout(r.Context(), tickTimeout)
	defer cancel()
	if err := a.Do(ctx, f); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return false
	}
	return true
}

// tickTimeout is how long a request waits for a tick.
const tickTimeout = 5 * time.Second

// writeJSON answers v as JSON with status 200.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails only if the reader is gone
}

// writeJSONStatus answers v as JSON with another status.
func writeJSONStatus(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeJSON(w, v)
}

// Healthy answers that the process lives: for hosts without a lobby.
func Healthy(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// WriteJSON answers v as JSON.
func WriteJSON(w http.ResponseWriter, v any) { writeJSON(w, v) }
