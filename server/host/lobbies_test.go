package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
)

// lockedLog is a log that a test may read while a host writes.
type lockedLog struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// lobbiesConfig is a host with lobbies made ahead, and room for more.
func lobbiesConfig(socket string, ahead, most int) (Config, *lockedLog) {
	cfg, log := hostConfig(socket), new(lockedLog)
	cfg.Lobbies, cfg.Log = LobbiesConfig{Ahead: ahead, Most: most}, logTo(log)
	return cfg, log
}

// inLobby is a change of a token: it names a lobby, and a user of its own.
func inLobby(user uint64, ref protocol.LobbyRef) func(*netcode.Mint) {
	return func(m *netcode.Mint) {
		m.ClientID = user
		ref.Mark(m.UserData[:])
	}
}

// postJSON sends a request with a body.
func postJSON(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func lobbiesOf(t *testing.T, at string) (l httpapi.LobbyList) {
	t.Helper()
	askJSON(t, at+"/v1/lobbies", &l)
	return l
}

// Lobbies are made and ended over HTTP while others play on the same socket, and their pages are
// told apart by ?lobby=.
func TestLobbiesComeAndGo(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		cfg, log := lobbiesConfig(socket, 2, 3)
		h, stop := running(t, cfg)
		at := "http://" + h.HTTPAddr()
		a := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 0}))
		a.until("a welcome of lobby 0", a.welcomed)

		status, body := postJSON(t, at+"/v1/lobbies", `{"players": 2, "name": "third", "rate_hz": 30}`)
		var made httpapi.LobbyInfo
		if err := json.Unmarshal([]byte(body), &made); err != nil || status != http.StatusCreated ||
			made.Lobby != "2" || made.PlayerSlots != 2 || made.RateHz != 30 || made.Name != "third" {
			t.Fatalf("%s: %d %s: %v", socket, status, body, err)
		}
		if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusServiceUnavailable {
			t.Errorf("one too many: %d %s", status, body)
		}
		if status, body := postJSON(t, at+"/v1/lobbies", `{"maps": 1}`); status != http.StatusBadRequest {
			t.Errorf("an unknown field: %d %s", status, body)
		}
		status, body = postJSON(t, at+"/v1/connect", `{"lobby": "2"}`)
		var reply httpapi.ConnectReply
		if err := json.Unmarshal([]byte(body), &reply); err != nil || status != 200 || reply.Lobby != "2" {
			t.Errorf("a token for it: %d %s: %v", status, body, err)
		}
		b := dialHost(t, h.Addr(), inLobby(2, protocol.LobbyRef{Host: h.making.host(), Lobby: 2}))
		b.until("a welcome of lobby 2", b.welcomed)

		if r := figures(t, at); r.Rate != 60 || r.Counts["joined"] != 1 {
			t.Errorf("figures of lobby 0: %d Hz, %d joined", r.Rate, r.Counts["joined"])
		}
		if status, body := ask(t, "GET", at+"/stats?lobby=2"); status != 200 ||
			!strings.Contains(body, `"rate_hz":30`) || !strings.Contains(body, `"joined":1`) {
			t.Errorf("figures of lobby 2: %d %.300s", status, body)
		}
		if status, body := ask(t, "GET", at+"/metrics"); status != 200 ||
			!strings.Contains(body, `lobby="0"`) || !strings.Contains(body, `lobby="2"`) {
			t.Errorf("metrics: %d, %d bytes", status, len(body))
		}
		if status, body := ask(t, "GET", at+"/metrics?lobby=1"); status != 200 ||
			strings.Contains(body, `lobby="0"`) || !strings.Contains(body, `lobby="1"`) {
			t.Errorf("metrics of lobby 1: %d, %d bytes", status, len(body))
		}
		if status, body := ask(t, "GET", at+"/?lobby=1"); status != 200 ||
			!strings.Contains(body, "/dash/page.js") {
			t.Errorf("the live page: %d %.80s", status, body)
		}
		for page, want := range map[string]string{"/": "/dash/lobbies.js", "/dash/lobbies.js": "v1/lobbies",
			"/dash/page.css?lobby=1": "#table-lobbies", "/dash/map.json?lobby=1": "arena-16"} {
			if status, body := ask(t, "GET", at+page); status != 200 || !strings.Contains(body, want) {
				t.Errorf("%s: %d %.80s", page, status, body)
			}
		}
		if status, body := postJSON(t, at+"/v1/console?lobby=2", "say hello"); status != 200 {
			t.Errorf("the console: %d %s", status, body)
		}
		if status, _ := ask(t, "GET", at+"/stats?lobby=9"); status != http.StatusNotFound {
			t.Errorf("figures of no lobby: %d", status)
		}

		if status, body := ask(t, "DELETE", at+"/v1/lobbies/2"); status != http.StatusNoContent {
			t.Errorf("end: %d %s", status, body)
		}
		b.until("word of the end", func() bool {
			if b.peer == nil {
				return false
			}
			why, over := b.peer.Closed()
			return over && why == packet.ReasonClosing
		})
		for i, c := range []struct {
			ref protocol.LobbyRef
			why packet.Reason
		}{
			{protocol.LobbyRef{Lobby: 2}, packet.ReasonNoLobby},
			{protocol.LobbyRef{Host: h.making.host() + 1}, packet.ReasonOtherHost},
		} {
			late := dialHost(t, h.Addr(), inLobby(uint64(10+i), c.ref))
			late.until("a reason", func() bool {
				if late.peer == nil {
					return false
				}
				why, over := late.peer.Closed()
				return over && why == c.why
			})
			late.Close()
		}
		if status, body := postJSON(t, at+"/v1/connect", `{"lobby": "2"}`); status != http.StatusNotFound {
			t.Errorf("a token for a lobby that has ended: %d %s", status, body)
		}
		if l := lobbiesOf(t, at); len(l.Lobbies) != 2 || l.Most != 3 || l.Faults != 0 ||
			l.Lobbies[0].Players+l.Lobbies[1].Players > 1 {
			t.Errorf("%+v", l)
		}
		if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusCreated ||
			!strings.Contains(body, `"lobby":"3"`) {
			t.Errorf("in its place: %d %s", status, body)
		}
		if _, over := a.peer.Closed(); over {
			t.Error("the client of lobby 0 was told to go")
		}
		a.Close()
		b.Close()
		stop()
		if s := log.String(); !strings.Contains(s, "lobby made lobby=2") || !strings.Contains(s, "lobby ended lobby=2") {
			t.Errorf("the log: %s", s)
		}
	}
}

// A lobby that panics ends with word to its players, a line in the log and a count; the others play
// on, and a new one takes its room.
func TestThreat32PanicAmongLobbies(t *testing.T) {
	cfg, log := lobbiesConfig("mmsg", 2, 2)
	h, stop := running(t, cfg)
	at := "http://" + h.HTTPAddr()
	sick := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 0}))
	sick.until("a welcome", sick.welcomed)
	well := dialHost(t, h.Addr(), inLobby(2, protocol.LobbyRef{Lobby: 1}))
	well.until("a welcome", well.welcomed)
	defer sick.Close()
	defer well.Close()
	other := (*h.list.Load())[1].lobby
	if err := h.Do(context.Background(), func(_ time.Duration, l *server.Lobby) {
		l.Timer().OnStage = func(s metrics.Stage) {
			if s == metrics.StageSnapshot {
				panic("planted")
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	sick.until("word of the fault", func() bool {
		why, over := sick.peer.Closed()
		return over && why == packet.ReasonFault
	})
	from := other.Stats.Count[metrics.Sent].Load()
	well.until("more from the other lobby", func() bool {
		return other.Stats.Count[metrics.Sent].Load() > from
	})
	err := h.Do(context.Background(), func(time.Duration, *server.Lobby) {})
	if !errors.Is(err, httpapi.ErrEnded) {
		t.Errorf("a request of the lobby that has ended: %v", err)
	}
	if l := lobbiesOf(t, at); l.Faults != 1 || len(l.Lobbies) != 1 || l.Lobbies[0].Lobby != "1" {
		t.Errorf("%+v", l)
	}
	if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusCreated {
		t.Errorf("in its place: %d %s", status, body)
	}
	if _, over := well.peer.Closed(); over {
		t.Error("the client of the other lobby was told to go")
	}
	stop()
	if s := log.String(); !strings.Contains(s, "planted") || !strings.Contains(s, "lobby ends by an internal fault lobby=0 tick=") {
		t.Errorf("the log does not say what and where: %s", s)
	}
}

// Lobbies are spread over phases, and clocks of one phase are due at the same instants, also those
// that begin later.
func TestLobbiesAreSpreadOverPhases(t *testing.T) {
	var l loop
	rates, _, err := ClockConfig{Simulation: 128}.Check()
	if err != nil {
		t.Fatal(err)
	}
	s := simtest.New(t, server.Config{Players: 2}, 0)
	for i := range 64 {
		x := &hosted{lobby: s.Lobby, rates: rates, slots: 2}
		l.insert(time.Duration(i)*777*time.Microsecond, x)
	}
	var phases [maxPhases]int
	due := map[time.Duration]bool{}
	for _, x := range l.lobbies {
		phases[x.pace.phase]++
		for x.pace.ticks.Due() < time.Second {
			if steps, _, _ := x.pace.ticks.Frame(x.pace.ticks.Due()); steps != 1 {
				t.Fatalf("%d steps", steps)
			}
		}
		due[x.pace.ticks.Due()] = true
	}
	if len(due) > maxPhases {
		t.Errorf("%d lobbies are due at %d instants", len(l.lobbies), len(due))
	}
	for phase, n := range phases {
		if n < 4 || n > 12 {
			t.Errorf("phase %d has %d lobbies: %v", phase, n, phases)
		}
	}
}

// A lobby may take the whole period for a tick while the loop has time to spare. In a crowded loop it
// may take a part in proportion to its slots and its rate, and lobbies that sleep take none.
func TestLobbiesShareThePeriod(t *testing.T) {
	var l loop
	for _, c := range []struct {
		rate  tick.Rate
		slots int
	}{{50, 60}, {50, 20}, {100, 10}, {50, 1000}} {
		x := &hosted{slots: c.slots, rates: ClockConfig{Simulation: c.rate, MaxSteps: 1}}
		x.pace.ticks = NewClock(x.rates, 0)
		l.lobbies = append(l.lobbies, x)
	}
	l.lobbies[3].pace.asleep = true
	l.measureShares(time.Second)
	const ms = time.Millisecond
	for share, want := range map[float64][3]time.Duration{
		0: {20 * ms, 20 * ms, 10 * ms}, 0.7: {20 * ms, 20 * ms, 10 * ms},
		0.8: {12 * ms, 4 * ms, 2 * ms}, 1: {12 * ms, 4 * ms, 2 * ms}} {
		l.load.share = share
		for i, x := range l.lobbies[:3] {
			if got := l.slice(x, 0); got != want[i] {
				t.Errorf("busy %v: %v for lobby %d, want %v", share, got, i, want[i])
			}
		}
	}
}

// Lobbies on one map share it: it is read once, and again only after the last of them has ended.
func TestLobbiesShareMaps(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 1, 3)
	reads := 0
	cfg.Maps = func(c server.MapSpec) (server.LoadedMap, error) {
		reads++ // one at a time
		a, err := arena.Open(c.Map)
		return server.LoadedMap{Arena: a, Name: c.Map}, err
	}
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	make := func(want string) *hosted {
		t.Helper()
		status, body := postJSON(t, at+"/v1/lobbies", `{"map": "arena-64"}`)
		if status != http.StatusCreated || !strings.Contains(body, `"map":"arena-64"`) {
			t.Fatalf("%d %s", status, body)
		}
		all := *h.list.Load()
		if x := all[len(all)-1]; x.name() == want {
			return x
		}
		t.Fatalf("made another lobby than %s: %s", want, body)
		return nil
	}
	if a, b := make("1"), make("2"); a.lobby.Config().Arena != b.lobby.Config().Arena || reads != 1 {
		t.Errorf("two lobbies, %d reads of the map", reads)
	}
	for _, id := range []string{"1", "2"} {
		if status, body := ask(t, "DELETE", at+"/v1/lobbies/"+id); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
	}
	eventually(t, "only the first lobby has a map", func() bool { _, users := usedMaps(h); return users == 1 })
	if make("3"); reads != 2 {
		t.Errorf("%d reads of a map that no lobby played any more", reads)
	}
	status, body := postJSON(t, at+"/v1/lobbies", `{"map": "no-such-map"}`)
	if status != http.StatusBadRequest {
		t.Errorf("a map that is not there: %d %s", status, body)
	}
	if status, body := postJSON(t, at+"/v1/lobbies", `{"players": 5}`); status != http.StatusBadRequest {
		t.Errorf("more players than the server was started for: %d %s", status, body)
	}
}

// A panic in what a lobby has left for the background, or in a request between two ticks, ends that
// lobby alone.
func TestThreat32PanicBesideTheTick(t *testing.T) {
	cfg, log := lobbiesConfig("mmsg", 3, 3)
	h, stop := running(t, cfg)
	at := "http://" + h.HTTPAddr()
	all := *h.list.Load()
	_ = h.doFor(all[0])(context.Background(), func(time.Duration, *server.Lobby) {
		all[0].leave(func() { panic("planted behind") })
	})
	if err := h.doFor(all[1])(context.Background(), func(time.Duration, *server.Lobby) {
		panic("planted between")
	}); !errors.Is(err, httpapi.ErrEnded) {
		t.Errorf("a request that panics: %v", err)
	}
	eventually(t, "two lobbies have ended", func() bool { return len(lobbiesOf(t, at).Lobbies) == 1 })
	if l := lobbiesOf(t, at); l.Faults != 2 || l.Lobbies[0].Lobby != "2" {
		t.Errorf("%+v", l)
	}
	greet(t, h.Addr()).Close()
	stop()
	if s := log.String(); !strings.Contains(s, "planted behind") || !strings.Contains(s, "planted between") {
		t.Errorf("the log: %s", s)
	}
}

// Lines of the operator go to the lobby that was chosen.
func TestLobbiesOnTheConsole(t *testing.T) {
	cfg, log := lobbiesConfig("mmsg", 2, 2)
	lines, typed := io.Pipe()
	cfg.Console.Input = lines
	h, stop := running(t, cfg)
	for _, line := range []string{"lobbies", "lobby 1 say to one",
		"lobby 7", "lobby 1", "server.name second"} {
		if _, err := io.WriteString(typed, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	at := "http://" + h.HTTPAddr()
	for line, want := range map[string]string{"lobbies": "lobby 1: 0 of 4 players", "help": "lobbies: list",
		"lobby 1 status": "/v1/console?lobby=1"} {
		if _, body := postJSON(t, at+"/v1/console", line); !strings.Contains(body, want) {
			t.Errorf("%s over HTTP: %s", line, body)
		}
	}
	eventually(t, "lobby 1 has its name", func() bool {
		l := lobbiesOf(t, at).Lobbies
		return l[1].Name == "second" && l[0].Name == ""
	})
	_ = typed.Close()
	stop()
	logs(t, log, "lobby 1: 0 of 4 players", "no such lobby; lobbies lists", "lines go to lobby 1")
}

// logs fails unless a log has all texts.
func logs(t *testing.T, log *lockedLog, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if s := log.String(); !strings.Contains(s, want) {
			t.Errorf("the log lacks %q: %s", want, s)
		}
	}
}

// Nothing keeps the memory of a lobby that has ended.
func TestLobbiesGiveTheirMemoryBack(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 1, 2)
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	ended := weak.Make((*h.list.Load())[1].lobby)
	c := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 1}))
	c.until("a welcome", c.welcomed)
	defer c.Close()
	if status, body := ask(t, "DELETE", at+"/v1/lobbies/1"); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	first := weak.Make(h.Lobby())
	if status, body := ask(t, "DELETE", at+"/v1/lobbies/0"); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	eventually(t, "the memory of the lobbies is free", func() bool {
		runtime.GC()
		return ended.Value() == nil && first.Value() == nil
	})
}
