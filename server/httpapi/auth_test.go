package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Requests that slow the server or change its figures need access: a trace of an hour, or a reset
// by a web page.
func TestPagesGuarded(t *testing.T) {
	const profile, reset, stats, page, events = "GET /debug/pprof/trace",
		"POST /stats/reset", "GET /stats", "GET /", "GET /dash/events"
	for i, c := range []struct {
		secret  string
		private bool
		page    string
		header  map[string]string
		want    int
	}{
		{"", true, profile, nil, 200},
		{"", true, reset, nil, 200},
		{"s", true, profile, nil, 200},
		{"", true, profile, map[string]string{"Host": "evil.example"}, 403}, // DNS rebinding
		{"", true, reset, map[string]string{"Host": "evil.example"}, 403},
		{"", true, reset, map[string]string{"Origin": "http://evil.example"}, 403},
		{"", true, reset, map[string]string{"Origin": "http://127.0.0.1:7914"}, 200},
		{"", false, profile, nil, 403},
		{"", false, reset, nil, 403},
		{"", false, stats, nil, 200},
		{"s", false, profile, nil, 401},
		{"s", false, reset, map[string]string{"Authorization": "Bearer t"}, 401},
		{"s", false, reset, map[string]string{"Authorization": "Bearer s", "Host": "play.example"}, 200},
		{"s", false, stats, nil, 200},
		{"", true, page, nil, 200},
		{"", true, events, map[string]string{"Host": "evil.example"}, 403}, // DNS rebinding
		{"", true, events, map[string]string{"Origin": "http://evil.example"}, 403},
		{"", true, events, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"", true, page, map[string]string{"Sec-Fetch-Site": "cross-site"}, 200}, // a link to it
		{"", false, page, nil, 403},
		{"", false, events, nil, 403},
		{"s", false, page, nil, 401},
		{"s", false, events, map[string]string{"Authorization": "Basic YTp0"}, 401}, // a:t
		{"s", false, events, map[string]string{"Authorization": "Basic YTpz"}, 200}, // a:s
		{"s", false, page, map[string]string{"Authorization": "Bearer s"}, 200},
		// the page's password is that of profiles, as tools send it that read it from a URL
		{"s", false, profile, map[string]string{"Authorization": "Basic YTpz"}, 200},
		{"s", false, profile, map[string]string{"Authorization": "Basic YTp0"}, 401},
		{"s", false, reset, map[string]string{"Authorization": "Basic YTpz"}, 200},
		// a browser that has the password does not send it for other sites
		{"s", false, profile, map[string]string{"Authorization": "Basic YTpz", "Sec-Fetch-Site": "none"}, 200},
		{"s", false, profile, map[string]string{"Authorization": "Basic YTpz", "Sec-Fetch-Site": "cross-site"}, 403},
		{"s", false, profile, map[string]string{"Authorization": "Basic YTpz", "Sec-Fetch-Site": "same-site"}, 403},
		{"s", false, reset, map[string]string{"Authorization": "Basic YTpz", "Origin": "http://evil.example"}, 403},
		{"s", false, events,
			map[string]string{"Authorization": "Basic YTpz", "Origin": "http://evil.example"}, 403},
		// an image of another site's page has no Origin
		{"", true, profile, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"", true, "GET /v1/shots", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"", true, "GET /debug/pprof/heap?gc=1", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"", true, stats, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"", true, reset, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"", true, "GET /healthz", map[string]string{"Sec-Fetch-Site": "cross-site"}, 200},
		{"", true, "GET /metrics?full=128", nil, 200},
		{"", false, "GET /metrics?full=128", nil, 403},
		{"s", false, "GET /metrics?full=128", nil, 401},
		{"s", false, "GET /metrics", nil, 200},
	} {
		h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
			Access{c.private, c.secret}, nil)
		var method, path string
		for n := range c.page {
			if c.page[n] == ' ' {
				method, path = c.page[:n], c.page[n+1:]
			}
		}
		r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
		r.Host = "127.0.0.1:7914"
		for k, v := range c.header {
			if r.Header.Set(k, v); k == "Host" {
				r.Host = v
			}
		}
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%d: %s: %d %s, want %d", i, c.page, w.Code, w.Body, c.want)
		}
	}
}

// All pages share one check: its rules, its errors, and the credentials that it asks for.
func TestAuth(t *testing.T) {
	for i, c := range []struct {
		private      bool
		secret       string
		host, bearer string
		want         int
		text, asks   string
	}{
		0: {true, "", "localhost", "", 0, "", ""},
		1: {true, "s", "[::1]:80", "", 0, "", ""},
		2: {true, "s", "evil.example", "Bearer s", 403, "ask by address", ""},
		3: {false, "", "localhost", "Bearer ", 403, "from other machines, so there: start", ""},
		4: {false, "s", "localhost", "", 401, "expected Authorization", "Bearer"},
		5: {false, "s", "evil.example", "bearer  s ", 0, "", ""},
		6: {false, "s", "localhost", "Basic s", 401, "expected Authorization", "Bearer"},
		7: {false, "s", "localhost", "Bearer ss", 401, "expected Authorization", "Bearer"},
	} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Host = c.host
		r.Header.Set("Authorization", c.bearer)
		a := newAuth(Access{c.private, c.secret})
		no := a.check(w, r, ", so there")
		if no == nil {
			no = new(refusal)
		}
		if no.status != c.want || !strings.Contains(no.text, c.text) ||
			w.Header().Get("WWW-Authenticate") != c.asks {
			t.Errorf("%d: %d %q, asks for %q", i, no.status, no.text, w.Header().Get("WWW-Authenticate"))
		}
	}
}

// The secret may be the password of a URL, as go tool pprof and curl take it.
func TestPasswordOfAURL(t *testing.T) {
	web := httptest.NewServer(Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Access{Secret: "s"}, nil))
	defer web.Close()
	for password, want := range map[string]int{"s": 200, "t": 401, "": 401} {
		for _, path := range []string{"/debug/pprof/profile", "/debug/pprof/", "/v1/shots", "/"} {
			resp, err := http.Get(strings.Replace(web.URL, "//", "//any:"+password+"@", 1) + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			asks := resp.Header.Get("WWW-Authenticate")
			if resp.StatusCode != want || want == 401 && strings.HasPrefix(asks, "Basic ") == (path == "/v1/shots") {
				t.Errorf("%q %s: %d, asks for %q", password, path, resp.StatusCode, asks)
			}
		}
	}
}
