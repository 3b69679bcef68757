package lobbysim

import (
	"testing"
	"time"

	"github.com/klauspost/compress/fse"
	"github.com/klauspost/compress/huff0"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Blocks are of every third tick of a lobby of 64, against what its clients acknowledged 100 ms
// before.
const (
	blockPlayers  = 64
	blockInterval = 3
	blockAge      = 2 * blockInterval
	blockTicks    = 20 // snapshots that are coded
)

// lobbyRows is the recent snapshots of a lobby in a fight.
func lobbyRows(b *testing.B) (ring *snapshot.Ring, newest tick.Tick) {
	s, err := New(Config{Clients: blockPlayers, Seed: 21, Lobby: server.Config{Arena: arena.Generate(blockPlayers, 21),
		ArenaName: "test", Players: blockPlayers, Rules: sim.Rules{Seed: 21, Mix: true}}})
	if err != nil {
		b.Fatal(err)
	}
	ring = snapshot.NewRing(netstate.Public, blockPlayers, 256, 1)
	row := make([]int32, netstate.PublicFields)
	for s.Now() < 6*time.Second {
		if err := s.Step(); err != nil {
			b.Fatal(err)
		}
		t := s.Lobby.Match().Tick()
		if t%blockInterval != 0 {
			continue
		}
		from, to := s.Lobby.Frame(t), ring.Begin(t)
		for slot := range from.Slots() {
			if id := from.Row(slot, row); id != 0 {
				to.Set(slot, id, row)
			}
		}
		newest = t
	}
	return ring, newest
}

// BenchmarkBlock is the cost of a row in the blocks of a real lobby, coded once for all clients:
// changes (delta), and rows for clients that hold nothing (spawn). huff0 and fse code the columns
// that zstd gets, with a table in each block; what they do not shrink counts as it is.
func BenchmarkBlock(b *testing.B) {
	ring, newest := lobbyRows(b)
	for _, kind := range []string{"delta", "spawn"} {
		base := func(t tick.Tick) snapshot.Baselines {
			if kind == "spawn" {
				return snapshot.Baselines{}
			}
			return snapshot.Baselines{t - blockAge, t - blockAge - blockInterval, t - blockAge - 2*blockInterval}
		}
		for codec := range schema.Codecs {
			if codec != schema.Stored && codec != schema.HuffmanZstd && (codec != schema.Range || kind == "delta") {
				blockCodec(b, "kind="+kind+"/"+codec.String(), ring, newest, codec, base)
			}
		}
		columns := snapshot.NewBlockSamples(netstate.Public)
		e := snapshot.NewEncoder(netstate.Trained().Public, blockPlayers)
		e.Sample(columns)
		for t := newest - blockTicks*blockInterval; t <= newest; t += blockInterval {
			e.Begin(ring.At(t), ring)
			e.Run(0, ring.Groups(), base(t))
		}
		blocks := columns.Delta
		if kind == "spawn" {
			blocks = columns.Spawn
		}
		var huff huff0.Scratch
		var tables fse.Scratch
		blockRival(b, "encode/kind="+kind+"/rival-huff0", blocks, func(src []byte) ([]byte, error) {
			out, _, err := huff0.Compress1X(src, &huff)
			return out, err
		})
		blockRival(b, "encode/kind="+kind+"/rival-fse", blocks, func(src []byte) ([]byte, error) { return fse.Compress(src, &tables) })
	}
}

// blockCodec measures one live codec, both ways.
func blockCodec(b *testing.B, name string, ring *snapshot.Ring, newest tick.Tick, codec schema.Codec, base func(tick.Tick) snapshot.Baselines) {
	m := netstate.Trained().WithCodec(codec).Public
	e, d := snapshot.NewEncoder(m, blockPlayers), snapshot.NewDecoder(m, blockPlayers, blockInterval)
	var sections [blockTicks][]byte
	size, groups := 0, ring.Groups()
	encode := func(t tick.Tick, base snapshot.Baselines) []byte {
		e.Begin(ring.At(t), ring)
		return e.Run(0, groups, base)
	}
	for t := newest - (blockTicks+4)*blockInterval; t <= newest; t += blockInterval {
		run := snapshot.Run{Count: groups}
		if err := d.Section(t, append(snapshot.AppendRun(nil, run, t, blockInterval), encode(t, run.Baselines)...)); err != nil {
			b.Fatal(err)
		}
	}
	for i := range sections {
		t := newest - tick.Tick(i)*blockInterval
		run := snapshot.Run{Count: groups, Baselines: base(t)}
		blocks := encode(t, run.Baselines)
		sections[i], size = append(snapshot.AppendRun(nil, run, t, blockInterval), blocks...), size+len(blocks)
	}
	b.Run("encode/"+name, func(b *testing.B) {
		for b.Loop() {
			for i := range sections {
				t := newest - tick.Tick(i)*blockInterval
				encode(t, base(t))
			}
		}
		perRow(b, blockTicks*groups, size)
	})
	b.Run("decode/"+name, func(b *testing.B) {
		for b.Loop() {
			for i, src := range sections {
				if err := d.Section(newest-tick.Tick(i)*blockInterval, src); err != nil {
					b.Fatal(err)
				}
			}
		}
		perRow(b, blockTicks*groups, size)
	})
}

// blockRival measures a coder of bytes.
func blockRival(b *testing.B, name string, blocks [][]byte, compress func([]byte) ([]byte, error)) {
	b.Run(name, func(b *testing.B) {
		size := 0
		for b.Loop() {
			size = 0
			for _, block := range blocks {
				out, err := compress(block)
				if err != nil || len(out) >= len(block) {
					out = block
				}
				size += 1 + len(out)
			}
		}
		perRow(b, len(blocks), size)
	})
}

// perRow reports what a row of so many blocks took.
func perRow(b *testing.B, blocks, bytes int) {
	rows := float64(blocks * snapshot.GroupRows)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	b.ReportMetric(float64(bytes)/rows, "B/row")
	b.ReportMetric(0, "ns/op")
}
