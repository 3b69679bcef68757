package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/server"
)

// EntityList is the answer of GET /dash/entities.
type EntityList struct {
	Version  int         `json:"version"`
	Tick     uint32      `json:"tick"`
	Total    int         `json:"total"`
	Entities []EntityRow `json:"entities"` // at most MaxEntities
}

// MaxEntities bounds the rows of an EntityList.
const MaxEntities = 4096

// EntityRow is one entity.
type EntityRow struct {
	ID   string      `json:"id"` // net id: 3.1
	Kind string      `json:"kind"`
	Name string      `json:"name,omitempty"`
	Pos  *[3]float32 `json:"pos_m,omitempty"`
}

// EntityDetail is the answer of GET /dash/entity.
type EntityDetail struct {
	Version int    `json:"version"`
	Tick    uint32 `json:"tick"`
	EntityRow
	Components []Component     `json:"components"`
	Replicated bool            `json:"replicated"` // false: it follows from the map
	Clients    int             `json:"clients"`    // that there are
	Sent       []ClientReplica `json:"sent"`       // at most server.MaxExplained, by slot
}

// Component is a component of an entity.
type Component struct {
	Type   string      `json:"type"`
	Use    string      `json:"use"` // state, given, measured or map, as tickrate inspect world says
	Sparse bool        `json:"sparse,omitempty"`
	Bytes  int         `json:"bytes"`
	Fields [][2]string `json:"fields"` // name and value
}

// ClientReplica is what a client was sent of an entity, and why or why not.
type ClientReplica struct {
	Slot int    `json:"client_slot"`
	Name string `json:"client_name"`
	server.Explanation
}

// serveEntities answers all entities of the match: GET /dash/entities.
func (a *api) serveEntities(w http.ResponseWriter, r *http.Request) {
	list := EntityList{Version: Version}
	var all []server.NamedEntity
	if !a.do(w, r, func(_ time.Duration, l *server.Lobby) {
		all, list.Tick = l.Entities(nil), uint32(l.Match().Tick())
	}) {
		return
	}
	list.Total = len(all)
	list.Entities = make([]EntityRow, 0, min(len(all), MaxEntities))
	for i := range all[:min(len(all), MaxEntities)] {
		list.Entities = append(list.Entities, entityRow(&all[i]))
	}
	writeJSON(w, list)
}

func entityRow(e *server.NamedEntity) EntityRow {
	row := EntityRow{ID: e.ID.String(), Kind: e.Kind, Name: e.Name}
	if p := e.Pos; e.Placed {
		row.Pos = &[3]float32{rounded(float64(p.X), 100), rounded(float64(p.Y), 100), rounded(float64(p.Z), 100)}
	}
	return row
}

// serveEntity answers the components of an entity, and what each client was sent of it: GET
// /dash/entity?id=3.1&from=0, for clients from a slot on. id is a net id, or names a player as
// server.Lobby.FindPlayer says.
func (a *api) serveEntity(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	word, first := q.Get("id"), 0
	if text := q.Get("from"); text != "" {
		var err error
		if first, err = strconv.Atoi(text); err != nil || first < 0 {
			http.Error(w, fmt.Sprintf("from=%.20q: expected a slot, from 0", text), http.StatusBadRequest)
			return
		}
	}
	var e server.EntityReport
	found, tick := false, uint32(0)
	if !a.do(w, r, func(_ time.Duration, l *server.Lobby) {
		if id, err := find(l, word); err == nil {
			e, found = l.EntityReport(id, first)
		}
		tick = uint32(l.Match().Tick())
	}) {
		return
	}
	if !found {
		http.Error(w, fmt.Sprintf("id=%.20q: there is no such entity", word), http.StatusNotFound)
		return
	}
	writeJSON(w, DetailOf(tick, &e))
}

// DetailOf is a report of a tick in the form of GET /dash/entity.
func DetailOf(tick uint32, e *server.EntityReport) (d EntityDetail) {
	d.Version, d.Tick = Version, tick
	d.EntityRow = entityRow(&server.NamedEntity{EntityInfo: e.EntityInfo, Name: e.Name})
	d.Replicated, d.Clients, d.Sent = e.Replicated, e.Clients, []ClientReplica{}
	for _, c := range e.Components {
		one := Component{Type: c.Type, Use: c.Use, Sparse: c.Sparse, Bytes: c.Bytes, Fields: [][2]string{}}
		for _, f := range c.Fields {
			one.Fields = append(one.Fields, [2]string{f.Name, f.Value})
		}
		d.Components = append(d.Components, one)
	}
	for _, x := range e.Explained {
		d.Sent = append(d.Sent, ClientReplica{x.Slot, x.Name, x.Explanation})
	}
	return d
}
