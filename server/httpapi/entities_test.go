package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// ask sends a request and plays ticks until it is answered.
func (l *testHost) ask(pages http.Handler, path string) *httptest.ResponseRecorder {
	l.t.Helper()
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		pages.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	}()
	for {
		select {
		case <-done:
			return w
		default:
			l.between()
		}
	}
}

// The list has every entity. Each entity has its components field by field, and for each client
// either that it is sent or the reason why it is not.
func TestEntitiesOfTheMatch(t *testing.T) {
	game := sim.DefaultGame()
	game.Layout.Barrels = []geom.Vec3{{X: 6, Z: 2}}
	l := newTestHost(t, server.Config{Rules: sim.Rules{Game: game}}, 4, 200)
	l.src.Dash = NewDashFeed(l.sim.Lobby, func() string { return "normal" }, l.src.Clock)
	t.Cleanup(l.src.Dash.Close)
	pages := l.pages("")
	var list EntityList
	if w := l.ask(pages, "/dash/entities"); json.Unmarshal(w.Body.Bytes(), &list) != nil || w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	kinds := map[string]int{}
	for _, e := range list.Entities {
		kinds[e.Kind]++
		var d EntityDetail
		w := l.ask(pages, "/dash/entity?id="+e.ID)
		if json.Unmarshal(w.Body.Bytes(), &d) != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s", e.ID, w.Code, w.Body)
		}
		if d.ID != e.ID || d.Kind != e.Kind || len(d.Components) == 0 || d.Pos == nil {
			t.Errorf("%s: %+v", e.ID, d)
		}
		if d.Replicated != (len(d.Sent) == 4) || d.Clients != 4 {
			t.Errorf("%s %s: replicated %v, explained for %d of %d clients", e.Kind, e.ID, d.Replicated,
				len(d.Sent), d.Clients)
		}
		for _, x := range d.Sent {
			if x.Name == "" || x.Text == "" || x.Reason >= server.ReasonNoEntity {
				t.Errorf("%s %s: %+v", e.Kind, e.ID, x)
			}
		}
	}
	if list.Total != len(list.Entities) || kinds["player"] != 4 || kinds["barrel"] != 1 ||
		kinds["spawn point"] == 0 {
		t.Errorf("%d entities: %v", list.Total, kinds)
	}
	w := l.ask(pages, "/dash/entity?id=slot:1")
	for _, want := range []string{`"name":"bot `, `["Health",`, `"type":"sim.Vital"`, `"reason":"sent"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
	for path, want := range map[string]int{
		"/dash/entity?id=": 404, "/dash/entity?id=9999.1": 404, "/dash/entity?id=x&from=-1": 400,
	} {
		if w := l.ask(pages, path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	if w := l.ask(pages, "/dash/entity?id=slot:1&from=2"); strings.Count(w.Body.String(), `"client_slot"`) != 2 {
		t.Errorf("from slot 2: %s", w.Body)
	}
}
