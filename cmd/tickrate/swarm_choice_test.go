package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Choices are summed by address: who joined where, and the median of the best round trips.
func TestChoiceOf(t *testing.T) {
	const ms = time.Millisecond
	a, b, c := netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:2"),
		netip.MustParseAddrPort("192.0.2.3:3")
	ping := func(at netip.AddrPort, n int, best time.Duration) netcode.ServerPing {
		return netcode.ServerPing{Address: at, Answered: n, Best: best}
	}
	got := choiceOf([]client.Choice{
		{Server: b, Took: 230 * ms, Pings: []netcode.ServerPing{ping(a, 3, 80*ms), ping(b, 3, 20*ms)}},
		{Server: b, Took: 250 * ms, Pings: []netcode.ServerPing{ping(b, 2, 40*ms), ping(a, 0, 0)}},
		{Server: a, Took: 300 * ms, Pings: []netcode.ServerPing{ping(a, 1, 90*ms)}},
		{Server: a, Took: 500 * ms, Pings: []netcode.ServerPing{ping(c, 0, 0), ping(a, 3, 70*ms)}},
		{Server: a}, // whose token names one server
	})
	want := &swarmChoice{[]serverChoice{{a.String(), 2, 12, 7, 80}, {b.String(), 2, 6, 5, 20},
		{c.String(), 0, 3, 0, 0}}, 250}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var text strings.Builder
	got.print(&text)
	if want := "  servers chosen in 250 ms (median):\n" +
		"    192.0.2.1:1  2 players, best of three pings 80.0 ms (median), 7 of 12 answered\n" +
		"    192.0.2.2:2  2 players, best of three pings 20.0 ms (median), 5 of 6 answered\n" +
		"    192.0.2.3:3  0 players, no answer to 3 pings\n"; text.String() != want {
		t.Errorf("said\n%swant\n%s", text.String(), want)
	}
	if choiceOf([]client.Choice{{Server: a}}) != nil || choiceOf(nil) != nil {
		t.Error("a choice of one")
	}
}

// Players of a swarm whose tokens name a server of another network, which does not answer, and one
// that is here, all join the one that is here, and the figures say so.
func TestRow80SwarmJoinsTheNearest(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of real sockets")
	}
	cmd, _, line := serving(t, "--ready", "--map", "gen:24:1", "--players", "24", "--journal", "none")
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	var r ready
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	here := r.UDP
	for _, decode := range []string{"own", "acks"} {
		s := playSwarm(t, "--players", "12", "--decode", decode, "--duration", "0.3s", "--nearest",
			"--server", "127.0.0.1:9", "--server", here)
		c := s.Choice
		if c == nil || len(c.Servers) != 2 || c.TookP50 < 210 {
			t.Fatalf("%s: %+v", decode, c)
		}
		if gone, near := c.Servers[0], c.Servers[1]; gone.Players != 0 || gone.Answers != 0 || near.Address != here ||
			near.Players != 12 || near.Pings != 36 || near.Answers < 12 || near.BestP50 <= 0 {
			t.Errorf("%s: %+v", decode, c)
		}
	}
	for _, args := range [][]string{
		{"--nearest", "--http", "127.0.0.1:1", "--http", "127.0.0.1:2"},
		{"--nearest", "--server", "127.0.0.1:9", "--http", "127.0.0.1:1"},
	} {
		if code, _, errs := result(t, append([]string{"swarm"}, args...)...); code != 2 ||
			!strings.Contains(errs, "--nearest") {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
}

// Players of a swarm get their places from a director, on two hosts each, and all of them play.
func TestSwarmByADirector(t *testing.T) {
	if testing.Short() {
		t.Skip("processes and their sockets")
	}
	fleetKey := filepath.Join(t.TempDir(), "fleet.key")
	if err := os.WriteFile(fleetKey, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "fleet", "director", "--fleet-key", fleetKey, "--nats-listen", "127.0.0.1:0", "--http",
		"127.0.0.1:0")
	_, lines := started(t, cmd, regexp.MustCompile(`matches: POST \S+\n`))
	nats := regexp.MustCompile(`--fleet (\S+)`).FindStringSubmatch(lines)[1]
	at := regexp.MustCompile(`http://(\S+)/v1/match`).FindStringSubmatch(lines)[1]
	for _, listen := range []string{"127.0.0.1:0", "127.0.0.2:0"} {
		probe, err := net.ListenPacket("udp", listen)
		if err != nil {
			t.Skipf("this system has no second address of its own: %v", err)
		}
		_ = probe.Close()
		readyServer(t, command(t, "serve", "--ready", "--players", "32", "--map", "arena-16", "--lobbies", "1:2",
			"--prefault=false", "--listen", listen, "--http", "127.0.0.1:0", "--fleet", nats, "--fleet-key", fleetKey,
			"--fleet-name", "host-"+strings.ReplaceAll(listen[:9], ".", "-")))
	}
	for end := time.Now().Add(waitLimit); ; time.Sleep(10 * time.Millisecond) {
		var s struct{ Available int }
		resp, err := http.Get("http://" + at + "/stats")
		if err == nil {
			err = errors.Join(json.NewDecoder(resp.Body).Decode(&s), resp.Body.Close())
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d hosts within %v, %v", s.Available, waitLimit, err)
		}
		if s.Available == 2 {
			break
		}
	}
	s := playSwarm(t, "--director", at, "--map", "arena-16", "--hosts", "2", "--players", "6", "--duration", "0.3s")
	if s.Choice == nil || len(s.Choice.Servers) != 2 || s.Choice.Servers[0].Players+s.Choice.Servers[1].Players != 6 {
		t.Errorf("%+v", s.Choice)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--hosts", "9"}, exitUsage, "--hosts 9: expected 1 to 8"},
		{[]string{"--nearest"}, exitUsage, "--director: expected no"},
		{[]string{"--map", ""}, 1, "map: expected 1 to 200 bytes"},
	} {
		if code, _, errs := result(t, append([]string{"swarm", "--director", at}, c.args...)...); code != c.code ||
			!strings.Contains(errs, c.want) {
			t.Errorf("%v: code %d, %s", c.args, code, errs)
		}
	}
}
