package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

func openMap(c server.MapSpec) (server.LoadedMap, error) {
	a, err := arena.Open(c.Map)
	return server.LoadedMap{Arena: a, Name: c.Map}, err
}

// Lobbies end, and others begin on maps that are loaded, while a map is read.
func TestLobbiesPlayWhileAMapIsRead(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 2, 4)
	reading, read := make(chan bool), make(chan bool)
	cfg.Maps = func(c server.MapSpec) (server.LoadedMap, error) {
		reading <- true
		<-read
		return openMap(c)
	}
	h, stop := running(t, cfg)
	defer stop()
	made := make(chan error)
	go func() {
		_, err := h.CreateLobby(context.Background(), httpapi.LobbySpec{Map: "arena-64"})
		made <- err
	}()
	<-reading
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := h.EndLobby(ctx, 1); err != nil {
		t.Error(err)
	}
	if _, err := h.CreateLobby(ctx, httpapi.LobbySpec{}); err != nil {
		t.Error(err)
	}
	close(read)
	if err := <-made; err != nil {
		t.Error(err)
	}
}

// A panic as a lobby is made, in its map or elsewhere, leaves room for the next.
func TestLobbyThatCannotBeMade(t *testing.T) {
	t.Parallel() // it waits
	cfg, log := lobbiesConfig("mmsg", 1, 2)
	cfg.Maps = openMap
	folder := filepath.Join(t.TempDir(), "recordings")
	cfg.Files.Recordings = folder
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	labels := h.labels
	h.labels = nil // newHosted panics
	if status, body := postJSON(t, at+"/v1/lobbies", `{"map": "arena-64"}`); status != 500 {
		t.Errorf("%d %s", status, body)
	}
	h.labels = labels
	if s := log.String(); !strings.Contains(s, "was not made") || !strings.Contains(s, "goroutine") {
		t.Errorf("the log: %s", s)
	}
	if n, _ := usedMaps(h); n != 1 {
		t.Errorf("%d maps", n)
	}
	if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusCreated {
		t.Errorf("the next: %d %s", status, body)
	}
}

// What is asked of a new lobby is refused by name, before its map is read; a seed is used as it is.
func TestLobbySpecs(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 1, 2)
	reads := 0
	cfg.Maps = func(c server.MapSpec) (server.LoadedMap, error) {
		reads++
		return openMap(c)
	}
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	for i, c := range []struct{ field, value string }{
		{"rate_hz", "65596"}, {"rate_hz", "-1"}, {"send_interval", "-1"}, {"send_interval", "1000"},
		{"players", "9"}, {"players", `"ten"`}, {"view_distance", `"far"`}, {"playerz", "3"}, {"seed", "-1"},
		{"map", `"town:4096:1"`}, {"codec", `"gzip"`}, {"min_load_level", `"no_spectators"`},
	} {
		body := fmt.Sprintf(`{"map": "arena-64", "%s": %s}`, c.field, c.value)
		status, body := postJSON(t, at+"/v1/lobbies", body)
		if status != http.StatusBadRequest || !strings.Contains(body, c.field) ||
			!strings.Contains(body, "expected") {
			t.Errorf("%d: %d %s", i, status, body)
		}
	}
	for i, body := range []string{"{} {}", "[]", `{"players": 3`, "nonsense"} {
		if status, answer := postJSON(t, at+"/v1/lobbies", body); status != http.StatusBadRequest ||
			!strings.HasPrefix(answer, "body: expected") {
			t.Errorf("body %d: %d %s", i, status, answer)
		}
	}
	id, err := h.CreateLobby(context.Background(), httpapi.LobbySpec{Seed: 41})
	if err != nil {
		t.Fatal(err)
	}
	if seed := (*h.list.Load())[id].lobby.Config().Rules.Seed; seed != 41 {
		t.Errorf("seed %d", seed)
	}
	if _, err := h.CreateLobby(context.Background(), httpapi.LobbySpec{Map: "arena-64"}); !errors.Is(err,
		httpapi.ErrMostLobbies) || reads != 0 {
		t.Errorf("one too many: %v, %d reads", err, reads)
	}
}

// A lobby that was refused uses up no number.
func TestRefusedLobbyUsesNoID(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 1, 3)
	cfg.Maps = openMap
	h, stop := running(t, cfg)
	defer stop()
	for want := uint32(1); want < 3; want++ {
		if id, err := h.CreateLobby(context.Background(), httpapi.LobbySpec{Map: "no-such-map"}); err == nil {
			t.Errorf("lobby %d without a map", id)
		}
		if id, err := h.CreateLobby(context.Background(), httpapi.LobbySpec{}); id != want || err != nil {
			t.Errorf("lobby %d, want %d: %v", id, want, err)
		}
	}
	var m making
	first, _ := m.reserve(3)
	second, _ := m.reserve(3)
	m.cancel(first) // the second one has its number already
	if third, _ := m.reserve(3); third != second+1 || m.reserved != 2 {
		t.Errorf("lobby %d after %d, %d reserved", third, second, m.reserved)
	}
}

// A lobby on demand runs the files that the others have run.
func TestLobbyOnDemandRunsFiles(t *testing.T) {
	t.Parallel() // it waits
	cfg, _ := lobbiesConfig("mmsg", 1, 2)
	cfg.Console.Dir, cfg.Console.Exec = t.TempDir(), []string{"start.cfg"}
	if err := os.WriteFile(filepath.Join(cfg.Console.Dir, "start.cfg"), []byte("server.name filed\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	eventually(t, "both are named", func() bool {
		l := lobbiesOf(t, at).Lobbies
		return l[0].Name == "filed" && l[1].Name == "filed"
	})
}

// A map that lobbies have changed to is read once, and the map before is forgotten.
func TestLobbiesShareMapsAfterAChange(t *testing.T) {
	t.Parallel() // it waits
	cfg, _ := lobbiesConfig("mmsg", 2, 3)
	var reads atomic.Int32
	cfg.Maps = func(c server.MapSpec) (server.LoadedMap, error) {
		reads.Add(1)
		return openMap(c)
	}
	h, stop := running(t, cfg)
	defer stop()
	for id := range 2 {
		x := (*h.list.Load())[id]
		if err := h.doFor(x)(context.Background(), func(_ time.Duration, l *server.Lobby) {
			if err := l.ChangeMap(server.MapSpec{Map: "arena-64"}); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another map", func() bool { return x.status.Load().Map == "arena-64" })
	}
	if _, err := h.CreateLobby(context.Background(), httpapi.LobbySpec{Map: "arena-64"}); err != nil {
		t.Fatal(err)
	}
	all := *h.list.Load()
	var shared [3]*sharedMap
	for id, x := range all { // the loop's
		read := func(time.Duration, *server.Lobby) { shared[id] = x.shared }
		if err := h.doFor(x)(context.Background(), read); err != nil {
			t.Fatal(err)
		}
	}
	maps, users := usedMaps(h)
	if maps != 1 || users != 3 || reads.Load() != 1 || shared[0] != shared[2] {
		t.Errorf("%d maps of %d lobbies, %d reads", maps, users, reads.Load())
	}
	for id := range 3 {
		if err := h.EndLobby(context.Background(), uint32(id)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the maps of nobody are gone", func() bool { maps, _ := usedMaps(h); return maps == 0 })
}

// usedMaps counts the shared maps of a host and the lobbies on them.
func usedMaps(h *Host) (maps, users int) {
	h.maps.mu.Lock()
	defer h.maps.mu.Unlock()
	for _, one := range h.maps.maps {
		users += one.users
	}
	return len(h.maps.maps), users
}

// A lobby alone reads the file of its map anew when it changes to the map that it plays.
func TestLobbyAloneReadsItsMapAnew(t *testing.T) {
	cfg := hostConfig("mmsg")
	reads := 0
	cfg.Maps = func(c server.MapSpec) (server.LoadedMap, error) {
		reads++
		return openMap(c)
	}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := h.prepareMap(h.initial(), server.MapSpec{Map: "arena-16"})
	if m.err != nil || reads != 1 || m.loaded.Arena == simtest.Arena() {
		t.Errorf("%d reads: %v", reads, m.err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Run(ctx); err != nil {
		t.Error(err)
	}
}

// Datagrams that were refused show in the figures of the port, and those of the socket there alone.
func TestPortFigures(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 2, 2)
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	stranger, err := net.Dial("udp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a refused datagram", func() bool {
		status, body := ask(t, "GET", at+"/stats?lobby=port")
		return status == 200 && strings.Contains(body, `"rx_datagrams":1`) &&
			strings.Contains(body, `"drop_req_size":1`)
	})
	for _, page := range []string{"/metrics", "/metrics?lobby=port", "/metrics?lobby=1"} {
		status, body := ask(t, "GET", at+page)
		port := page != "/metrics?lobby=1"
		refused := false
		for line := range strings.Lines(body) {
			refused = refused || strings.HasPrefix(line, `tickrate_refused_datagrams_total{lobby="port"`) &&
				strings.HasSuffix(line, "} 1\n")
		}
		const lost = "\ntickrate_socket_lost_datagrams_total{"
		n := strings.Count(body, lost)
		if status != 200 || refused != port || strings.Contains(body, lost+`lobby="port"}`) != port ||
			port && n != 1 || !port && n != 0 {
			t.Errorf("%s: %d, refused %v, %d figures of the socket", page, status, refused, n)
		}
	}
}

// One request begins new figures of all lobbies and of the loop, and one answers them.
func TestFiguresOfAllLobbies(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 2, 2)
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	a := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 1}))
	a.until("a welcome of lobby 1", a.welcomed)
	var before, r httpapi.HostReport
	askJSON(t, at+"/stats?lobby=all", &before)
	if status, body := ask(t, "POST", at+"/stats/reset?lobby=all"); status != 204 {
		t.Fatalf("reset: %d %s", status, body)
	}
	eventually(t, "calls of the loop", func() bool {
		askJSON(t, at+"/stats?lobby=all", &r)
		return len(r.Loops) == 1 && r.Loops[0].Calls > 20 && r.Loops[0].Call.Mean > 0
	})
	if len(r.Lobbies) != 2 || len(before.Lobbies) != 2 || before.Lobbies[1].Counts["joined"] != 1 ||
		r.Lobbies[1].Counts["joined"] != 0 || r.Lobbies[1].Players != 1 || r.Lobbies[0].Players != 0 {
		t.Errorf("before %+v, after %+v", before.Lobbies, r.Lobbies)
	}
	if status, _ := ask(t, "GET", at+"/v1/bandwidth?lobby=all"); status != 404 {
		t.Errorf("another page of all lobbies: %d", status)
	}
}

// A panic beside the tick, where figures are published, ends that lobby alone. Server browsers are
// told of no lobby when all have ended.
func TestThreat32PanicAsFiguresArePublished(t *testing.T) {
	cfg, log := lobbiesConfig("mmsg", 2, 2)
	cfg.Name, cfg.Query.Listen = "many", "127.0.0.1:0"
	h, stop := running(t, cfg)
	all := *h.list.Load()
	w := h.workers[0]
	if err := w.requests.do(context.Background(), func(now time.Duration) {
		w.contained(now, all[0], func() { panic("planted") })
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one lobby is left", func() bool { return len(*h.list.Load()) == 1 })
	if err := h.EndLobby(context.Background(), 1); err != nil {
		t.Error(err)
	}
	eventually(t, "an empty score", func() bool {
		r, _ := queried(t, h.QueryAddr())
		return r.Info.Name == "many" && r.Info.Map == "" && r.Info.MaxPlayers == 0
	})
	stop()
	if s := log.String(); !strings.Contains(s, "lobby ends by an internal fault lobby=0 tick=") {
		t.Errorf("the log: %s", s)
	}
}

// A panic as a recording is written ends the recording, and not the server.
func TestThreat32PanicOfARecording(t *testing.T) {
	log := new(lockedLog)
	r, err := newRecorder(t.TempDir(), "", logTo(log))
	if err != nil {
		t.Fatal(err)
	}
	r.file.Create = func(tick.Tick) (replay.File, string, error) { panic("planted") }
	truncated := 0
	r.run(func() { truncated++ })
	for range 2 * recorderQueue {
		r.take(server.RecordingChunk{First: true, Chunk: new(replay.Chunk)})
	}
	r.close()
	if s := log.String(); truncated != 1 || !strings.Contains(s, "ends early: planted") {
		t.Errorf("%d truncated; the log: %s", truncated, s)
	}
}

// A lobby on demand has the level of detail that was asked for, and never less load shed than that.
func TestLobbyLevelOfDetail(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 1, 2)
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	status, body := postJSON(t, at+"/v1/lobbies", `{"codec": "range", "send_interval": 4, "kbps": 64,
		"view_distance": 30, "min_load_level": "quarter_rate"}`)
	if status != http.StatusCreated || !strings.Contains(body, `"load_level":"quarter_rate"`) {
		t.Fatalf("%d %s", status, body)
	}
	x := (*h.list.Load())[1]
	if c := x.lobby.Config(); c.Codec != schema.Range || c.SendInterval != 4 || c.Kbps != 64 ||
		c.ViewDistance != 30 {
		t.Errorf("%v, %d ticks, %d kbit/s, %v m", c.Codec, c.SendInterval, c.Kbps, c.ViewDistance)
	}
	c := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 1}))
	c.until("a welcome", c.welcomed)
	defer c.Close()
	quarter := &x.lobby.Stats.LoadLevel[overload.QuarterRate]
	eventually(t, "ticks on that level", func() bool { return quarter.Load() > 10 })
	if n := x.lobby.Stats.LoadLevel[overload.Normal].Load(); n != 0 {
		t.Errorf("%d ticks on the normal level", n)
	}
}

// A lobby on demand may play another content pack, and keeps it when its map changes.
func TestLobbyOfAnotherPack(t *testing.T) {
	t.Parallel() // it waits
	cfg, _ := lobbiesConfig("mmsg", 1, 2)
	asked := make(chan string, 4)
	cfg.Maps = func(c server.MapSpec) (server.LoadedMap, error) {
		asked <- c.Content + " " + c.Map
		if c.Content != "other" && c.Content != "" {
			return server.LoadedMap{}, errors.New("no such pack")
		}
		m, err := openMap(c)
		m.Game = sim.DefaultGame()
		return m, err
	}
	cfg.Lobby.Rotation = []server.MapSpec{{Map: "arena-64"}}
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr()
	if status, body := postJSON(t, at+"/v1/lobbies", `{"content": "missing"}`); status != 400 ||
		!strings.Contains(body, "no such pack") || <-asked != "missing arena-16" {
		t.Errorf("%d %s", status, body)
	}
	own := contentHash(&h.cfg.Lobby)
	if status, body := postJSON(t, at+"/v1/lobbies", `{"content": "`+own+`"}`); status != 201 ||
		!strings.Contains(body, `"content":"`+own+`"`) {
		t.Errorf("the pack of the host by its hash: %d %s", status, body)
	}
	if status, body := ask(t, "DELETE", at+"/v1/lobbies/1"); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	status, body := postJSON(t, at+"/v1/lobbies", `{"content": "other"}`)
	if status != http.StatusCreated || <-asked != "other arena-16" {
		t.Fatalf("%d %s", status, body)
	}
	x := (*h.list.Load())[1]
	if x.lobby.Config().Rotation != nil {
		t.Error("it rotates through maps of the host's pack")
	}
	if status, body := postJSON(t, at+"/v1/console?lobby=2", "map arena-64"); status != 200 ||
		<-asked != "other arena-64" {
		t.Errorf("%d %s", status, body)
	}
	eventually(t, "the other map", func() bool { return x.status.Load().Map == "arena-64" })
}

// A scrape has all metrics of the first lobbies and the brief ones of every lobby, as many in full as
// it asks for, and counts the lobbies of the host and those that have panicked.
func TestScrapesOfManyLobbies(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 3, 3)
	h, stop := running(t, cfg)
	defer stop()
	at := "http://" + h.HTTPAddr() + "/metrics"
	series := func(url string) map[string]int {
		t.Helper()
		status, body := ask(t, "GET", url)
		if status != 200 {
			t.Fatalf("%s: %d %s", url, status, body)
		}
		n := map[string]int{}
		for line := range strings.Lines(body) {
			for _, lobby := range []string{"0", "1", "2", "port"} {
				if !strings.HasPrefix(line, "#") && strings.Contains(line, `lobby="`+lobby+`"`) {
					n[lobby]++
				}
			}
		}
		return n
	}
	if n := series(at); n["0"] < 1000 || n["0"] != n["2"] {
		t.Errorf("in full: %v", n)
	}
	if n := series(at + "?full=1"); n["0"] < 1000 || n["1"] < 10 || n["1"] > 25 || n["1"] != n["2"] {
		t.Errorf("one in full: %v", n)
	}
	if n := series(at + "?full=0"); n["0"] > 25 || n["0"] != n["2"] || n["port"] == 0 {
		t.Errorf("none in full: %v", n)
	}
	if n := series(at + "?lobby=1"); n["1"] < 1000 || n["0"]+n["port"] != 0 {
		t.Errorf("one alone: %v", n)
	}
	if status, body := ask(t, "GET", at+"?full=x"); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
	_ = h.doFor((*h.list.Load())[2])(context.Background(), func(time.Duration, *server.Lobby) {
		panic("planted")
	})
	eventually(t, "a fault is counted", func() bool {
		_, body := ask(t, "GET", at+"?full=0")
		return strings.Contains(body, `tickrate_lobby_faults_total{lobby="port"} 1`) &&
			strings.Contains(body, `tickrate_lobbies{lobby="port"} 2`)
	})
}
