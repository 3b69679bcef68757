package host

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/server/metrics"
)

// A host serves its live page, streams frames to readers, and shuts down in time with a reader
// connected.
func TestHostShowsLivePage(t *testing.T) {
	t.Parallel() // it waits
	h, stop := running(t, hostConfig("mmsg"))
	at := "http://" + h.HTTPAddr()
	if status, body := ask(t, "GET", at+"/"); status != 200 || !strings.Contains(body, "/dash/page.js") {
		t.Errorf("%d %.80s", status, body)
	}
	if status, body := ask(t, "GET", at+"/dash/map.json"); status != 200 ||
		!strings.Contains(body, `"arena":"arena-16"`) {
		t.Errorf("%d %.80s", status, body)
	}
	if h.initial().dash.Watched() {
		t.Error("watched by nobody")
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 3 * waitLimit}
	resp, err := client.Get(at + "/dash/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	var frames []dash.Frame
	for len(frames) < 3 && lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), `data: {"tick"`); ok {
			var f dash.Frame
			if err := json.Unmarshal([]byte(`{"tick"`+text), &f); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, f)
		}
	}
	if len(frames) < 3 || frames[2].Tick <= frames[1].Tick || len(frames[2].Ticks) == 0 ||
		len(frames[2].Stages) != metrics.NumStages || len(frames[2].Parts) != int(metrics.NumSections) {
		t.Errorf("%+v, %v", frames, lines.Err())
	}
	stop()
	for lines.Scan() {
	}
	eventually(t, "nobody watches", func() bool { return !h.initial().dash.Watched() })
}
