package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// Row 14 on bad links: the map changes six times in a running match, over links with loss, delay,
// duplicates and reordering, twice before any client has heard of the previous change. All sessions
// survive, and neither end takes data of an old map for the new one. Only ticks with a lost command
// mispredict, no input buffer misses the first tick, every snapshot decodes, and no rows differ.
func TestRow14MapChangeOnBadLinks(t *testing.T) {
	names := []string{"arena-64", "gen:24:5", "arena-16", "gen:40:6", "gen:40:7", "arena-64"}
	for seed, relevance := range []server.Relevance{server.RelevanceAll, server.RelevanceGrid} {
		first, err := arena.Open("arena-16")
		if err != nil {
			t.Fatal(err)
		}
		var sent []client.Fetched
		b, err := New(Config{
			Clients: 12, Seed: uint64(seed + 1), ChangeClient: func(n int, cfg *client.Config) {
				clientsWithoutContent(&sent, 0)(n, cfg)
				if n%2 == 1 { // half of them have the first map alone
					cfg.Arena = func(name string, hash [32]byte) (*arena.Arena, error) {
						if name != "arena-16" {
							return nil, client.ErrUnknownArena
						}
						return client.Known(name, hash)
					}
				}
			},
			Link: impair.Profile{Loss: 0.08, Delay: 30 * time.Millisecond, Jitter: 30 * time.Millisecond,
				Reorder: 0.05, Duplicate: 0.02},
			Lobby: server.Config{Arena: first, ArenaName: "arena-16", Players: 16,
				Rules: sim.Rules{Seed: 9}, Relevance: relevance, ViewDistance: 400},
		})
		if err != nil {
			t.Fatal(err)
		}
		play := func(d time.Duration) {
			for end := b.Now() + d; b.Now() < end; {
				if err := b.Step(); err != nil {
					t.Fatal(err)
				}
			}
		}
		play(4 * time.Second)
		n := &b.Lobby.Stats.Count
		for i, name := range names {
			a, err := arena.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Lobby.InstallMap(b.Now(), server.LoadedMap{Arena: a, Name: name}); err != nil {
				t.Fatal(err)
			}
			if i == 3 {
				play(20 * time.Millisecond)
				continue
			}
			play(6 * time.Second)
			used := n[metrics.InputsUsed].Load()
			play(2 * time.Second)
			if got := n[metrics.InputsUsed].Load() - used; got < 12*120*9/10 {
				t.Errorf("%v, %s: %d of %d commands used", relevance, name, got, 12*120)
			}
			for k, c := range b.Clients {
				state, why := c.State()
				if s := c.Stats(); state != client.Joined || int(c.MapEpoch()) != i+1 ||
					c.Arena().Hash() != a.Hash() || s.Prediction.Mispredictions > s.InputsMissing+1 ||
					s.Undecoded != 0 || s.Diverged != 0 || s.Maps != uint64(i+1) {
					t.Fatalf("%v, %s, client %d: %v, %v, %v, world %d: %+v",
						relevance, name, k, state, why, c.Err(), c.MapEpoch(), s)
				}
			}
		}
		if n[metrics.Joined].Load() != 12 || n[metrics.Disconnected].Load() != 0 ||
			n[metrics.StaleMapEpoch].Load() == 0 || n[metrics.UnbalancedTicks].Load() != 0 || len(sent) == 0 {
			t.Errorf("%v: %d joined, %d dismissed, %d packets and messages of old maps, %d maps sent",
				relevance, n[metrics.Joined].Load(), n[metrics.Disconnected].Load(),
				n[metrics.StaleMapEpoch].Load(), len(sent))
		}
	}
}
