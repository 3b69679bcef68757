package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/internal/web"
	"github.com/tickrate/tickrate/server/dash"
)

// Directory is what the port serves of a host: its lobbies, and ways to make and to end them. Its
// functions may be called from any goroutine.
type Directory struct {
	Lobbies func() []*LobbyPages // those that play, by ID
	Host    uint32               // names the host in connect tokens, see protocol.LobbyRef
	Most    int                  // lobbies that the host may have; 0: one alone
	Stages  *StageLabels
	Ports   []*PortFigures // by worker, of the UDP port that the lobbies share; none: a lobby alone

	// Create makes a lobby and returns its ID; End ends one, and returns when its players are told.
	// nil: the host has one lobby alone.
	Create func(ctx context.Context, spec LobbySpec) (id uint32, err error)
	End    func(ctx context.Context, id uint32) error
	Faults func() uint64 // lobbies that have panicked
	Reset  func()        // told when the figures of all lobbies are reset; nil: nothing is

	// Drain begins the end of the host, see host.Host.Drain, and Draining reports whether it has begun.
	// nil: the host cannot drain.
	Drain    func()
	Draining func() bool
}

// ErrFault is the error of Directory.Create if making the lobby has panicked.
var ErrFault = errors.New("internal fault")

// ErrNoLobby is the error of Directory.End and of a request about a lobby that does not play.
var ErrNoLobby = errors.New("no such lobby")

// ErrDraining is the error of Directory.Create at a host that drains.
var ErrDraining = errors.New("this server drains: it makes no lobby any more")

// LobbyList is the answer of GET /v1/lobbies.
type LobbyList struct {
	Version int         `json:"version"`
	Host    uint32      `json:"host"` // in connect tokens
	Most    int         `json:"most"`
	Faults  uint64      `json:"faults"`
	Lobbies []LobbyInfo `json:"lobbies"`
}

// LobbyInfo is one lobby of a LobbyList, as of the last second.
type LobbyInfo struct {
	LobbyState
	Name      string `json:"name"`
	Map       string `json:"map"`
	Mode      string `json:"mode"`
	Phase     string `json:"phase"`
	RateHz    int    `json:"rate_hz"`
	LoadLevel string `json:"load_level"`
	Worker    int    `json:"worker"`  // that plays it, from 0
	Content   string `json:"content"` // hash of the content pack; zeros without one
}

// Info returns what a list says of the lobby.
func (s *Source) info() LobbyInfo {
	status := s.Status()
	return LobbyInfo{LobbyState: s.stateOf(), Name: status.Name, Map: status.Map, Mode: status.Mode,
		Phase: status.Phase.String(), RateHz: int(s.Rate), LoadLevel: s.Schedule.Level().String(),
		Content: s.Content, Worker: s.Worker()}
}

// directory has the handlers of a host.
type directory struct {
	Directory
	index http.Handler // pages that list the lobbies
}

// NewHostMux returns the pages of a host. Pages of a lobby take ?lobby=N, and are of the first
// lobby without it. If secret is not empty, pages that make or end lobbies require it from every
// request. It fails if a metric is registered twice.
func NewHostMux(dir Directory, secret string) (*http.ServeMux, error) {
	d := &directory{dir, dash.Lobbies()}
	registry, err := newRegistry(d.collector(fullLobbies))
	if err != nil {
		return nil, err
	}
	mux := NewMux(d.serveHealth, dir.Stages.serveProfile)
	mux.HandleFunc("GET /healthz/ready", d.serveReady)
	mux.Handle("GET /metrics", limitScrapes(d.metrics(metricsHandler(registry))))
	mux.HandleFunc("GET /v1/lobbies", d.serveList)
	mux.HandleFunc("POST /v1/lobbies", requireSecret(secret, d.serveCreate))
	mux.HandleFunc("DELETE /v1/lobbies/{id}", requireSecret(secret, d.serveEnd))
	if d.Drain != nil {
		mux.HandleFunc("POST /drain", requireSecret(secret, d.serveDrain))
	}
	mux.HandleFunc("/", d.serveLobby)
	return mux, nil
}

// collector exports all lobbies, the first of them in full.
func (d *directory) collector(full int) collector {
	c := collector{sources: d.sources, full: full, ports: d.Ports, shared: len(d.Ports) > 0}
	if c.shared {
		c.host = &HostFigures{Lobbies: func() int { return len(d.Lobbies()) }, Faults: d.Faults}
	}
	return c
}

// sources returns the lobbies.
func (d *directory) sources() (all []*Source) {
	for _, p := range d.Lobbies() {
		all = append(all, &p.Source)
	}
	return all
}

// pick returns the lobby that a request names, the first one if it names none, and nil if there is
// no such lobby.
func (d *directory) pick(r *http.Request) *LobbyPages {
	name, lobbies := r.URL.Query().Get("lobby"), d.Lobbies()
	for _, p := range lobbies {
		if name == "" || p.Name == name {
			return p
		}
	}
	return nil
}

// serveLobby answers with a page of a lobby.
func (d *directory) serveLobby(w http.ResponseWriter, r *http.Request) {
	if d.servePort(w, r) || d.serveAll(w, r) {
		return
	}
	if len(d.Ports) > 0 && dash.IsLobbies(r) {
		d.index.ServeHTTP(w, r)
		return
	}
	p := d.pick(r)
	if p == nil {
		http.Error(w, ErrNoLobby.Error()+"; /v1/lobbies lists those that play", http.StatusNotFound)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// metrics answers a scrape with the figures of the shared port and of all lobbies. The first
// fullLobbies, or the N of ?full=N, have all metrics, the others a few. ?lobby=N selects one.
func (d *directory) metrics(usual http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, q := d.collector(1), r.URL.Query()
		switch p := d.pick(r); {
		case !q.Has("lobby") && !q.Has("full"):
			usual.ServeHTTP(w, r)
			return
		case !q.Has("lobby"):
			n, err := strconv.ParseUint(q.Get("full"), 10, 16)
			if err != nil || n > maxFullLobbies {
				http.Error(w, fmt.Sprintf("full=%.20q: expected the number of lobbies with all metrics, 0 to %d",
					q.Get("full"), maxFullLobbies), http.StatusBadRequest)
				return
			}
			c.full = int(n)
		case d.ofPort(r):
			c.sources = func() []*Source { return nil }
		case p != nil:
			c.sources = func() []*Source { return []*Source{&p.Source} }
			c.ports = nil
		default:
			http.Error(w, ErrNoLobby.Error(), http.StatusNotFound)
			return
		}
		registry, err := newRegistry(c)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		metricsHandler(registry).ServeHTTP(w, r)
	}
}

// serveHealth answers 200 unless the ticks of all lobbies have stopped, which only a restart mends.
func (d *directory) serveHealth(w http.ResponseWriter, r *http.Request) {
	lobbies := d.Lobbies()
	for _, p := range lobbies {
		if s := p.state(); s != stateStuck && s != stateEnded {
			Healthy(w, r)
			return
		}
	}
	if len(lobbies) == 0 {
		Healthy(w, r)
		return
	}
	http.Error(w, lobbies[0].state().String(), http.StatusServiceUnavailable)
}

// draining reports whether the host drains.
func (d *directory) draining() bool { return d.Draining != nil && d.Draining() }

// serveDrain answers POST /drain with 202 and Readiness. Repeated requests change nothing.
func (d *directory) serveDrain(w http.ResponseWriter, _ *http.Request) {
	d.Drain()
	writeJSONStatus(w, http.StatusAccepted, d.readiness())
}

// serveReady answers Readiness: 200 if a lobby is open and the host does not drain, else 503.
func (d *directory) serveReady(w http.ResponseWriter, _ *http.Request) {
	r := d.readiness()
	if !r.Ready {
		writeJSONStatus(w, http.StatusServiceUnavailable, r)
		return
	}
	writeJSON(w, r)
}

// readiness returns what a load balancer is told now.
func (d *directory) readiness() Readiness {
	r := Readiness{Version: Version, Draining: d.draining(), Lobbies: []LobbyState{}}
	for _, p := range d.Lobbies() {
		r.Lobbies = append(r.Lobbies, p.stateOf())
	}
	r.Ready = !r.Draining &&
		slices.ContainsFunc(r.Lobbies, func(s LobbyState) bool { return s.State == stateOpen.String() })
	return r
}

// list returns the lobbies as of the last second.
func (d *directory) list() LobbyList {
	l := LobbyList{Version: Version, Host: d.Host, Most: max(1, d.Most), Lobbies: []LobbyInfo{}}
	if d.Faults != nil {
		l.Faults = d.Faults()
	}
	for _, p := range d.Lobbies() {
		l.Lobbies = append(l.Lobbies, p.info())
	}
	return l
}

// serveList answers GET /v1/lobbies.
func (d *directory) serveList(w http.ResponseWriter, _ *http.Request) { writeJSON(w, d.list()) }

// createTimeout is how long a lobby may take to be made: its map may have to be read and packed.
const createTimeout = time.Minute

// serveCreate makes a lobby: 201 and its LobbyInfo, 400 for one that cannot be, 503 if the host has
// as many as it may have.
func (d *directory) serveCreate(w http.ResponseWriter, r *http.Request) {
	if d.Create == nil {
		http.Error(w, "this server has one lobby alone: start it with --lobbies", http.StatusConflict)
		return
	}
	web.MayTake(w, createTimeout)
	spec, err := readLobbySpec(http.MaxBytesReader(w, r.Body, maxLobbySpec))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), createTimeout)
	defer cancel()
	id, err := d.Create(ctx, spec)
	switch {
	case errors.Is(err, ErrBusy), errors.Is(err, ErrEnded), errors.Is(err, ErrMostLobbies),
		errors.Is(err, ErrDraining):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case errors.Is(err, ErrFault):
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := strconv.FormatUint(uint64(id), 10)
	for _, p := range d.Lobbies() {
		if p.Name == name {
			writeJSONStatus(w, http.StatusCreated, p.info())
			return
		}
	}
	http.Error(w, ErrNoLobby.Error(), http.StatusServiceUnavailable) // it has ended already
}

// ErrMostLobbies is the error of Directory.Create at a host that has all lobbies that it may have.
var ErrMostLobbies = errors.New("as many lobbies as this server may have: end one first")

// serveEnd ends a lobby: 204 once its players are told.
func (d *directory) serveEnd(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
	if err != nil || d.End == nil {
		http.Error(w, ErrNoLobby.Error(), http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), tickTimeout)
	defer cancel()
	switch err := d.End(ctx, uint32(id)); {
	case errors.Is(err, ErrNoLobby):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
