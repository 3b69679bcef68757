package main

import (
	"encoding/json"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Choices are summed by address: who joined where, and the median of the best round trips.
func TestChoiceOf(t *testing.T) {
	const ms = time.Millisecond
	a, b := netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:2")
	ping := func(at netip.AddrPort, n int, best time.Duration) netcode.ServerPing {
		return netcode.ServerPing{Address: at, Answered: n, Best: best}
	}
	got := choiceOf([]client.Choice{
		{Server: b, Took: 230 * ms, Pings: []netcode.ServerPing{ping(a, 3, 80*ms), ping(b, 3, 20*ms)}},
		{Server: b, Took: 250 * ms, Pings: []netcode.ServerPing{ping(b, 2, 40*ms), ping(a, 0, 0)}},
		{Server: a, Took: 300 * ms, Pings: []netcode.ServerPing{ping(a, 1, 90*ms)}},
		{Server: a}, // whose token names one server
	})
	want := &swarmChoice{[]serverChoice{{a.String(), 1, 9, 4, 80}, {b.String(), 2, 6, 5, 20}}, 250}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var text strings.Builder
	got.print(&text)
	if want := "  servers chosen in 250 ms (median):\n" +
		"    192.0.2.1:1  1 player, best of three pings 80.0 ms (median), 4 of 9 answered\n" +
		"    192.0.2.2:2  2 players, best of three pings 20.0 ms (median), 5 of 6 answered\n"; text.String() != want {
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
