package host

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/host/capture"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/replay"
)

// capturing adds a recorder with a folder of its own to a configuration. stop ends it.
func capturing(t *testing.T, cfg *Config) (dir string, stop func()) {
	t.Helper()
	dir = t.TempDir()
	r, err := capture.New(capture.Config{Dir: dir, Most: 1000, Every: 1, Log: cfg.Log})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Skip(err) // of the test itself
	}
	cfg.Capture = r
	meter := clock.NewHiccup(nil, r.Hiccup)
	return dir, func() {
		meter.Stop()
		r.Close()
	}
}

// sleepOnce sleeps once in a stage of a lobby, when armed. The tick must take longer than a period and
// longer than what a busy machine adds.
// In the snapshot of a connection it sleeps if its slot is given, and not -1.
func sleepOnce(lobby uint32, stage metrics.Stage, slot int) (armed *atomic.Bool,
	stall func(uint32, metrics.Stage, int)) {
	armed = new(atomic.Bool)
	return armed, func(id uint32, s metrics.Stage, in int) {
		if id == lobby && s == stage && in == slot && armed.CompareAndSwap(true, false) {
			time.Sleep(300 * time.Millisecond)
		}
	}
}

// captureWith waits for a capture whose report is as wanted, and plants its reason until there is one:
// a busy machine may cause captures of its own, and another one is being written then.
func captureWith(t *testing.T, dir string, plant func(), wanted func(*capture.Report) bool) (path string, r capture.Report) {
	t.Helper()
	at, of, found := lookForCapture(t, dir, plant, wanted)
	eventually(t, "the capture", found)
	return *at, *of
}

// lookForCapture returns a function that plants the reason of a capture and reports whether there is one
// as wanted. path and r are then of that.
func lookForCapture(t *testing.T, dir string, plant func(), wanted func(*capture.Report) bool) (path *string,
	r *capture.Report, found func() bool) {
	path, r = new(string), new(capture.Report)
	seen, planted := map[string]bool{}, time.Now()
	return path, r, func() bool {
		if busy, _ := filepath.Glob(filepath.Join(dir, ".*")); len(busy) == 0 && time.Since(planted) > time.Second {
			planted = time.Now() // a capture that is being written waits for ticks, and the next compares ticks
			plant()
		}
		all, err := filepath.Glob(filepath.Join(dir, "tick-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, *path = range all {
			if seen[*path] {
				continue
			}
			seen[*path] = true
			text, err := os.ReadFile(filepath.Join(*path, "tick.json"))
			if err != nil {
				t.Fatal(err)
			}
			*r = capture.Report{}
			if err := json.Unmarshal(text, r); err != nil {
				t.Fatal(err)
			}
			if wanted(r) {
				return true
			}
		}
		return false
	}
}

// checkMatch reads a recording, which must begin with a state and end with the chunk of a tick.
func checkMatch(t *testing.T, path string, last tick.Tick) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	r, err := replay.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for ended := tick.Tick(0); ; {
		c, err := r.Next()
		if err == io.EOF {
			if ended < last {
				t.Errorf("the recording ends with tick %d, before %d", ended, last)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if ended == 0 && (len(c.Key) == 0 || c.First > last) || ended >= last {
			t.Errorf("a chunk of ticks %d to %d, after %d", c.First, c.Last(), ended)
		}
		ended = c.Last()
	}
}

// A stage that sleeps is named, with its tick, in a lobby alone and in one of several.
func TestPlantedStallIsCaptured(t *testing.T) {
	for _, c := range []struct {
		name    string
		lobbies int
		stage   metrics.Stage
	}{{"alone", 0, metrics.StageSnapshot}, {"several", 2, metrics.StageCapture}} {
		t.Run(c.name, func(t *testing.T) {
			cfg, log := lobbiesConfig("mmsg", c.lobbies, c.lobbies)
			lobby := uint32(max(0, c.lobbies-1))
			armed, stall := sleepOnce(lobby, c.stage, -1)
			cfg.stall = stall
			cfg.Files.Recordings = t.TempDir()
			dir, closeRecorder := capturing(t, &cfg)
			h, stop := running(t, cfg)
			p := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: lobby}))
			p.until("a welcome", p.welcomed)
			defer p.Close()
			x := (*h.list.Load())[lobby]
			eventually(t, "some ticks", func() bool { return x.schedule.Wall.Count() > 100 })
			path, r := captureWith(t, dir, func() { armed.Store(true) },
				func(r *capture.Report) bool { return r.Cause.Owner == "blocked" && r.Compared > 20 })
			stop()
			closeRecorder()
			if r.Cause.Stage != c.stage.String() || r.Cause.Parts.Blocked < 100 {
				t.Errorf("cause %+v, want %v", r.Cause, c.stage)
			}
			if last := x.lobby.Match().Tick(); r.Tick == 0 || r.Tick >= uint32(last) {
				t.Errorf("tick %d of %d", r.Tick, last)
			}
			if r.Lobby != x.name() || r.Times.Elapsed < 300 {
				t.Errorf("report %+v", r)
			}
			for _, name := range []string{"README.txt", "trace.out", "trace.pftrace"} {
				if s, err := os.Stat(filepath.Join(path, name)); err != nil || s.Size() == 0 {
					t.Errorf("%s: %v", name, err)
				}
			}
			checkMatch(t, filepath.Join(path, "match.tkr"), tick.Tick(r.Tick))
			if r.Recording != "" {
				t.Error(r.Recording)
			}
			if !strings.Contains(log.String(), "capture written lobby=") {
				t.Errorf("no line in the log:\n%s", log)
			}
			trace, err := os.ReadFile(filepath.Join(path, "trace.out"))
			if want := "lobby " + r.Lobby + " " + c.stage.String(); err != nil || !strings.Contains(string(trace), want) {
				t.Errorf("the trace has no region %q: %v", want, err)
			}
		})
	}
}

// A stall in the snapshot of a connection names the connection.
func TestStalledConnectionIsNamed(t *testing.T) {
	cfg := hostConfig("mmsg")
	armed, stall := sleepOnce(0, metrics.StageSnapshot, 0)
	cfg.stall = stall
	dir, closeRecorder := capturing(t, &cfg)
	h, stop := running(t, cfg)
	now := uint64(time.Now().Unix())
	m := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: 7, Create: now, Expire: now + 45,
		TimeoutSeconds: 10, Servers: []netip.AddrPort{h.Addr()}}
	token, err := m.Append(nil, &labKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{Token: token, Fetch: true, Decode: client.DecodeOwn, Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	_, r, found := lookForCapture(t, dir, func() { armed.Store(true) },
		func(r *capture.Report) bool { return r.Cause.Owner == "blocked" && r.Compared > 20 })
	playUntil(t, c, "the capture", found)
	stop()
	closeRecorder()
	if conn := r.Cause.Conn; r.Cause.Stage != "snapshot" || conn == nil || conn.Slot != 0 || conn.Name != "ada" ||
		conn.Micros < 250_000 {
		t.Errorf("cause %+v, connection %+v", r.Cause, conn)
	}
}
