package host

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/server/metrics"
)

// TestThreat35LivePage: requests without access or from another site are refused and counted. The
// page loads from its own host only and makes text nodes of all data. It listens on loopback by
// default, and without a secret nothing that changes state is reachable from other machines.
func TestThreat35LivePage(t *testing.T) {
	if at := netip.MustParseAddrPort(hostConfig("mmsg").HTTP.Listen); !at.Addr().IsLoopback() {
		t.Errorf("tests listen at %v", at)
	}
	h, stop := running(t, hostConfig("mmsg"))
	defer stop()
	refused := &h.initial().lobby.Stats.Count[metrics.HTTPRefused]
	get := func(method, path string, header ...string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequest(method, "http://"+h.HTTPAddr()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, string(body)
	}
	if status, head, _ := get("GET", "/"); status != 200 ||
		!strings.Contains(head.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'") ||
		strings.Contains(head.Get("Content-Security-Policy"), "unsafe") ||
		head.Get("X-Content-Type-Options") != "nosniff" || head.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", status, head)
	}
	if n := refused.Load(); n != 0 {
		t.Errorf("%d refused before anybody was", n)
	}
	for i, header := range [][]string{
		{"Origin", "http://evil.example"}, // as a stream from another site has it
		{"Sec-Fetch-Site", "cross-site"},
		{"Host", "evil.example"}, // a name that leads here
	} {
		if status, _, body := get("GET", "/dash/events", header...); status != 403 ||
			strings.Contains(body, "event:") {
			t.Errorf("%v: %d %.80s", header, status, body)
		}
		if n := refused.Load(); n != uint64(i+1) {
			t.Errorf("%v: %d refused", header, n)
		}
	}
	if status, _, _ := get("POST", "/stats/reset", "Origin", "http://evil.example"); status != 403 {
		t.Errorf("another site resets: %d", status)
	}
	_, _, script := get("GET", "/dash/page.js")
	if len(script) < 1000 || !strings.Contains(script, "textContent") {
		t.Errorf("a script of %d bytes", len(script))
	}
	for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML",
		"document.write", "DOMParser", "eval(", "new Function", "createContextualFragment", "setHTML"} {
		if strings.Contains(script, way) {
			t.Errorf("the script makes markup by %s", way)
		}
	}
	if n := refused.Load(); n != 4 {
		t.Errorf("%d refused", n)
	}
}
