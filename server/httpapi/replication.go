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

// Bandwidth is the answer of GET /v1/bandwidth: the bytes that were sent by purpose, and players
// and objects by the reason why they were or were not sent.
type Bandwidth struct {
	Version      int            `json:"version"`
	Lobby        string         `json:"lobby"` // its name
	Every        int            `json:"every"` // mean datagrams per sample; 0: none
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

// ReasonCount counts players by reason.
type ReasonCount struct {
	Reason server.Reason `json:"reason"`
	Count  uint64        `json:"count"`
}

// ObjectCount counts objects of a class by reason.
type ObjectCount struct {
	Class string `json:"class"`
	ReasonCount
}

// BandwidthOf returns the summary of a lobby in the form of GET /v1/bandwidth.
func BandwidthOf(lobby string, s *server.Summary) Bandwidth {
	n := &s.Bandwidth
	b := Bandwidth{
		Version: Version, Lobby: lobby, Every: n.Every, Datagrams: n.Datagrams, Bytes: n.Bytes,
		Sampled: n.Sampled, SampledBytes: n.SampledBytes, Cells: n.Cells, Snapshots: s.Replication.Snapshots,
	}
	for section, bytes := range n.Sections {
		if bytes > 0 {
			b.Sections = append(b.Sections,
				SectionBytes{metrics.Section(section).String(), bytes, n.SampledSections[section]})
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
				b.Objects = append(b.Objects,
					ObjectCount{netstate.Kind(kind).String(), ReasonCount{server.Reason(why), count}})
			}
		}
	}
	return b
}

// serveBandwidth answers GET /v1/bandwidth with the figures of the last second.
func (a *api) serveBandwidth(w http.ResponseWriter, _ *http.Request) {
	s := a.Lobby.Summary()
	writeJSON(w, BandwidthOf(a.Name, &s))
}

// ExplainReply is the answer of GET /v1/explain.
type ExplainReply struct {
	Version      int                  `json:"version"`
	Explanations []server.Explanation `json:"explanations"`
}

// serveExplain answers why a client is not sent an entity: GET /v1/explain?client=N&entity=M. N and
// M name players as server.Lobby.FindPlayer says, M may be an object reference; without M the
// answer covers all players and objects. It needs the secret: it tells what players know of each
// other.
func (a *api) serveExplain(w http.ResponseWriter, r *http.Request) {
	q, err := parseExplain(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply, missing := ExplainReply{Version: Version}, error(nil)
	if !a.do(w, r, func(_ time.Duration, l *server.Lobby) { reply.Explanations, missing = q.answer(l) }) {
		return
	}
	if missing != nil {
		http.Error(w, missing.Error(), http.StatusNotFound)
		return
	}
	writeJSON(w, reply)
}

// explainQuery says what is to be explained.
type explainQuery struct {
	client, entity string           // for server.Lobby.FindPlayer; no entity: all
	object         server.ObjectRef // in place of entity, if it has a class
}

// parseExplain reads the query of GET /v1/explain. Its errors name the parameter.
func parseExplain(q url.Values) (e explainQuery, err error) {
	e.client, e.entity = q.Get("client"), q.Get("entity")
	if e.client == "" || e.client == "0" || e.client == "0.0" {
		return e, fmt.Errorf("client=%q: expected a name, a net id, slot:N or client:N", e.client)
	}
	if kind, _, ok := strings.Cut(e.entity, ":"); ok && kind != "slot" && kind != "client" {
		e.object, err = server.ParseObjectRef(e.entity)
	}
	return e, err
}

// answer asks the lobby, between two ticks. A net id may be of a player that is gone: the
// explanation says so.
func (e *explainQuery) answer(l *server.Lobby) ([]server.Explanation, error) {
	client, err := find(l, e.client)
	if err != nil {
		return nil, fmt.Errorf("client=%q: %w", e.client, err)
	}
	switch {
	case e.entity == "":
		return l.ExplainAll([]server.Explanation{}, client), nil
	case e.object.Kind != 0:
		return []server.Explanation{l.ExplainObject(client, e.object)}, nil
	}
	entity, err := find(l, e.entity)
	if err != nil {
		return nil, fmt.Errorf("entity=%q: %w", e.entity, err)
	}
	return []server.Explanation{l.Explain(client, entity)}, nil
}

// find returns the player that a word names. A net id needs no player.
func find(l *server.Lobby, word string) (netid.ID, error) {
	id, err := l.FindPlayer(word)
	if parsed, bad := netid.Parse(word); err != nil && bad == nil {
		return parsed, nil
	}
	return id, err
}
