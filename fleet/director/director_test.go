package director

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/internal/textlog"
	"github.com/tickrate/tickrate/netio/netcode"
)

var fleetKey = announce.Key{0: 3, 31: 5}

// testHost is an announcement with rooms of 8 players.
func testHost(n int, players ...int) *announce.Host {
	h := &announce.Host{Name: fmt.Sprintf("h%04d", n), Boot: 1, Sequence: 1, SentUnix: time.Now().UnixMilli(),
		Instance: uint32(n + 1), Addresses: []string{"127.0.0.1:7913"}, MostRooms: len(players) + 1, MostSlots: 8,
		Workers: 1, Busy: 0.3, TickUS: 100}
	for i, p := range players {
		h.Rooms = append(h.Rooms, announce.Room{ID: uint32(i), Map: "a", Mode: "m", Players: p, Slots: 8, Open: true})
	}
	return h
}

// scan is find without ranks: the truth.
func (x *index) scan(p place, party int) (best *room) {
	for _, h := range x.hosts {
		if r := x.fullest(h, p, party); r != nil && x.holdsLevel(h) &&
			(best == nil || compareRanks(rank{int32(h.committed), 0, h},
				rank{int32(best.host.committed), 0, best.host}) < 0) {
			best = r
		}
	}
	return best
}

// filled returns an index of random hosts.
func filled(hosts int, rng *rand.Rand) *index {
	x := newIndex(limits{0.75, 8000})
	for i := range hosts {
		x.announce(randomHost(i, rng), time.Now().Add(time.Hour))
	}
	return x
}

func randomHost(n int, rng *rand.Rand) *announce.Host {
	h := testHost(n, rng.IntN(9), rng.IntN(9), rng.IntN(9), 8, 8, 8, 8, 8)
	h.Busy, h.Draining = rng.Float64()*0.9, rng.IntN(10) == 0
	for i := range h.Rooms {
		h.Rooms[i].Mode = string(rune('m' + rng.IntN(3)))
	}
	return h
}

func TestFindIsAScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, now := filled(40, rng), time.Now()
	for step := range 5000 {
		switch n := rng.IntN(40); rng.IntN(4) {
		case 0:
			x.announce(randomHost(n, rng), now.Add(time.Duration(rng.IntN(100))*time.Millisecond))
		case 1:
			now = now.Add(2 * time.Millisecond)
			x.expire(now)
		case 2:
			key := roomKey{uint32(n + 1), uint32(rng.IntN(8))}
			x.hold(key, holds{revision: uint64(step)}.with(hold{fmt.Sprint(step), now.Add(5 * time.Millisecond).
				UnixMilli(), rng.IntN(9)}))
		}
		p, party := place{"a", string(rune('m' + rng.IntN(4)))}, 1+rng.IntN(9)
		if got, want := x.find(p, party, new(apart)), x.scan(p, party); got != want {
			t.Fatalf("step %d: found %+v, want %+v", step, got, want)
		}
	}
}

func TestAnnouncementsAreRefusedByName(t *testing.T) {
	now, i := time.Now(), newIntake(fleetKey)
	seal := func(key announce.Key, change func(h *announce.Host)) []byte {
		h := testHost(1, 2)
		h.Sequence = 5
		change(h)
		raw, err := key.Seal(h)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	good := seal(fleetKey, func(*announce.Host) {})
	for n, c := range []struct {
		raw  []byte
		want error
	}{
		{good, nil},
		{good, announce.ErrReplayed},
		{seal(announce.Key{1}, func(h *announce.Host) { h.Sequence++ }), announce.ErrKey},
		{append(seal(fleetKey, func(h *announce.Host) { h.Sequence++ }), ' '), announce.ErrKey},
		{[]byte("hello"), announce.ErrForeign},
		{make([]byte, announce.MaxSize+1), announce.ErrSize},
		{seal(fleetKey, func(h *announce.Host) { h.Name = "other" }), announce.ErrSubject},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.SentUnix = 6, h.SentUnix-90_000 }), announce.ErrClock},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.Busy = 6, -1 }), announce.ErrFigures},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.Busy = 6, 2 }), announce.ErrFigures},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.Arrivals = 6, new(-1) }), announce.ErrFigures},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.TickUS, h.Rooms = 6, 1, nil }), announce.ErrFigures},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.Rooms[0].Players = 6, 9 }), announce.ErrFigures},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.Addresses = 6, []string{"x"} }), announce.ErrFigures},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence, h.Boot = 1, 2 }), nil},
		{seal(fleetKey, func(h *announce.Host) { h.Sequence = 9 }), announce.ErrReplayed}, // of the old process
	} {
		if _, err := i.open("tickrate.fleet.host.h0001", c.raw, now); !errors.Is(err, c.want) {
			t.Errorf("message %d: %v, want %v", n, err, c.want)
		}
	}
	var refused uint64
	for n := range i.refused {
		refused += i.refused[n].Load()
	}
	if refused != 14 || i.taken.Load() != 2 {
		t.Errorf("%d refused, %d taken, want 14 and 2", refused, i.taken.Load())
	}
}

// testDirector returns a director on a bus that others may share.
func testDirector(t testing.TB, b *bus.Bus, change func(*Config)) *Director {
	t.Helper()
	cfg := Config{Bus: b, Key: fleetKey, Netcode: netcode.Key{1, 2}}
	if change != nil {
		change(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d, err := New(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func testBus(t testing.TB) *bus.Bus {
	t.Helper()
	b, err := bus.Open(bus.Config{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func (d *Director) known(h *announce.Host) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.announce(h, time.Now().Add(time.Hour))
}

// Two directors share 8 places, one dies in between: no place is given twice, none is lost, and the
// other one repeats its answers.
func TestRow80TwoDirectorsRaceAndOneDies(t *testing.T) {
	b := testBus(t)
	one, two := testDirector(t, b, nil), testDirector(t, b, nil)
	defer two.Close()
	full := testHost(0, 0)
	full.MostRooms = 1
	one.known(full)
	two.known(full)
	ctx := context.Background()
	var mu sync.Mutex
	answers := map[string]Answer{}
	var racing sync.WaitGroup
	race := func(from int, directors ...*Director) {
		for i, d := range directors {
			for n := range 4 {
				racing.Go(func() {
					ask := Ask{fmt.Sprintf("r%d-%d-%d", from, i, n), 1, "a", "m", 0}
					a, err := d.Match(ctx, ask)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						answers[ask.RequestID] = a
					} else if !errors.As(err, new(NoRoom)) {
						t.Error(err)
					}
				})
			}
		}
		racing.Wait()
	}
	race(0, one, two)
	if len(answers) != 8 {
		t.Errorf("%d of 8 places given", len(answers))
	}
	race(1, one, two)
	if len(answers) != 8 {
		t.Errorf("%d matches for 8 places", len(answers))
	}
	one.Close()
	for id, a := range answers {
		again, err := two.Match(ctx, Ask{id, 1, "a", "m", 0})
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Errorf("%s: another answer after one director died: %v", id, err)
		}
		if _, err := two.Match(ctx, Ask{id, 2, "a", "m", 0}); !errors.Is(err, ErrChanged) {
			t.Errorf("%s with other players: %v", id, err)
		}
	}
}

// A director that died between the reservation and the answer has cost no place.
func TestReservationOfADeadDirectorIsUsed(t *testing.T) {
	b := testBus(t)
	one, two := testDirector(t, b, nil), testDirector(t, b, nil)
	defer two.Close()
	h := testHost(0, 0)
	h.MostRooms = 1
	one.known(h)
	two.known(h)
	ask := Ask{"r", 8, "a", "m", 0}
	if _, _, err := one.reserve(context.Background(), ask, new(apart)); err != nil {
		t.Fatal(err)
	}
	one.Close()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		a, err := two.Match(context.Background(), ask)
		if err == nil && len(a.Tokens) == 8 && a.Lobby == "0" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// A host is asked for a lobby over NATS if no room has place, and takes the same request once.
func TestHostMakesALobby(t *testing.T) {
	b := testBus(t)
	d := testDirector(t, b, nil)
	defer d.Close()
	var mu sync.Mutex
	state := *testHost(0, 8)
	a, err := announce.NewAnnouncer(b.Conn, announce.HostConfig{Name: "h", Key: fleetKey, Log: slog.New(textlog.New(t.Output(), "")),
		Figure: func() announce.Host {
			mu.Lock()
			defer mu.Unlock()
			return state
		},
		Make: func(_ context.Context, mapName, mode string, _ int) (uint32, error) {
			mu.Lock()
			defer mu.Unlock()
			state.Rooms = append(state.Rooms[:1:1], announce.Room{ID: 7, Map: mapName, Mode: mode, Slots: 8, Open: true})
			return 7, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := heard(t, d, a)
	got, err := d.Match(ctx, Ask{"r", 5, "b", "m", 0})
	if err != nil || got.Lobby != "7" || got.Host != "h" || len(got.Tokens) != 5 {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := d.Match(ctx, Ask{"s", 5, "b", "m", 0}); !errors.As(err, new(NoRoom)) {
		t.Errorf("a second lobby at a host of two: %v", err)
	}
}

func TestAllocatorIsAsked(t *testing.T) {
	asked := 0
	agones := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if asked == 1 {
			http.Error(w, "none", http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"gameServerName":"gs-1","address":"127.0.0.1","ports":[{"name":"udp","port":7777}]}`)
	}))
	defer agones.Close()
	d := testDirector(t, testBus(t), func(c *Config) {
		c.Allocator = &Allocator{URL: agones.URL, Namespace: "default", Client: agones.Client()}
	})
	defer d.Close()
	pages := d.Pages()
	post := func() (int, string) {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("POST", "/v1/match",
			strings.NewReader(`{"request_id":"r","players":2,"map":"a","mode":"m"}`)))
		return w.Code, w.Body.String()
	}
	if code, text := post(); code != 503 || !strings.Contains(text, "429") {
		t.Errorf("no game server: %d %s", code, text)
	}
	code, text := post()
	if code != 200 || !strings.Contains(text, "127.0.0.1:7777") {
		t.Fatalf("%d %s", code, text)
	}
	if _, again := post(); again != text || asked != 2 {
		t.Errorf("the same request has another answer, after %d allocations", asked)
	}
}

func BenchmarkFind(b *testing.B) {
	x, p := filled(1000, rand.New(rand.NewPCG(1, 2))), place{"a", "m"}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			x.find(p, 3, new(apart))
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			x.scan(p, 3)
		}
	})
}

// BenchmarkMatch is a request of one player with its writes to a NATS server in this process.
func BenchmarkMatch(b *testing.B) {
	d := testDirector(b, testBus(b), nil)
	defer d.Close()
	for i := range 1000 {
		h := testHost(i, 0, 0, 0, 0, 0, 0, 0, 0)
		for r := range h.Rooms {
			h.Rooms[r].Slots = 64
		}
		d.known(h)
	}
	n := 0
	for b.Loop() {
		n++
		if _, err := d.Match(context.Background(), Ask{fmt.Sprint(n), 1, "a", "m", 0}); err != nil {
			b.Fatal(err)
		}
	}
}

// heard runs an announcer until the test ends, and waits until a director has heard of its host. The
// context ends with the test.
func heard(t *testing.T, d *Director, a *announce.Announcer) context.Context {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	for end := time.Now().Add(20 * time.Second); d.Stats().Hosts == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the host was not heard")
		}
	}
	return ctx
}
