package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// bytesDown plays 20 virtual seconds and returns what the lobby sent.
func bytesDown(t *testing.T, models netstate.Models, codec schema.Codec, seed uint64) uint64 {
	t.Helper()
	b, err := New(Config{
		Clients: 24, Seed: seed, Link: impair.Profile{Delay: 25 * time.Millisecond,
			Jitter: 10 * time.Millisecond},
		Lobby: server.Config{Arena: arena.Generate(24, seed), ArenaName: "test", Players: 24,
			Rules: sim.Rules{Seed: seed}, Models: models, Codec: codec},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 * 60 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range b.Clients {
		if s := c.Stats(); s.Undecoded > 0 || s.Snapshots < 300 {
			t.Errorf("client %d: %d snapshots, %d undecoded", i, s.Snapshots, s.Undecoded)
		}
	}
	return b.Lobby.Stats.Count[metrics.BytesOut].Load()
}

// TestRow32TrainedModelsAreSmaller is row 32 of docs/features.md: the models of this build
// are worth their bytes on a match, a map and players that they were not trained on, and every
// client decodes them. They are named by hash when a client joins.
func TestRow32TrainedModelsAreSmaller(t *testing.T) {
	skipUnderRace(t)
	untrained := bytesDown(t, netstate.Untrained(), schema.Huffman, 77)
	trained := bytesDown(t, netstate.Trained(), schema.Huffman, 77)
	t.Logf("untrained %d bytes, trained %d: %.1f %% less",
		untrained, trained, 100-100*float64(trained)/float64(untrained))
	if float64(trained) > 0.95*float64(untrained) {
		t.Errorf("trained models send %d bytes, untrained %d", trained, untrained)
	}
	// Clients follow the lobby's codec without configuration.
	ranged, stored := bytesDown(t, netstate.Trained(), schema.Range, 77),
		bytesDown(t, netstate.Trained(), schema.Stored, 77)
	t.Logf("range %d bytes, huffman %d, stored %d", ranged, trained, stored)
	if ranged >= trained || trained >= stored {
		t.Errorf("range %d bytes, huffman %d, stored %d", ranged, trained, stored)
	}
	packed := bytesDown(t, netstate.Trained(), schema.Zstd, 77)
	joins := bytesDown(t, netstate.Trained(), schema.HuffmanZstd, 77)
	t.Logf("zstd %d bytes, huffman-zstd %d", packed, joins)
	// Of players new rows are as small in Huffman codes; zstd wins where there are many objects.
	if joins*100 >= trained*101 || trained >= packed || packed >= stored {
		t.Errorf("zstd %d bytes, huffman-zstd %d, huffman %d, stored %d", packed, joins, trained, stored)
	}
}
