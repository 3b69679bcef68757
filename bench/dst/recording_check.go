package dst

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// playsWholeRecording says of which seeds a recording is played from its first tick to its last.
func playsWholeRecording(seed uint64) bool { return seed%10 == 0 }

// checkRecording looks at the newest file. All of it is read: it must end as it did and where it did, each tick must say what came into the
// twin for it, each fingerprint and each state must be of the match as it was. As the twin has played all that already, and became what the
// match was, a file is played from one of its states to the next, which is drawn; of some seeds it is played whole.
func (w *world) checkRecording(end replay.Ending) {
	f := &w.recordings
	if f.file == nil || w.violation != nil || f.last == 0 && len(f.file.data) == 0 {
		return
	}
	if f.cut && f.said != 1 {
		w.fail(ReplayFile, "%d lines about a recording that could not be written", f.said)
	}
	if err := w.readRecording(f.file.data, end); err != nil {
		w.fail(ReplayFile, "%v", err)
	}
}

// readRecording says what is wrong with a file.
func (w *world) readRecording(data []byte, end replay.Ending) error {
	f := &w.recordings
	r, err := replay.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer r.Close()
	var chunks []*replay.Chunk
	for c, err := r.Next(); err != io.EOF; c, err = r.Next() {
		if err != nil {
			return err
		}
		chunks = append(chunks, c)
	}
	if n := len(chunks); n == 0 || chunks[n-1].Last() != f.last || r.End != end {
		return fmt.Errorf("the recording from tick %d has %d chunks and ends %v, expected tick %d and %v", f.first, n, r.End, f.last, end)
	}
	if err := w.readChunks(r, chunks); err != nil {
		return err
	}
	return w.playChunks(r, chunks)
}

// readChunks holds what a file says against what was.
func (w *world) readChunks(r *replay.Reader, chunks []*replay.Chunk) error {
	f, m := &w.recordings, w.Lobby.Match()
	rules, err := r.Head.Rules(m.Rules().Game, w.cfg.Arena)
	if err != nil {
		return err
	}
	prints, next := len(m.Prints(nil)), f.first
	for i, c := range chunks {
		if c.First != next || i == 0 && len(c.Key) == 0 {
			return fmt.Errorf("a chunk from tick %d with a state of %d bytes, expected tick %d", c.First, len(c.Key), next)
		}
		next = c.Last() + 1
		if len(c.Key) > 0 {
			state, err := sim.Load(r.Head.Slots, rules, w.cfg.Arena, c.Key)
			if err != nil {
				return err
			}
			if was, ok := f.hashAt(c.First - 1); state.Tick() != c.First-1 || ok && state.Hash() != was {
				return fmt.Errorf("the state before tick %d is of tick %d, and another than it was", c.First, state.Tick())
			}
		}
		pages, err := replay.ReadPages(c, r.Head.Slots, prints)
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
			t := p.Diary.Tick
			if int(t) > len(f.inputs) || !p.Diary.Equal(&f.inputs[t-1]) {
				return fmt.Errorf("tick %d of the recording is another than it was: it says %+v", t, p.Diary)
			}
			if was, ok := f.hashAt(t); ok && len(p.Sums) > 0 && p.Hash != was {
				return fmt.Errorf("the fingerprint of tick %d is %x, expected %x", t, p.Hash, was)
			}
		}
	}
	return nil
}

// playChunks plays a stretch of a file, and compares it with the fingerprints and with the state that it leads to.
func (w *world) playChunks(r *replay.Reader, chunks []*replay.Chunk) error {
	p, err := replay.NewPlayer(&r.Head, w.Lobby.Match().Rules().Game, w.cfg.Arena)
	if err != nil {
		return err
	}
	from, to := 0, len(chunks)
	if !playsWholeRecording(w.c.Seed) {
		from, to = drawChunkRange(chunks, rand.New(rand.NewPCG(w.c.Seed, 0x66696c6d^uint64(w.recordings.first)))) // "film"
	}
	for _, c := range chunks[from:to] {
		if err := p.Load(c); err != nil {
			return err
		}
		for !p.Done() {
			if err := p.Step(); err != nil {
				return err
			}
		}
	}
	if to == len(chunks) {
		return nil
	}
	return p.Load(chunks[to])
}

// drawChunkRange draws a chunk with a state, and the next that has one, or the end.
func drawChunkRange(chunks []*replay.Chunk, dice *rand.Rand) (from, to int) {
	var keys []int
	for i, c := range chunks {
		if len(c.Key) > 0 {
			keys = append(keys, i)
		}
	}
	keys = append(keys, len(chunks))
	n := dice.IntN(len(keys) - 1)
	return keys[n], keys[n+1]
}
