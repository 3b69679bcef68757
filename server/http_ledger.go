package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tickrate/tickrate/ecs"
)

// Bits is a ledger as GET /v1/bits tells it.
type Bits struct {
	Lobby        string        `json:"lobby"`
	Every        int           `json:"every"` // one datagram in so many is sampled; 0: none
	Datagrams    uint64        `json:"datagrams"`
	Bytes        uint64        `json:"bytes"`
	Sampled      uint64        `json:"sampled_datagrams"`
	SampledBytes uint64        `json:"sampled_bytes"`
	Sections     []SectionBits `json:"sections"` // together Bytes, and SampledBytes
	Cells        []Cell        `json:"cells"`    // together 8 times SampledBytes
	Snapshots    uint64        `json:"sampled_snapshots"`
	Entities     []WhyCount    `json:"entities"` // in those, by whether they were told and why not
}

// SectionBits is a section's part.
type SectionBits struct {
	Section      string `json:"section"`
	Bytes        uint64 `json:"bytes"`
	SampledBytes uint64 `json:"sampled_bytes"`
}

// WhyCount is how often something became of an entity.
type WhyCount struct {
	Why   Why    `json:"why"`
	Count uint64 `json:"count"`
}

// Bits is the ledger in a form for programs.
func (n *Ledger) Bits() Bits {
	b := Bits{Lobby: lobbyName, Every: n.Every, Datagrams: n.Datagrams, Bytes: n.Bytes, Sampled: n.Sampled, SampledBytes: n.SampledBytes, Cells: n.Cells, Snapshots: n.Looked}
	for s, bytes := range n.Sections {
		if bytes > 0 {
			b.Sections = append(b.Sections, SectionBits{Section(s).String(), bytes, n.SampledSection[s]})
		}
	}
	for w, count := range n.Why {
		if count > 0 {
			b.Entities = append(b.Entities, WhyCount{Why(w), count})
		}
	}
	return b
}

func (h *Host) serveBits(w http.ResponseWriter, _ *http.Request) {
	ledger := h.lobby.Ledger()
	writeJSON(w, ledger.Bits())
}

// serveWhy answers why a client is not told of an entity: GET /v1/why?client=N&entity=M, both net ids. What players know of each other
// is not for everybody: who asks needs what the console asks for.
func (h *Host) serveWhy(secret string) http.HandlerFunc {
	sum := sha256.Sum256([]byte(secret))
	return func(w http.ResponseWriter, r *http.Request) {
		if secret != "" {
			if no := keyless(w, r, sum); no != nil {
				http.Error(w, no.text, no.status)
				return
			}
		}
		client, err := netID(r, "client")
		var entity ecs.NetID
		if err == nil {
			entity, err = netID(r, "entity")
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		verdict := make(chan Verdict, 1)
		ctx, cancel := context.WithTimeout(r.Context(), patienceHTTP)
		defer cancel()
		select {
		case h.terminal.asked <- question{client, entity, verdict}:
		case <-ctx.Done():
			http.Error(w, "no tick had time for the question", http.StatusServiceUnavailable)
			return
		case <-h.terminal.ended:
			http.Error(w, "the lobby has ended", http.StatusServiceUnavailable)
			return
		}
		select {
		case v := <-verdict:
			writeJSON(w, v)
		case <-h.terminal.ended: // by a fault
			http.Error(w, "the lobby has ended", http.StatusServiceUnavailable)
		}
	}
}

// question waits for the goroutine that plays the ticks.
type question struct {
	client, entity ecs.NetID
	verdict        chan Verdict // has room for one
}

// netID reads a net id from a query.
func netID(r *http.Request, name string) (ecs.NetID, error) {
	n, err := strconv.ParseUint(r.URL.Query().Get(name), 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s=%q: expected a net id, as the console's list shows them", name, r.URL.Query().Get(name))
	}
	return ecs.NetID(n), nil
}
