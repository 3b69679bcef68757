package host

import (
	"net/http"
	"testing"
)

// On a port that others can reach, a running host asks for its secret.
func TestHostGuardsItsPages(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.HTTP.Listen = "0.0.0.0:0"
	h, stop := running(t, cfg)
	defer stop()
	for _, page := range []string{"GET /debug/pprof/goroutine", "POST /stats/reset"} {
		method, path := page[:len("GET")], page[len("GET "):]
		if page[0] == 'P' {
			method, path = "POST", page[len("POST "):]
		}
		if status, body := ask(t, method, "http://"+h.HTTPAddr()+path); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", page, status, body)
		}
	}
	if status, _ := ask(t, "GET", "http://"+h.HTTPAddr()+"/stats"); status != http.StatusOK {
		t.Errorf("stats: %d", status)
	}
}
