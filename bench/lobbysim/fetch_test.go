package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// otherModels are models that no build has: those of this build, trained further on some traffic.
func otherModels() netstate.Models {
	c := netstate.NewCounts()
	for i := range c.Public.Fields {
		for k := range c.Public.Fields[i] {
			c.Public.Fields[i][k] = uint64(1+i) << (20 - min(20, k))
		}
	}
	for k := range c.Owner.Masks[0] {
		c.Owner.Masks[0][k] = uint64(1 + k%7)
	}
	return netstate.Train(c)
}

// clientsWithoutContent makes clients lack the models and maps of the lobby, and collects the
// content that they are sent.
func clientsWithoutContent(sent *[]client.Fetched, kbps int) func(int, *client.Config) {
	return func(_ int, cfg *client.Config) {
		cfg.Models, cfg.Arena = netstate.Trained(), client.Known
		cfg.Fetch, cfg.MaxKbps = true, kbps
		cfg.Fetched = func(f client.Fetched) { *sent = append(*sent, f) }
	}
}

// fetchTest is a lobby with content that its clients lack.
type fetchTest struct {
	lobby   server.Config
	clients int
	kbps    int // limit of each client; 0 means none
	seed    uint64
	link    impair.Profile
	within  time.Duration // all clients must play by then
}

// run plays until all clients play and 3 s longer, and checks the counters of both ends. It returns
// the content sent and when the last client played.
func (f fetchTest) run(t *testing.T) (sent []client.Fetched, slowest time.Duration) {
	t.Helper()
	clients, link := f.clients, f.link
	f.lobby.Players, f.lobby.Rules = clients, sim.Rules{Seed: f.seed}
	b, err := New(Config{Clients: clients, Seed: f.seed, Link: link, Lobby: f.lobby,
		ChangeClient: clientsWithoutContent(&sent, f.kbps)})
	if err != nil {
		t.Fatal(err)
	}
	for in := 0; in < clients; {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		in = 0
		for i, c := range b.Clients {
			state, why := c.State()
			if state > client.Joined {
				t.Fatalf("client %d is %v: %v, %v", i, state, why, c.Err())
			}
			if playing(c) {
				in++
			}
		}
		if slowest = b.Now(); slowest > f.within {
			t.Fatalf("%d of %d are in after %v", in, clients, slowest)
		}
	}
	b.step(t, 3*time.Second)
	for i, c := range b.Clients {
		w, st := c.Welcome(), c.Stats()
		if c.Arena().Hash() != w.ArenaHash || st.Undecoded != 0 || st.Snapshots < 20 || st.Diverged != 0 ||
			link.Loss == 0 && st.Prediction.Mispredictions != 0 {
			t.Errorf("client %d: %d snapshots, %d not decoded, %d diverged, %+v",
				i, st.Snapshots, st.Undecoded, st.Diverged, st.Prediction)
		}
		for _, d := range malformed {
			if n := st.Packets.Drops[d]; n != 0 {
				t.Errorf("client %d: %d times %v", i, n, d)
			}
		}
	}
	s := &b.Lobby.Stats
	if s.Count[metrics.ContentRequests].Load() != uint64(len(sent)) ||
		s.Count[metrics.ContentRefused].Load() != 0 || s.Count[metrics.UnbalancedTicks].Load() != 0 {
		t.Errorf("%d asked for, %d sent, %d refused", s.Count[metrics.ContentRequests].Load(), len(sent),
			s.Count[metrics.ContentRefused].Load())
	}
	return sent, slowest
}

// badLinks are the links of the delivery tests.
var badLinks = []impair.Profile{
	{Delay: 25 * time.Millisecond},
	{Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.1},
	{Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.3, Duplicate: 0.02, Reorder: 0.05},
}

// TestRow32ModelDeliveredInHandshake is row 32 of docs/features.md: the lobby codes with
// models that no client has. Each client is sent them before its Ready, checks them by their hash,
// and decodes every snapshot with them.
func TestRow32ModelDeliveredInHandshake(t *testing.T) {
	skipUnderRace(t)
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	m := otherModels()
	if m.Hash() == netstate.Trained().Hash() || m.Hash() == netstate.Untrained().Hash() {
		t.Fatal("a client has these models")
	}
	for i, link := range badLinks {
		sent, slowest := fetchTest{clients: 12, seed: uint64(40 + i), link: link, within: 6 * time.Second,
			lobby: server.Config{Arena: a, ArenaName: "arena-64", Models: m}}.run(t)
		if len(sent) != 12 {
			t.Errorf("%d: %d sent", i, len(sent))
		}
		for _, f := range sent {
			if f.Content != protocol.ContentModel || f.Models.Hash() != m.Hash() {
				t.Errorf("%d: %v, %016x", i, f.Content, f.Models.Hash())
			}
			if got, err := netstate.ParseModels(f.File); err != nil || got.Hash() != m.Hash() {
				t.Errorf("%d: the file: %v", i, err)
			}
		}
		t.Logf("loss %.0f %%: all are in after %v", 100*link.Loss, slowest)
	}
}

// TestRow78MapDelivered is row 78 of docs/features.md: the lobby plays on a map that no
// client has, under a name that another map has as well. Each client is sent it, and both ends have
// the same by its hash.
func TestRow78MapDelivered(t *testing.T) {
	skipUnderRace(t)
	a := arena.Generate(900, 4711)
	for i, link := range badLinks {
		for _, name := range []string{"/etc/passwd", "arena-64"} {
			sent, slowest := fetchTest{clients: 12, seed: uint64(50 + i), link: link, within: 8 * time.Second,
				lobby: server.Config{Arena: a, ArenaName: name}}.run(t)
			if len(sent) != 12 {
				t.Errorf("%d: %d sent", i, len(sent))
			}
			for _, f := range sent {
				if f.Content != protocol.ContentArena || f.Arena.Hash() != a.Hash() || f.Arena.Name != name {
					t.Errorf("%d: %v, %v", i, f.Content, f.Arena.Name)
				}
			}
			t.Logf("loss %.0f %%: all are in after %v", 100*link.Loss, slowest)
		}
	}
}

// Model and map at once, to many clients that join together, each over a link of 64 kbit/s with 10
// % loss.
func TestModelAndMapDelivered(t *testing.T) {
	skipUnderRace(t)
	cfg := server.Config{Arena: arena.Generate(900, 4711), ArenaName: "mine", Models: otherModels()}
	sent, slowest := fetchTest{lobby: cfg, clients: 32, kbps: 64, seed: 60, within: 15 * time.Second,
		link: impair.Profile{Delay: 40 * time.Millisecond, Loss: 0.1}}.run(t)
	if len(sent) != 64 {
		t.Errorf("%d sent", len(sent))
	}
	t.Logf("all are in after %v", slowest)
}

// A client that does not fetch content is denied, with the reason.
func TestFetchRefused(t *testing.T) {
	skipUnderRace(t)
	for i, c := range []struct {
		lobby server.Config
		want  packet.Reason
	}{
		{server.Config{Arena: arena.Generate(16, 1), ArenaName: "gen:16:1", Models: otherModels()},
			packet.ReasonModel},
		{server.Config{Arena: arena.Generate(16, 4711), ArenaName: "mine"}, packet.ReasonArena},
	} {
		var sent []client.Fetched
		refuse := func(n int, cfg *client.Config) {
			clientsWithoutContent(&sent, 0)(n, cfg)
			cfg.Fetch = n > 0
		}
		b, err := New(Config{Clients: 2, Seed: 3, Lobby: c.lobby, ChangeClient: refuse})
		if err != nil {
			t.Fatal(err)
		}
		b.step(t, 3*time.Second)
		if state, why := b.Clients[0].State(); state != client.Denied || why != c.want ||
			b.Clients[0].Err() == nil {
			t.Errorf("%d: %v, %v, %v", i, state, why, b.Clients[0].Err())
		}
		if len(sent) != 1 || !playing(b.Clients[1]) {
			t.Errorf("%d: %d sent, the other is in: %v", i, len(sent), playing(b.Clients[1]))
		}
	}
}

// A join at 64 kbit/s without the map or the model takes the transfer time and little more.
// Decision 0016 has these figures.
func TestFetchTime(t *testing.T) {
	skipUnderRace(t)
	join := func(name string, models netstate.Models, has bool) time.Duration {
		a, err := arena.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(Config{Clients: 1, Seed: 2, Link: impair.Profile{Delay: 20 * time.Millisecond},
			Lobby: server.Config{Arena: a, ArenaName: "mine", Models: models, Players: 4, Kbps: 64},
			ChangeClient: func(_ int, cfg *client.Config) {
				if cfg.Fetch = !has; !has {
					cfg.Models, cfg.Arena = netstate.Trained(), client.Known
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		for !playing(b.Clients[0]) {
			if err := b.Step(); err != nil || b.Now() > 30*time.Second {
				state, why := b.Clients[0].State()
				t.Fatalf("%s: %v, %v after %v: %v", name, state, why, b.Now(), err)
			}
		}
		return b.Now()
	}
	base := join("arena-64", netstate.Trained(), true)
	t.Logf("has all:               in after %v", base)
	for _, c := range []struct {
		name   string
		models netstate.Models
		bytes  int // of both, compressed, and their packets
	}{
		{"arena-16", netstate.Trained(), 400},
		{"arena-64", netstate.Trained(), 1300},
		{"arena-256", netstate.Trained(), 4200},
		{"arena-1024", netstate.Trained(), 16700},
		{"gen:4096:1", netstate.Trained(), 65500},
		{"arena-64", otherModels(), 2200},
	} {
		took := join(c.name, c.models, false)
		line := time.Duration(c.bytes) * 8 * time.Second / 64000
		t.Logf("%-12s other models: %-5v in after %v, %v of it on the line",
			c.name, c.models.Hash() != netstate.Trained().Hash(), took, line.Round(time.Millisecond))
		if took > base+line*11/10+400*time.Millisecond {
			t.Errorf("%s: in after %v", c.name, took)
		}
	}
}
