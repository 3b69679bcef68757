package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Bandwidth is the answer of GET /v1/bandwidth: what was sent, and what became of players and
// objects.
type Bandwidth struct {
	Version int    `json:"version"`
	Lobby   string `json:"lobby"`
	// One datagram of every is sampled on average; 0: none.
	Every        int            `json:"every"`
	Datagrams    uint64         `json:"datagrams"`
	Bytes        uint64         `json:"bytes"`
	Sampled      uint64         `json:"sampled_datagrams"`
	SampledBytes uint64         `json:"sampled_bytes"`
	Sections     []SectionBytes `json:"sections"` // add up to Bytes and SampledBytes
	Cells        []metrics.Cell `json:"cells"`    // add up to 8 times SampledBytes
	Snapshots    uint64         `json:"sampled_snapshots"`
	Players      []ReasonCount  `json:"players"` // in the sampled snapshots
	Objects      []ObjectCount  `json:"objects"` // in the sampled snapshots
}

// SectionBytes is the part of one section.
type SectionBytes struct {
	Section      string `json:"section"`
	Bytes        uint64 `json:"bytes"`
	SampledBytes uint64 `json:"sampled_bytes"`
}

// ReasonCount counts players by what became of them.
type ReasonCount struct {
	Reason server.Reason `json:"reason"`
	Count  uint64        `json:"count"`
}

// ObjectCount counts objects of a class by what became of them.
type ObjectCount struct {
	Class string `json:"class"`
	ReasonCount
}

// BandwidthOf returns s in the form of GET /v1/bandwidth.
func BandwidthOf(s *server.Summary) Bandwidth {
	n := &s.Bandwidth
	b := Bandwidth{
		Version: Version, Lobby: LobbyName, Every: n.Every, Datagrams: n.Datagrams, Bytes: n.Bytes,
		Sampled: n.Sampled, SampledBytes: n.SampledBytes, Cells: n.Cells, Snapshots: s.Replication.Snapshots,
	}
	for section, bytes := range n.Sections {
		if bytes > 0 {
			b.Sections = append(b.Sections, SectionBytes{metrics.Section(section).String(), bytes,
				n.SampledSections[section]})
		}
	}
	for why, count := range s.Replication.Players {
		if count > 0 {
			b.Players = append(b.Players, ReasonCount{server.Reason(why), count})
		}
	}
	for kind := range s.Replication.Objects {
		for why, count := range s.Replication.Objects[kind] {
			if count > 0 {
				b.Objects = append(b.Objects, ObjectCount{netstate.Kind(kind).String(),
					ReasonCount{server.Reason(why), count}})
			}
		}
	}
	return b
}

func (a *api) serveBandwidth(w http.ResponseWriter, _ *http.Request) {
	s := a.Lobby.Summary()
	writeJSON(w, BandwidthOf(&s))
}

// ExplainReply is the answer of GET /v1/explain.
type ExplainReply struct {
	Version      int                  `json:"version"`
	Explanations []server.Explanation `json:"explanations"`
}

// serveExplain answers why a client is not told of an entity: GET /v1/explain?client=N&entity=M. N
// is a net id, M a net id or an object reference; without M the answer covers all players and
// objects. It needs the secret: it tells what players know of each other.
func (a *api) serveExplain(w http.ResponseWriter, r *http.Request) {
	q, err := parseExplain(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply := ExplainReply{Version: Version}
	if a.do(w, r, func(_ time.Duration, l *server.Lobby) { reply.Explanations = q.answer(l) }) {
		writeJSON(w, reply)
	}
}

// explainQuery says what is to be explained.
type explainQuery struct {
	client netid.ID
	all    bool // of the client's players and objects
	entity netid.ID
	object server.ObjectRef // set if it has a class
}

func parseExplain(q url.Values) (e explainQuery, err error) {
	if e.client, err = parseNetID(q, "client"); err != nil {
		return e, err
	}
	switch entity := q.Get("entity"); {
	case entity == "":
		e.all = true
	case strings.Contains(entity, ":"):
		e.object, err = server.ParseObjectRef(entity)
	default:
		e.entity, err = parseNetID(q, "entity")
	}
	return e, err
}

// answer asks the lobby, between two ticks.
func (e *explainQuery) answer(l *server.Lobby) []server.Explanation {
	switch {
	case e.all:
		return l.ExplainAll([]server.Explanation{}, e.client)
	case e.object.Kind != 0:
		return []server.Explanation{l.ExplainObject(e.client, e.object)}
	}
	return []server.Explanation{l.Explain(e.client, e.entity)}
}

func parseNetID(q url.Values, name string) (netid.ID, error) {
	id, err := netid.Parse(q.Get(name))
	if err != nil {
		return 0, fmt.Errorf("%s=%q: %w", name, q.Get(name), err)
	}
	return id, nil
}
