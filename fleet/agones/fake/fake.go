// Package fake is a stand-in for the SDK server of Agones, for tests and for trying a game server
// without Kubernetes. Requests of the REST interface go in; the answers of the real one come out, and
// its faults if they are asked for. Tests and the command agones fake use it.
package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tickrate/tickrate/fleet/agones"
)

// Config describes a Server. Zero fields mean a server without faults, as the real one is in its
// local mode.
type Config struct {
	Batch  time.Duration // from a change to the record that shows it; the real one takes about a second
	Faults bool          // fail one request in eight, repeat and reorder records, break watches
	Late   time.Duration // since the start, in which it does not answer
	Seed   uint64        // of the faults
	Port   int           // of the game server; default 7777
	Now    func() time.Time
}

// Server is a SDK server with one game server. Its handler may be called from any goroutine.
type Server struct {
	cfg   Config
	start time.Time

	mu      sync.Mutex // guards the fields below
	random  *rand.Rand
	record  agones.GameServer
	past    agones.GameServer // an earlier record, for reordering
	version int
	changed chan struct{} // closed by the next change
	calls   map[string]int
}

// New returns a server whose game server is Scheduled.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	now := cfg.Now()
	s := &Server{cfg: cfg, start: now, random: rand.New(rand.NewPCG(cfg.Seed, 1)),
		changed: make(chan struct{}), calls: map[string]int{}}
	s.record = agones.GameServer{
		Meta: agones.Meta{Name: "local", Namespace: "default", UID: "1234", ResourceVersion: "0",
			Generation: 1, Created: agones.Int64(now.Unix()),
			Annotations: map[string]string{}, Labels: map[string]string{}},
		Spec: agones.Spec{Health: agones.Health{PeriodSeconds: 3, FailureThreshold: 5, InitialDelaySeconds: 10}},
		Status: agones.Status{State: agones.StateScheduled, Address: "127.0.0.1", Addresses: []json.RawMessage{},
			Ports: []agones.Port{{Name: "default", Port: cmp.Or(cfg.Port, 7777)}}, Players: json.RawMessage("null"),
			Counters: map[string]agones.Counter{agones.CounterRooms: {Count: 1, Capacity: 10}},
			Lists: map[string]agones.List{agones.ListPlayers: {Capacity: 100,
				Values: []string{"test0", "test1", "test2"}}}},
	}
	s.past = s.copyRecord()
	return s
}

// Record returns the game server as it is now.
func (s *Server) Record() agones.GameServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copyRecord()
}

// Calls returns how often a path was called with success.
func (s *Server) Calls(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[path]
}

// Allocate does what an allocation of the cluster does: it raises the counter of lobbies, writes the
// annotations of the lobby and the time. It fails if the game server cannot be allocated.
func (s *Server) Allocate(a agones.Allocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rooms := s.record.Status.Counters[agones.CounterRooms]
	switch state := s.record.Status.State; {
	case state != agones.StateReady && state != agones.StateAllocated:
		return fmt.Errorf("state %s: expected Ready or Allocated", state)
	case rooms.Count >= rooms.Capacity:
		return fmt.Errorf("%d of %d rooms are taken", rooms.Count, rooms.Capacity)
	}
	s.change(func(g *agones.GameServer) {
		rooms.Count++
		g.Status.State, g.Status.Counters[agones.CounterRooms] = agones.StateAllocated, rooms
		at := g.Meta.Annotations
		at[agones.LastAllocated] = s.cfg.Now().UTC().Format("2006-01-02T15:04:05.000000000Z07:00")
		at[agones.MapKey], at[agones.ModeKey] = a.Map, a.Mode
		at[agones.PlayersKey] = strconv.Itoa(a.Players)
	})
	return nil
}

// Label sets a label of the game server, as a fleet's overflow does.
func (s *Server) Label(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(func(g *agones.GameServer) { g.Meta.Labels[key] = value })
}

// change changes the record. The caller holds the lock.
func (s *Server) change(f func(*agones.GameServer)) {
	s.past = s.copyRecord()
	f(&s.record)
	s.version++
	s.record.Meta.ResourceVersion = strconv.Itoa(s.version)
	close(s.changed)
	s.changed = make(chan struct{})
}

// copyRecord returns a record that shares no maps with the server's.
func (s *Server) copyRecord() agones.GameServer {
	g := s.record
	g.Meta.Annotations, g.Meta.Labels = maps.Clone(g.Meta.Annotations), maps.Clone(g.Meta.Labels)
	g.Status.Counters, g.Status.Lists = maps.Clone(g.Status.Counters), maps.Clone(g.Status.Lists)
	return g
}

// refusal is the body of an error.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details []any  `json:"details"`
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status, code int, message string) {
	answer(w, status, refusal{code, message, []any{}})
}

// maxBody is the longest request that is read, in bytes.
const maxBody = 1 << 16

// writeTimeout is how long a client may take for a record of the stream.
const writeTimeout = 10 * time.Second

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	late := s.cfg.Now().Sub(s.start) < s.cfg.Late
	faulty := s.cfg.Faults && s.random.IntN(8) == 0
	s.mu.Unlock()
	if late {
		panic(http.ErrAbortHandler) // no process listens there yet
	}
	if r.URL.Path == "/watch/gameserver" {
		s.watch(w, r)
		return
	}
	if faulty {
		fail(w, http.StatusInternalServerError, 2, "a fault that was asked for")
		return
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.UseNumber()
	var body map[string]any
	if err := decoder.Decode(&body); err != nil && r.Method != http.MethodGet {
		fail(w, http.StatusBadRequest, 3, "EOF")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	result, no := s.call(r.Method, r.URL.Path, body)
	if no != nil {
		status := http.StatusInternalServerError
		if no.Code == 5 {
			status = http.StatusNotFound
		}
		answer(w, status, no)
		return
	}
	s.calls[r.URL.Path]++
	answer(w, http.StatusOK, result)
}

// call carries one request out. The caller holds the lock.
func (s *Server) call(method, path string, body map[string]any) (any, *refusal) {
	empty := struct{}{}
	state := map[string]string{"POST /ready": agones.StateReady, "POST /allocate": agones.StateAllocated,
		"POST /reserve": agones.StateReserved, "POST /shutdown": agones.StateShutdown}[method+" "+path]
	counter, isCounter := strings.CutPrefix(path, "/v1beta1/counters/")
	list, isList := strings.CutPrefix(path, "/v1beta1/lists/")
	switch {
	case state != "":
		s.change(func(g *agones.GameServer) { g.Status.State = state })
		return empty, nil
	case method == "POST" && path == "/health":
		return empty, nil
	case method == "GET" && path == "/gameserver":
		return s.record, nil
	case method == "PUT" && (path == "/metadata/label" || path == "/metadata/annotation"):
		key, value := fmt.Sprint("agones.dev/sdk-", body["key"]), fmt.Sprint(body["value"])
		s.change(func(g *agones.GameServer) {
			if path == "/metadata/label" {
				g.Meta.Labels[key] = value
			} else {
				g.Meta.Annotations[key] = value
			}
		})
		return empty, nil
	case isCounter && (method == "GET" || method == "PATCH"):
		return s.counter(method, counter, body)
	case isList:
		return s.list(method, list, body)
	}
	return nil, &refusal{5, "Not Found", []any{}}
}

func refuse(format string, args ...any) *refusal {
	return &refusal{2, fmt.Sprintf(format, args...), []any{}}
}

// counter answers a request for a counter: capacity, count and countDiff are applied in that order.
func (s *Server) counter(method, name string, body map[string]any) (any, *refusal) {
	c, ok := s.record.Status.Counters[name]
	if !ok {
		return nil, refuse("counter not found: %.80q", name)
	}
	for _, field := range []string{"capacity", "count", "countDiff"} {
		v, given := body[field]
		if method == "GET" || !given {
			continue
		}
		n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		if err != nil {
			return nil, refuse("%s %v: expected a whole number", field, v)
		}
		switch field {
		case "capacity":
			c.Capacity = agones.Int64(n)
		case "count":
			c.Count = agones.Int64(n)
		default:
			c.Count += agones.Int64(n)
		}
		if c.Count < 0 || c.Count > c.Capacity {
			return nil, refuse("%s: count %d is not in 0 to %d", field, c.Count, c.Capacity)
		}
	}
	if method == "PATCH" {
		s.change(func(g *agones.GameServer) { g.Status.Counters[name] = c })
	}
	return namedCounter{name, c}, nil
}

type namedCounter struct {
	Name string `json:"name"`
	agones.Counter
}

type namedList struct {
	Name string `json:"name"`
	agones.List
}

// list answers a request for a list.
func (s *Server) list(method, name string, body map[string]any) (any, *refusal) {
	name, verb, _ := strings.Cut(name, ":")
	l, ok := s.record.Status.Lists[name]
	if !ok {
		return nil, refuse("list not found: %.80q", name)
	}
	l.Values = slices.Clone(l.Values)
	value := fmt.Sprint(body["value"])
	at := slices.Index(l.Values, value)
	switch {
	case method == "GET" && verb == "":
		return namedList{name, l}, nil
	case method == "POST" && verb == "addValue" && at < 0 && len(l.Values) < int(l.Capacity):
		l.Values = append(l.Values, value)
	case method == "POST" && verb == "removeValue" && at >= 0:
		l.Values = slices.Delete(l.Values, at, at+1)
	case method == "PATCH" && verb == "":
		if no := patchList(&l, body); no != nil {
			return nil, no
		}
	default:
		return nil, refuse("%s %.80q: out of range, there already, or not there", verb, value)
	}
	s.change(func(g *agones.GameServer) { g.Status.Lists[name] = l })
	return namedList{name, l}, nil
}

// patchList applies the fields that are given. A smaller capacity cuts values.
func patchList(l *agones.List, body map[string]any) *refusal {
	if v, given := body["capacity"]; given {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil || n < 0 || n > int(l.Capacity) {
			return refuse("capacity %v: expected 0 to %d", v, l.Capacity)
		}
		l.Capacity = agones.Int64(n)
	}
	if v, given := body["values"].([]any); given {
		l.Values = []string{}
		for _, x := range v {
			l.Values = append(l.Values, fmt.Sprint(x))
		}
	}
	l.Values = l.Values[:min(len(l.Values), int(l.Capacity))]
	return nil
}

// watch writes a record now and one after each change, until the client goes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	out, flush := json.NewEncoder(w), http.NewResponseController(w)
	for {
		s.mu.Lock()
		records, next := []agones.GameServer{s.copyRecord()}, s.changed
		if s.cfg.Faults {
			for range s.random.IntN(3) {
				records = append(records, records[0])
			}
			if s.random.IntN(3) == 0 {
				records = append(records, s.past)
			}
		}
		broken := s.cfg.Faults && s.random.IntN(6) == 0
		s.mu.Unlock()
		_ = flush.SetWriteDeadline(time.Now().Add(writeTimeout)) // a test's recorder has none
		for i := range records {
			if out.Encode(map[string]any{"result": &records[i]}) != nil {
				return
			}
		}
		if flush.Flush() != nil || broken {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-next:
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(s.cfg.Batch): // what changes meanwhile comes in one record
		}
	}
}
