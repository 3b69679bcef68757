package fake_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/fleet/agones"
	"github.com/tickrate/tickrate/fleet/agones/fake"
)

// The stand-in answers as the SDK server of Agones 1.60 does in its local mode.
func TestContract(t *testing.T) {
	s := fake.New(fake.Config{})
	web := httptest.NewServer(s)
	defer web.Close()
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/health", "", 400, `"code"`},
		{"POST", "/health", "{}", 200, "{}"},
		{"POST", "/ready", "{}", 200, "{}"},
		{"GET", "/gameserver", "", 200, `"state":"Ready"`},
		{"GET", "/gameserver", "", 200, `"deletion_timestamp":"0"`},
		{"GET", "/gameserver", "", 200, `"period_seconds":3`},
		{"GET", "/v1beta1/counters/rooms", "", 200, `{"name":"rooms","count":"1","capacity":"10"}`},
		{"PATCH", "/v1beta1/counters/rooms", `{"capacity":"12","count":4,"countDiff":"-1"}`, 200,
			`{"name":"rooms","count":"3","capacity":"12"}`},
		{"PATCH", "/v1beta1/counters/rooms", `{"count":"13"}`, 500, `"code":2`},
		{"PATCH", "/v1beta1/counters/rooms", `{"countDiff":-4}`, 500, `"code":2`},
		{"GET", "/v1beta1/counters/none", "", 500, `"code":2`},
		{"GET", "/v1beta1/lists/players", "", 200,
			`{"name":"players","capacity":"100","values":["test0","test1","test2"]}`},
		{"PATCH", "/v1beta1/lists/players", `{"values":[]}`, 200, `"capacity":"100","values":[]`},
		{"PATCH", "/v1beta1/lists/players", `{"values":["test0","test1","test2"]}`, 200,
			`"values":["test0","test1","test2"]`},
		{"PATCH", "/v1beta1/lists/none", `{"values":[]}`, 500, `"code":2`},
		{"PATCH", "/v1beta1/lists/players", `{"capacity":"120"}`, 500, `"code":2`},
		{"PATCH", "/v1beta1/lists/players", `{"capacity":"2"}`, 200, `"values":["test0","test1"]`},
		{"POST", "/v1beta1/lists/players:addValue", `{"value":"p9"}`, 500, `"code":2`},
		{"POST", "/v1beta1/lists/players:removeValue", `{"value":"test0"}`, 200, `"values":["test1"]`},
		{"POST", "/v1beta1/lists/players:addValue", `{"value":"p9"}`, 200, `"values":["test1","p9"]`},
		{"POST", "/v1beta1/lists/players:addValue", `{"value":"p9"}`, 500, `"code":2`},
		{"PUT", "/metadata/label", `{"key":"k","value":"v"}`, 200, "{}"},
		{"GET", "/gameserver", "", 200, `"agones.dev/sdk-k":"v"`},
		{"GET", "/nothing", "", 404, `"code":5`},
		{"POST", "/shutdown", "{}", 200, "{}"},
	} {
		req, err := http.NewRequest(c.method, web.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := web.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(b), c.want) {
			t.Errorf("%s %s %s: %d %s, want %d with %s: %v", c.method, c.path, c.body, resp.StatusCode, b,
				c.status, c.want, err)
		}
	}
	resp, err := web.Client().Get(web.URL + "/watch/gameserver")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadBytes('\n')
	var event struct{ Result agones.GameServer }
	if err != nil || json.Unmarshal(line, &event) != nil || event.Result.Status.State != agones.StateShutdown {
		t.Errorf("%s: %v", line, err)
	}
}

// game is a game server without lobbies to play.
type game struct {
	mu       sync.Mutex
	taken    int
	opened   []agones.Allocation
	draining bool
	players  []string
}

func (g *game) figures() agones.Figures {
	g.mu.Lock()
	defer g.mu.Unlock()
	return agones.Figures{Taken: g.taken, Most: 6, Draining: g.draining, Players: g.players}
}

func (g *game) open(_ context.Context, a agones.Allocation) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.taken == 6 {
		return fmt.Errorf("6 lobbies: expected fewer")
	}
	g.taken++
	g.opened = append(g.opened, a)
	return nil
}

func (g *game) play(players ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.players = players
}

func (g *game) drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.draining = true
}

func (g *game) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken--
}

// A client reaches the same figures with an SDK server that is late, fails, repeats and reorders: one
// lobby an allocation, a counter as high as the lobbies are many, a drain, and its end.
func TestRow77ClientUnderFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := fake.New(fake.Config{Batch: 50 * time.Millisecond, Faults: true, Late: time.Second, Seed: seed})
			web := httptest.NewServer(s)
			defer web.Close()
			g := new(game)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				agones.NewClient(agones.Config{URL: web.URL, Figures: g.figures, Open: g.open, Drain: g.drain,
					Log: slog.New(slog.DiscardHandler)}).Run(ctx)
			}()
			defer func() { cancel(); <-done }()
			rooms := func() agones.Counter { return s.Record().Status.Counters[agones.CounterRooms] }
			eventually(t, "Ready with no room taken", func() bool {
				return s.Record().Status.State == agones.StateReady && rooms() == (agones.Counter{Capacity: 6})
			})
			for i := range 4 { // the last two come in one record
				if err := s.Allocate(agones.Allocation{Map: "arena-16", Players: 10}); err != nil {
					t.Fatal(i, err)
				}
				if i < 2 {
					time.Sleep(150 * time.Millisecond)
				}
			}
			same := func(taken int) func() bool {
				return func() bool {
					return g.figures().Taken == taken && rooms() == (agones.Counter{Count: agones.Int64(taken), Capacity: 6})
				}
			}
			eventually(t, "four lobbies, and a counter of four", same(4))
			g.end()
			eventually(t, "a counter of three", same(3))
			for _, ids := range [][]string{{"7", "9"}, {"9"}, {}} {
				g.play(ids...)
				eventually(t, "a list of the players", func() bool {
					return slices.Equal(s.Record().Status.Lists[agones.ListPlayers].Values, ids)
				})
			}
			g.mu.Lock()
			for _, a := range g.opened {
				if a != (agones.Allocation{Map: "arena-16", Players: 10}) {
					t.Errorf("opened %+v", a)
				}
			}
			g.mu.Unlock()
			if s.Calls("/health") == 0 {
				t.Error("no heartbeat")
			}
			s.Label(agones.DrainLabel, "true")
			eventually(t, "a drain with a counter of zero", func() bool {
				return g.figures().Draining && rooms() == (agones.Counter{})
			})
			cancel()
			<-done
			// The last call may be the one that fails.
			if state := s.Record().Status.State; state != agones.StateShutdown && s.Calls("/shutdown") > 0 {
				t.Errorf("state %s", state)
			}
		})
	}
}

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 40 s: %s", what)
		}
	}
}
