package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// What a new user mistypes ends with an error that says what to write instead.
func TestMistypedCommandsSayWhatWasMeant(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string
	}{
		{"help nope", `unknown command "nope"`},
		{"help serv", "did you mean serve?"},
		{"help map chek", "did you mean check?"},
		{"serv", "did you mean serve?"},
		{"serve --snapshot-rate 25", "25 snapshots a second at 60 Hz: expected 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60"},
		{"serve --players=0", "--players 0: expected 1 to 4096"},
		{"serve --rate 0", "--rate 0: expected 20 to 144"},
		{"serve --max-steps 0", "--max-steps 0, --max-batch 1: expected 1 or more"},
		{"serve --listen http://127.0.0.1:7913", "--listen: http://127.0.0.1:7913 is a URL: expected host:port, as 127.0.0.1:7913"},
		{"serve --http http://127.0.0.1:7914", "--http: http://127.0.0.1:7914 is a URL"},
		{"serve --query udp://127.0.0.1:7914", "--query: udp://127.0.0.1:7914 is a URL"},
		{"agones fake --listen http://127.0.0.1:1", "is a URL: expected host:port, as 127.0.0.1:1"},
		{"impair --to 127.0.0.1:9 --profile rate=64k", "want bits a second with their unit, such as 512kbit"},
		{"query http://127.0.0.1:7915/", "is a URL: expected host:port, as 127.0.0.1:7915"},
		{"swarm --server http://127.0.0.1:7913", "is a URL: expected host:port, as 127.0.0.1:7913"},
		{"impair --to http://127.0.0.1:7913", "is a URL: expected host:port, as 127.0.0.1:7913"},
	} {
		if code, _, errs := result(t, strings.Fields(tt.line)...); code != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("tickrate %s: %d %q, want 2 and %q", tt.line, code, errs, tt.want)
		}
	}
	if code, out, _ := result(t, "help", "map", "check"); code != 0 || !strings.Contains(out, "flood fill") {
		t.Errorf("tickrate help map check: %d %q, want its help", code, out)
	}
}

// Where a server's HTTP port is wanted, a URL does as well as host:port.
func TestURLsOfServersAreUnderstood(t *testing.T) {
	var asked []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.Error(w, "not now", http.StatusTeapot)
	}))
	defer web.Close()
	for line, path := range map[string]string{
		"inspect why 1 --http %s": "/v1/explain", "inspect bits --http %s": "/v1/bandwidth",
		"inspect shots %s": "/v1/shots", "watch --once %s": "/dash/events",
		"swarm --players 1 --http %s": "/v1/connect", "swarm --players 1 --director %s": "/v1/match",
	} {
		for _, of := range []string{web.URL, web.URL + "/", web.Listener.Addr().String()} {
			asked = nil
			code, _, errs := result(t, strings.Fields(fmt.Sprintf(line, of))...)
			if code != 1 || !strings.Contains(errs, "418") || len(asked) != 1 || asked[0] != path {
				t.Errorf(line+": %d %q, asked for %q", of, code, errs, asked)
			}
		}
	}
}

// inspect why about a client or an entity that is not there is a failure.
func TestWhyOfNobodyFails(t *testing.T) {
	reason := ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"version": 2, "explanations": [{"client": 1, "slot": -1, "reason": %q}]}`, reason)
	}))
	defer web.Close()
	for _, c := range []struct {
		reason, args string
		code         int
		want         string
	}{
		{"no_client", "1", 1, "CLIENT 1: there is no such client"},
		{"no_client", "1 --json", 1, "CLIENT 1: there is no such client"},
		{"no_entity", "1 77", 1, "ENTITY 77: there is no such entity"},
		{"loading", "1", 0, ""},
	} {
		reason = c.reason
		args := append([]string{"inspect", "why", "--http", web.URL}, strings.Fields(c.args)...)
		if code, _, errs := result(t, args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s %s: %d %q", c.reason, c.args, code, errs)
		}
	}
}

// A command that is interrupted while it waits for an answer says so in those words.
func TestInterruptedCommandsSaySo(t *testing.T) {
	web, err := net.Listen("tcp", "127.0.0.1:0") // never answers
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	for _, line := range []string{"watch --once %v", "inspect why 1 --http %v", "swarm --players 1 --http %v",
		"swarm --players 1 --director %v", "inspect shots %v"} {
		c := command(t, strings.Fields(fmt.Sprintf(line, web.Addr()))...)
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		conn, err := web.Accept() // it waits now
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err == nil || !strings.Contains(errs.String(), "interrupt") ||
			strings.Contains(errs.String(), "context") {
			t.Errorf(line+": %v %q", web.Addr(), err, errs.String())
		}
		conn.Close()
	}
}
