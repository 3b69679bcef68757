package lobbysim

import (
	"slices"
	"testing"
	"time"

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

// blockBench is the recent snapshots of a lobby in a fight, and what its blocks are coded against.
type blockBench struct {
	ring   *snapshot.Ring
	newest tick.Tick
	spawn  bool // nothing
}

func newBlockBench(b *testing.B) *blockBench {
	ground := arena.Generate(blockPlayers, 21)
	s, err := New(Config{Clients: blockPlayers, Seed: 21, Lobby: server.Config{
		Arena: ground, ArenaName: "test", Players: blockPlayers, Rules: sim.Rules{Seed: 21, Mix: true},
	}})
	if err != nil {
		b.Fatal(err)
	}
	x := &blockBench{ring: snapshot.NewRing(netstate.Public, blockPlayers, 256, 1)}
	row := make([]int32, netstate.PublicFields)
	for s.Now() < 6*time.Second {
		if err := s.Step(); err != nil {
			b.Fatal(err)
		}
		t := s.Lobby.Match().Tick()
		if t%blockInterval != 0 {
			continue
		}
		from, to := s.Lobby.Frame(t), x.ring.Begin(t)
		for slot := range from.Slots() {
			if id := from.Row(slot, row); id != 0 {
				to.Set(slot, id, row)
			}
		}
		x.newest = t
	}
	return x
}

// run is the header of all blocks of a tick.
func (x *blockBench) run(t tick.Tick) snapshot.Run {
	r := snapshot.Run{Count: x.ring.Groups()}
	if !x.spawn {
		acked := t - blockAge
		r.Baselines = snapshot.Baselines{acked, acked - blockInterval, acked - 2*blockInterval}
	}
	return r
}

// name of a benchmark.
func (x *blockBench) name(way, coder string) string {
	return way + "/kind=" + map[bool]string{false: "delta", true: "spawn"}[x.spawn] + "/" + coder
}

// BenchmarkBlock is the cost of a row in the blocks of a real lobby, coded once for all clients:
// changes (delta), and rows for clients that hold nothing (spawn). huff0 codes the columns that zstd
// gets with one table that was trained on the first half of them; what it does not shrink counts as it
// is. Its time is that of coding bytes alone, without predictions and columns.
func BenchmarkBlock(b *testing.B) {
	x := newBlockBench(b)
	for _, x.spawn = range []bool{false, true} {
		codecs := []schema.Codec{schema.Huffman, schema.Range, schema.Zstd}
		if x.spawn {
			codecs = []schema.Codec{schema.Huffman, schema.Zstd}
		}
		for _, codec := range codecs {
			x.codec(b, codec)
		}
		x.huff0(b)
	}
}

// codec measures one live codec, both ways.
func (x *blockBench) codec(b *testing.B, codec schema.Codec) {
	m := netstate.Trained().WithCodec(codec).Public
	e, d := snapshot.NewEncoder(m, blockPlayers), snapshot.NewDecoder(m, blockPlayers, blockInterval)
	encode := func(t tick.Tick, r snapshot.Run) []byte {
		e.Begin(x.ring.At(t), x.ring)
		return e.Run(0, r.Count, r.Baselines)
	}
	section := func(t tick.Tick, r snapshot.Run) []byte {
		return append(snapshot.AppendRun(nil, r, t, blockInterval), encode(t, r)...)
	}
	for t := x.newest - (blockTicks+4)*blockInterval; t <= x.newest; t += blockInterval {
		if err := d.Section(t, section(t, snapshot.Run{Count: x.ring.Groups()})); err != nil {
			b.Fatal(err)
		}
	}
	var sections [blockTicks][]byte
	size, blocks := 0, blockTicks*x.ring.Groups()
	for i := range sections {
		t := x.newest - tick.Tick(i)*blockInterval
		sections[i] = section(t, x.run(t))
		size += len(sections[i])
	}
	b.Run(x.name("encode", codec.String()), func(b *testing.B) {
		for b.Loop() {
			for i := range sections {
				t := x.newest - tick.Tick(i)*blockInterval
				encode(t, x.run(t))
			}
		}
		perRow(b, blocks, size)
	})
	b.Run(x.name("decode", codec.String()), func(b *testing.B) {
		for b.Loop() {
			for i, src := range sections {
				if err := d.Section(x.newest-tick.Tick(i)*blockInterval, src); err != nil {
					b.Fatal(err)
				}
			}
		}
		perRow(b, blocks, size)
	})
}

// huff0 measures the library's Huffman coder of bytes.
func (x *blockBench) huff0(b *testing.B) {
	samples := snapshot.NewBlockSamples(netstate.Public)
	e := snapshot.NewEncoder(netstate.Trained().Public, blockPlayers)
	e.Sample(samples)
	for t := x.newest - blockTicks*blockInterval; t <= x.newest; t += blockInterval {
		r := x.run(t)
		e.Begin(x.ring.At(t), x.ring)
		e.Run(0, r.Count, r.Baselines)
	}
	blocks := samples.Delta
	if x.spawn {
		blocks = samples.Spawn
	}
	var huff huff0.Scratch
	half := len(blocks) / 2
	training := slices.Concat(blocks[:half]...)
	for v := range 256 { // each value once, so that the table codes all
		training = append(training, byte(v))
	}
	if _, _, err := huff0.Compress1X(training, &huff); err != nil {
		b.Fatal(err)
	}
	huff.Reuse = huff0.ReusePolicyMust
	blocks = blocks[half:]
	b.Run(x.name("encode", "huff0"), func(b *testing.B) {
		size := 0
		for b.Loop() {
			size = 0
			for _, block := range blocks {
				out, _, err := huff0.Compress1X(block, &huff)
				if err != nil || len(out) >= len(block) {
					out = block
				}
				size += 1 + len(out)
			}
		}
		perRow(b, len(blocks), size)
	})
}

// perRow reports the time and the bytes of a row, for full blocks of 16 rows.
func perRow(b *testing.B, blocks, bytes int) {
	rows := float64(blocks * snapshot.GroupRows)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	b.ReportMetric(float64(bytes)/rows, "B/row")
	b.ReportMetric(0, "ns/op")
}
