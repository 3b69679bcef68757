package host

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/server/httpapi"
)

// A running host serves filtered shot records to requests with access. One without a shot log says
// so.
func TestHostGivesShotRecords(t *testing.T) {
	t.Parallel() // it waits
	cfg := hostConfig("mmsg")
	cfg.Lobby.ShotLogSize = 64
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 { // as if they had been fired
		r := h.initial().lobby.ShotLog().Next()
		r.Tick, r.Shooter, r.Subject, r.Verdict, r.ClampReason = 1, uint32(i%4),
			9, lagcomp.Verdict(i%3), lagcomp.ClampReason(i%8)
		r.Miss = 0.1
	}
	stop := runningOf(t, h.Run)
	defer stop()
	page := "http://" + h.HTTPAddr() + "/v1/shots"
	for _, c := range []struct {
		query string
		want  int
	}{
		{"", 64}, {"?last=10", 10}, {"?since=95", 5}, {"?number=100", 1},
		{"?number=3", 0}, {"?shooter=2", 16}, {"?victim=8", 0}, {"?victim=9&last=3", 3},
		{"?verdict=wall&verdict=object", 42}, {"?clamp=any&last=8", 7}, {"?from=2", 0},
		{"?to=1", 64}, {"?since=18446744073709551615", 0},
	} {
		status, body := ask(t, "GET", page+c.query)
		var s httpapi.ShotList
		if err := json.Unmarshal([]byte(body), &s); status != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %.200s", c.query, status, body)
		}
		if len(s.Shots) != c.want || s.Count != 100 || s.Rate != 60 {
			t.Errorf("%s: %d of %d shots at %d Hz, want %d", c.query, len(s.Shots), s.Count, s.Rate, c.want)
		}
		for i := 1; i < len(s.Shots); i++ {
			if s.Shots[i].Number <= s.Shots[i-1].Number {
				t.Fatalf("%s: out of order", c.query)
			}
		}
	}
	for _, bad := range []string{"?last=-1", "?last=x", "?since=18446744073709551616",
		"?verdict=grazed", "?clamp=x", "?shooter=4294967296"} {
		if status, body := ask(t, "GET", page+bad); status != http.StatusBadRequest {
			t.Errorf("%s: %d %.200s", bad, status, body)
		}
	}
}

func TestHostWithoutReceipts(t *testing.T) {
	h, stop := running(t, hostConfig("mmsg"))
	defer stop()
	if status, body := ask(t, "GET", "http://"+h.HTTPAddr()+"/v1/shots"); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
}

// Shot records tell positions, so they need the same access as the console.
func TestShotRecordsAreGuarded(t *testing.T) {
	t.Parallel() // it waits
	cfg := hostConfig("mmsg")
	cfg.HTTP.Listen, cfg.Lobby.ShotLogSize = "0.0.0.0:0", 8
	h, stop := running(t, cfg)
	if status, _ := ask(t, "GET", "http://"+h.HTTPAddr()+"/v1/shots"); status != http.StatusForbidden {
		t.Errorf("a port for all: %d", status)
	}
	stop()
	cfg.HTTP.Listen, cfg.HTTP.Secret = "127.0.0.1:0", "secret"
	h, stop = running(t, cfg)
	defer stop()
	if status, _ := ask(t, "GET", "http://"+h.HTTPAddr()+"/v1/shots"); status != http.StatusUnauthorized {
		t.Errorf("without the secret: %d", status)
	}
	req, err := http.NewRequest(http.MethodGet, "http://"+h.HTTPAddr()+"/v1/shots", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Errorf("with the secret: %d", res.StatusCode)
	}
}
