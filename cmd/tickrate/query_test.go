package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/query"
)

// Row 61: tickrate query prints what serve --query answers, as text and JSON, and the server
// counts it.
func TestRow61QueryOfAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	cmd, r := readyServer(t, command(t, "serve", "--ready", "--players", "8",
		"--map", "town:16:7", "--mode", "assault", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--insecure-test-key", "--query", "127.0.0.1:0", "--name", "a <b> server"))
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	var out, errs bytes.Buffer
	ask := command(t, "query", "--json", "--timeout", "30s", r.Query)
	ask.Stdout, ask.Stderr = &out, &errs
	if err := ask.Run(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	var a struct {
		RTTMillis float64 `json:"rtt_ms"`
		Info      query.Info
		Rules     map[string]any
		Teams     []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	if a.Info.Name != "a <b> server" || a.Info.MaxPlayers != 8 || a.Info.Map != "town:16:7" ||
		a.Info.Game != "assault" || a.RTTMillis <= 0 || a.Rules["rate_hz"] != 60.0 || len(a.Teams) != 2 ||
		!strings.HasSuffix(r.UDP, fmt.Sprintf(":%d", a.Info.Port)) {
		t.Errorf("%s", &out)
	}
	text := command(t, "query", "--timeout", "30s", r.Query)
	out.Reset()
	text.Stdout = &out
	if err := text.Run(); err != nil || !strings.Contains(out.String(), "0 of 8") ||
		!strings.Contains(out.String(), "rewind_millis") {
		t.Errorf("%v\n%s", err, &out)
	}
	var s struct{ Query map[string]uint64 }
	statsOf(t, r, &s)
	if s.Query["answers"] < 2 || s.Query["challenges"] < 2 {
		t.Errorf("the server counts %v", s.Query)
	}
}

// A server that does not answer is an error after the timeout.
func TestQueryOfNobody(t *testing.T) {
	deaf, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	if _, _, err = queryServer(t.Context(), deaf.LocalAddr().(*net.UDPAddr), 100*
		time.Millisecond); err == nil || !strings.Contains(err.Error(), "no answer within 100ms") {
		t.Error(err)
	}
}

func TestPlainText(t *testing.T) {
	if got := plainText("a\x1b[2Jb\u202ec"); got != "a?[2Jb?c" {
		t.Errorf("%q", got)
	}
}
