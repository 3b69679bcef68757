package netcode

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// arrayWindow is the window of the reference: an entry for each sequence modulo the size, with a
// flag in place of its "empty" number.
type arrayWindow struct {
	newest  uint64
	entries [windowSize]uint64
	filled  [windowSize]bool
}

func (w *arrayWindow) receive(s uint64) Drop {
	i := s % windowSize
	switch {
	case w.newest >= windowSize && s <= w.newest-windowSize:
		return DropTooOld
	case w.filled[i] && w.entries[i] >= s:
		return DropReplay
	}
	w.entries[i], w.filled[i], w.newest = s, true, max(w.newest, s)
	return DropNone
}

// rfcWindow is the window of RFC 6479, appendix A: a ring of words with a spare one, which is
// cleared as a whole.
type rfcWindow struct {
	newest uint64
	words  [2 * windowSize / 64]uint64
}

func (w *rfcWindow) receive(s uint64) Drop {
	const mask = uint64(len(w.words) - 1)
	if s < w.newest && w.newest-s >= windowSize {
		return DropTooOld
	}
	if s > w.newest {
		for i := uint64(1); i <= min(s>>6-w.newest>>6, mask+1); i++ {
			w.words[(w.newest>>6+i)&mask] = 0
		}
		w.newest = s
	}
	word := &w.words[s>>6&mask]
	if *word>>(s&63)&1 != 0 {
		return DropReplay
	}
	*word |= 1 << (s & 63)
	return DropNone
}

// mapWindow remembers everything.
type mapWindow struct {
	newest uint64
	seen   map[uint64]bool
}

func (w *mapWindow) receive(s uint64) Drop {
	switch {
	case s < w.newest && w.newest-s >= windowSize:
		return DropTooOld
	case w.seen[s]:
		return DropReplay
	}
	w.seen[s], w.newest = true, max(w.newest, s)
	return DropNone
}

func receive(w *ReplayWindow, s uint64) Drop {
	why := w.Check(s)
	if why == DropNone {
		w.Record(s)
	}
	return why
}

type windows struct {
	own   ReplayWindow
	array arrayWindow
	rfc   rfcWindow
	all   mapWindow
}

func (w *windows) agree(t *testing.T, s uint64) Drop {
	own, array, rfc, all := receive(&w.own, s), w.array.receive(s), w.rfc.receive(s), w.all.receive(s)
	if own != all || own != array || own != rfc || w.own.Newest() != w.all.newest {
		t.Fatalf("sequence %d, newest %d: %v; map %v, reference %v, RFC 6479 %v", s, w.all.newest, own, all,
			array, rfc)
	}
	return own
}

func TestWindowAgreesWithItsTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	counts := [NumDrops]int{}
	for round := range 100 {
		w := &windows{all: mapWindow{seen: map[uint64]bool{}}}
		at := uint64(0)
		if round%4 == 1 {
			at = ^uint64(0) - 9000 // goes round the end in some rounds
		}
		for range 10_000 {
			switch rng.IntN(400) {
			case 0:
				at += rng.Uint64N(2 * windowSize)
			case 1:
				if round%10 == 0 {
					at += rng.Uint64N(1 << 40)
				}
			default:
				at++
			}
			counts[w.agree(t, at-min(at, rng.Uint64N(windowSize*5/4)))]++
		}
	}
	if counts[DropNone] < 200_000 || counts[DropReplay] < 100_000 || counts[DropTooOld] < 50_000 {
		t.Errorf("too few of a kind: %d taken, %d replayed, %d too old", counts[DropNone],
			counts[DropReplay], counts[DropTooOld])
	}
}

func TestWindowEdges(t *testing.T) {
	const top = ^uint64(0)
	for _, c := range []struct {
		name  string
		first []uint64
		then  uint64
		want  Drop
	}{
		{"zero once", nil, 0, DropNone},
		{"zero twice", []uint64{0}, 0, DropReplay},
		{"the oldest age", []uint64{1023}, 0, DropNone},
		{"one older", []uint64{1024}, 0, DropTooOld},
		{"one older again", []uint64{1024}, 1, DropNone},
		{"last number", []uint64{top - 1}, top, DropNone},
		{"last number twice", []uint64{top}, top, DropReplay},
		{"near the end, within", []uint64{top}, top - 1023, DropNone},
		{"near the end, behind", []uint64{top}, top - 1024, DropTooOld},
		{"jump of 2^32", []uint64{5, 5 + 1<<32}, 5, DropTooOld},
		{"from 2^63", []uint64{1 << 63}, 1<<63 - 1, DropNone},
	} {
		var w ReplayWindow
		for _, s := range c.first {
			if why := receive(&w, s); why != DropNone {
				t.Errorf("%s: %d: %v", c.name, s, why)
			}
		}
		if why := w.Check(c.then); why != c.want {
			t.Errorf("%s: %v, want %v", c.name, why, c.want)
		}
	}
}

func FuzzReplayWindow(f *testing.F) {
	f.Add(uint64(0), []byte{1, 0, 1, 0, 255, 3, 0, 4})
	f.Add(^uint64(0)-300, []byte{1, 0, 1, 0, 255, 3, 0, 4, 44, 1, 9, 128})
	f.Fuzz(func(t *testing.T, at uint64, steps []byte) {
		w := &windows{all: mapWindow{seen: map[uint64]bool{}}}
		for ; len(steps) >= 2; steps = steps[2:] {
			at += uint64(int64(int16(binary.LittleEndian.Uint16(steps))))
			w.agree(t, at)
		}
	})
}
