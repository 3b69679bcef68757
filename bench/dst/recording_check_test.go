package dst

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/replay"
)

// Every wrong byte of a recording is found, wherever it is and whatever range is played.
func TestRecordingErrorsAreFound(t *testing.T) {
	r, err := newRun(Case{Seed: 6, Clients: 4}, skipped{})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.play(); v != nil {
		t.Fatal(v)
	}
	f := &r.recordings
	read := func() (*replay.Head, []*replay.Chunk) {
		file, err := replay.NewReader(bytes.NewReader(f.file.data))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var all []*replay.Chunk
		for c, err := file.Next(); err == nil; c, err = file.Next() {
			all = append(all, c)
		}
		return &file.Head, all
	}
	_, chunks := read()
	if len(chunks) < 12 {
		t.Fatalf("%d chunks", len(chunks))
	}
	checksums := len(r.Lobby.Match().Checksums(nil))
	d := rand.New(rand.NewPCG(1, 1))
	for i, c := range []struct {
		name    string
		damage  func(all []*replay.Chunk) []*replay.Chunk
		wantErr string // "" accepts any error
		times   int    // repeats, where the damaged byte is drawn
	}{
		{"1 unchanged", func(all []*replay.Chunk) []*replay.Chunk { return all }, "", 1},
		{"2 a chunk is missing", func(all []*replay.Chunk) []*replay.Chunk {
			return append(all[:5:5], all[6:]...)
		}, "a chunk from tick", 1},
		{"3 the last chunk is missing", func(all []*replay.Chunk) []*replay.Chunk {
			return all[:len(all)-1]
		}, "expected tick", 1},
		{"4 inputs of two seconds swapped", func(all []*replay.Chunk) []*replay.Chunk {
			n := d.IntN(len(all) - 2)
			all[n].Log, all[n+1].Log = all[n+1].Log, all[n].Log
			return all
		}, "differs from the inputs", 4},
		{"5 the state of another tick", func(all []*replay.Chunk) []*replay.Chunk {
			all[4].Key = all[8].Key
			return all
		}, "the state before tick", 1},
		{"6 a state with one byte changed", func(all []*replay.Chunk) []*replay.Chunk {
			key := all[8].Key
			key[len(key)/8]++
			return all
		}, "", 1},
		{"7 a checksum", func(all []*replay.Chunk) []*replay.Chunk {
			c := all[d.IntN(len(all)-1)]
			c.Log[len(c.Log)-2*checksums-1-d.IntN(8)]++
			return all
		}, "the checksum of tick", 4},
		{"8 a log with a byte too many", func(all []*replay.Chunk) []*replay.Chunk {
			c := all[d.IntN(len(all)-1)]
			c.Log = append(c.Log, 0)
			return all
		}, "bytes too many", 4},
		{"9 no state at the beginning", func(all []*replay.Chunk) []*replay.Chunk {
			all[0].Key = nil
			return all
		}, "a state of 0 bytes", 1},
	} {
		for range c.times {
			h, all := read()
			all = c.damage(all)
			file := &diskFile{on: &disk{space: -1}}
			create := func(tick.Tick) (replay.File, string, error) { return file, "F", nil }
			writer := replay.FileWriter{Create: create}
			for n, c := range all {
				if n == 0 {
					writer.WriteFirst(h, c)
				} else {
					writer.Write(h, c)
				}
			}
			writer.Close()
			err := r.readRecording(file.data, replay.Complete)
			if valid := i == 0; valid != (err == nil) || !valid && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	for r.c.Seed = 10; r.c.Seed < 30; r.c.Seed++ { // two seeds play the whole file, the others a drawn range
		if err := r.readRecording(f.file.data, replay.Complete); err != nil {
			t.Errorf("seed %d: %v", r.c.Seed, err)
		}
	}
	if err := r.readRecording(f.file.data, replay.Unfinished); err == nil {
		t.Error("a whole file passes as an unfinished one")
	}
	f.inputs[700].Commands[0].Command.Pitch++
	if err := r.readRecording(f.file.data, replay.Complete); err == nil {
		t.Error("a changed command is not found")
	}
}

// A drawn range begins with a saved state and ends before the next; every range is drawn.
func TestDrawChunkRange(t *testing.T) {
	chunks := make([]*replay.Chunk, 11)
	for i := range chunks {
		chunks[i] = &replay.Chunk{}
		if i%4 == 0 {
			chunks[i].Key = []byte{1}
		}
	}
	seen := map[[2]int]int{}
	for seed := range uint64(300) {
		from, to := drawChunkRange(chunks, rand.New(rand.NewPCG(seed, 1)))
		seen[[2]int{from, to}]++
	}
	for _, want := range [][2]int{{0, 4}, {4, 8}, {8, 11}} {
		if seen[want] < 60 {
			t.Errorf("%v drawn %d times of 300", want, seen[want])
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}
