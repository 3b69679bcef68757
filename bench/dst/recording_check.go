package dst

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// playsWholeRecording reports whether the recordings of a seed are played from the first tick to
// the last.
func playsWholeRecording(seed uint64) bool { return seed%10 == 0 }

// checkRecording reads the newest file and checks its end, the inputs of each tick, and each
// checksum and saved state against the match as it was. The shadow match has played all of it
// already, so only a drawn part is played again; for some seeds the whole file is.
func (r *run) checkRecording(end replay.Ending) {
	f := &r.recordings
	if f.file == nil || r.violation != nil || f.last == 0 && len(f.file.data) == 0 {
		return
	}
	if f.cut && f.reports != 1 {
		r.fail(ReplayFile, "%d messages about a recording that could not be written, expected 1", f.reports)
	}
	if err := r.readRecording(f.file.data, end); err != nil {
		r.fail(ReplayFile, "%v", err)
	}
}

// readRecording returns what is wrong with a file, nil if nothing is.
func (r *run) readRecording(data []byte, end replay.Ending) error {
	f := &r.recordings
	file, err := replay.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer file.Close()
	var chunks []*replay.Chunk
	for c, err := file.Next(); err != io.EOF; c, err = file.Next() {
		if err != nil {
			return err
		}
		chunks = append(chunks, c)
	}
	if n := len(chunks); n == 0 || chunks[n-1].Last() != f.last || file.End != end {
		return fmt.Errorf("the recording from tick %d has %d chunks and ends %v, expected tick %d and %v",
			f.first, n, file.End, f.last, end)
	}
	if err := r.readChunks(file, chunks); err != nil {
		return err
	}
	return r.playChunks(file, chunks)
}

// readChunks compares the contents of a file with the match as it was.
func (r *run) readChunks(file *replay.Reader, chunks []*replay.Chunk) error {
	f, m := &r.recordings, r.shadow.match // not the lobby's, which may have panicked
	rules, err := file.Head.Rules(m.Rules().Game, r.cfg.Arena)
	if err != nil {
		return err
	}
	checksums, next := len(m.Checksums(nil)), f.first
	for i, c := range chunks {
		if c.First != next || i == 0 && len(c.Key) == 0 {
			return fmt.Errorf("a chunk from tick %d with a state of %d bytes, expected tick %d",
				c.First, len(c.Key), next)
		}
		next = c.Last() + 1
		if len(c.Key) > 0 {
			state, err := sim.Load(file.Head.Slots, rules, r.cfg.Arena, c.Key)
			if err != nil {
				return err
			}
			if was, ok := f.hashAt(c.First - 1); state.Tick() != c.First-1 || ok && state.Hash() != was {
				return fmt.Errorf("the state before tick %d is of tick %d and differs from the match",
					c.First, state.Tick())
			}
		}
		pages, err := replay.NewInputReader(c, file.Head.Slots, checksums)
		if err != nil {
			return err
		}
		for {
			p, err := pages.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			t := p.Inputs.Tick
			// A join for which there was no slot is of no consequence, and the shadow match has none.
			p.Inputs.Changes = slices.DeleteFunc(p.Inputs.Changes, func(c sim.Change) bool {
				return c.Kind == sim.ChangeJoin && c.ID == 0
			})
			if int(t) > len(f.inputs) || !p.Inputs.Equal(&f.inputs[t-1]) {
				return fmt.Errorf("tick %d of the recording differs from the inputs of the match: %+v",
					t, p.Inputs)
			}
			if was, ok := f.hashAt(t); ok && len(p.Checksums) > 0 && p.Hash != was {
				return fmt.Errorf("the checksum of tick %d is %x, expected %x", t, p.Hash, was)
			}
		}
	}
	return nil
}

// playChunks plays a drawn range of chunks and compares checksums and the state at its end.
func (r *run) playChunks(file *replay.Reader, chunks []*replay.Chunk) error {
	p, err := replay.NewPlayer(&file.Head, r.Lobby.Match().Rules().Game, r.cfg.Arena)
	if err != nil {
		return err
	}
	from, to := 0, len(chunks)
	if !playsWholeRecording(r.c.Seed) {
		rng := rand.New(rand.NewPCG(r.c.Seed, 0x66696c6d^uint64(r.recordings.first))) // "film"
		from, to = drawChunkRange(chunks, rng)
	}
	if err := playAll(p, chunks[from:to]); err != nil {
		return err
	}
	if to == len(chunks) {
		return nil
	}
	return p.Load(chunks[to])
}

// drawChunkRange draws a chunk that starts with a saved state, and returns its index and that of
// the next such chunk, or of the end.
func drawChunkRange(chunks []*replay.Chunk, rng *rand.Rand) (from, to int) {
	var keys []int
	for i, c := range chunks {
		if len(c.Key) > 0 {
			keys = append(keys, i)
		}
	}
	keys = append(keys, len(chunks))
	n := rng.IntN(len(keys) - 1)
	return keys[n], keys[n+1]
}
