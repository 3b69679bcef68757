package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Bits is a ledger as GET /v1/bits tells it.
type Bits struct {
	Lobby        string         `json:"lobby"`
	Every        int            `json:"every"` // one datagram in so many is sampled; 0: none
	Datagrams    uint64         `json:"datagrams"`
	Bytes        uint64         `json:"bytes"`
	Sampled      uint64         `json:"sampled_datagrams"`
	SampledBytes uint64         `json:"sampled_bytes"`
	Sections     []SectionBits  `json:"sections"` // together Bytes, and SampledBytes
	Cells        []metrics.Cell `json:"cells"`    // together 8 times SampledBytes
	Snapshots    uint64         `json:"sampled_snapshots"`
	Entities     []WhyCount     `json:"entities"` // players in those, by whether they were told and why not
	Things       []ThingCount   `json:"things"`   // likewise things, by class
}

// SectionBits is a section's part.
type SectionBits struct {
	Section      string `json:"section"`
	Bytes        uint64 `json:"bytes"`
	SampledBytes uint64 `json:"sampled_bytes"`
}

// WhyCount is how often something became of an entity.
type WhyCount struct {
	Why   Reason `json:"why"`
	Count uint64 `json:"count"`
}

// ThingCount is how often something became of a thing of a class.
type ThingCount struct {
	Class string `json:"class"`
	WhyCount
}

// Bits is the ledger in a form for programs.
func (s *Summary) Bits() Bits {
	n := &s.Bandwidth
	b := Bits{Lobby: lobbyName, Every: n.Every, Datagrams: n.Datagrams, Bytes: n.Bytes, Sampled: n.Sampled, SampledBytes: n.SampledBytes, Cells: n.Cells, Snapshots: s.Replication.Snapshots}
	for section, bytes := range n.Sections {
		if bytes > 0 {
			b.Sections = append(b.Sections, SectionBits{metrics.Section(section).String(), bytes, n.SampledSections[section]})
		}
	}
	for w, count := range s.Replication.Players {
		if count > 0 {
			b.Entities = append(b.Entities, WhyCount{Reason(w), count})
		}
	}
	for kind := range s.Replication.Objects {
		for w, count := range s.Replication.Objects[kind] {
			if count > 0 {
				b.Things = append(b.Things, ThingCount{netstate.Kind(kind).String(), WhyCount{Reason(w), count}})
			}
		}
	}
	return b
}

func (h *Host) serveBits(w http.ResponseWriter, _ *http.Request) {
	summary := h.lobby.Summary()
	writeJSON(w, summary.Bits())
}

// serveWhy answers why a client is not told of an entity: GET /v1/why?client=N&entity=M, a Explanation. N is a net id, M too, or a ObjectRef;
// without M the answer is a list about all players and things. What players know of each other is not for everybody: who asks needs what
// the console asks for.
func (h *Host) serveWhy(w http.ResponseWriter, r *http.Request) {
	q, err := questionOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch v, ok := ticked(w, r, &h.terminal, h.terminal.asked, q, q.verdicts); {
	case !ok:
	case q.all:
		writeJSON(w, v)
	default:
		writeJSON(w, v[0])
	}
}

// question waits for the goroutine that plays the ticks.
type question struct {
	client, entity netid.ID
	thing          ObjectRef          // if it has a class, in place of entity
	all            bool               // about everything
	verdicts       chan []Explanation // has room for one list, which has one verdict unless all
}

// questionOf reads what is asked.
func questionOf(r *http.Request) (q question, err error) {
	q.verdicts = make(chan []Explanation, 1)
	if q.client, err = netID(r, "client"); err != nil {
		return q, err
	}
	switch entity := r.URL.Query().Get("entity"); {
	case entity == "":
		q.all = true
	case strings.Contains(entity, ":"):
		q.thing, err = ParseObjectRef(entity)
	default:
		q.entity, err = netID(r, "entity")
	}
	return q, err
}

// answer is what there is to say, between two ticks.
func (q *question) answer(l *Lobby) []Explanation {
	switch {
	case q.all:
		return l.ExplainAll(nil, q.client)
	case q.thing.Kind != 0:
		return []Explanation{l.ExplainObject(q.client, q.thing)}
	}
	return []Explanation{l.Explain(q.client, q.entity)}
}

// netID reads a net id from a query.
func netID(r *http.Request, name string) (netid.ID, error) {
	id, err := netid.Parse(r.URL.Query().Get(name))
	if err != nil {
		return 0, fmt.Errorf("%s=%q: %w", name, r.URL.Query().Get(name), err)
	}
	return id, nil
}
