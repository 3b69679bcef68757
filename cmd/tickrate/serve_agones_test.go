package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/fleet/agones"
	"github.com/tickrate/tickrate/fleet/agones/fake"
)

// A game server of Agones becomes ready, makes a lobby for each allocation but the first, which takes
// the lobby that waits, drains at the label of a fleet's overflow, and ends with exit code 0.
func TestRow77ServeUnderAgones(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	listen := netip.MustParseAddrPort(freePort(t))
	s := fake.New(fake.Config{Batch: 20 * time.Millisecond, Late: 300 * time.Millisecond, Port: int(listen.Port())})
	web := httptest.NewServer(fakeCluster(s))
	defer web.Close()
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "serve", "--ready", "--players", "4", "--map", "arena-16", "--lobbies", "1:3",
		"--prefault=false", "--listen", fmt.Sprint(":", listen.Port()), "--http", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, agones.PortVariable+"="+port)
	cmd, r := readyServer(t, cmd)
	rooms := func(taken, most int) func() bool {
		return func() bool {
			return s.Record().Status.Counters[agones.CounterRooms] ==
				agones.Counter{Count: agones.Int64(taken), Capacity: agones.Int64(most)}
		}
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(waitLimit); !holds(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not within %v: %s: %+v", waitLimit, what, s.Record().Status)
			}
		}
	}
	until("ready", func() bool { return s.Record().Status.State == agones.StateReady && rooms(0, 3)() })
	lobbies := func() (n int) {
		var list struct{ Lobbies []struct{} }
		resp, err := http.Get("http://" + r.HTTP + "/v1/lobbies")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		return len(list.Lobbies)
	}
	for i, want := range []int{1, 2} {
		resp, err := web.Client().Post(web.URL+"/fake/allocate?map=arena-16&players=4", "", nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
		until("a room more", func() bool { return rooms(i+1, 3)() && lobbies() == want })
	}
	k, err := tokensOverHTTP(t.Context(), r.HTTP, "")
	if err != nil {
		t.Fatal(err)
	}
	if k.at != listen {
		t.Errorf("tokens name %v, the record %v", k.at, listen)
	}
	until("an empty list of players", func() bool { return len(s.Record().Status.Lists[agones.ListPlayers].Values) == 0 })
	playing(t, []*player{newPlayer(t, k, 0)}, client.Joined)
	until("one player in the list", func() bool { return len(s.Record().Status.Lists[agones.ListPlayers].Values) == 1 })
	resp, err := web.Client().Post(web.URL+"/fake/label?key="+agones.DrainLabel+"&value=true", "", nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if state := s.Record().Status.State; state != agones.StateShutdown {
		t.Errorf("state %s at the end", state)
	}
	code, _, errs := result(t, "serve", "--agones", "--listen", "127.0.0.1:0", "--http", "")
	if code != exitUsage || !strings.Contains(errs, "--agones: expected --lobbies") {
		t.Errorf("%d %s", code, errs)
	}
}
