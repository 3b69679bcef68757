package dict

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// rowBlocks are small blocks that have much in common.
func rowBlocks(seed uint64, count int) (all [][]byte) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range count {
		var b []byte
		for range 20 + rng.IntN(20) {
			b = append(b, 0xff, 0x0f, byte(rng.IntN(6)), byte(rng.IntN(3)), 0, 100)
		}
		all = append(all, b)
	}
	return all
}

func blocks(t testing.TB, dictionary []byte) *Blocks {
	t.Helper()
	b, err := NewBlocks(dictionary)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Blocks come back with a dictionary and without, which makes them smaller; nothing is allocated.
func TestBlocksComeBack(t *testing.T) {
	trained := TrainBlocks(rowBlocks(1, 400), 1<<10)
	if trained == nil || !bytes.Equal(trained, TrainBlocks(rowBlocks(1, 400), 1<<10)) {
		t.Fatal("no dictionary, or another one of the same samples")
	}
	var sizes [2]int
	for i, dictionary := range [][]byte{nil, trained} {
		b := blocks(t, dictionary)
		if !bytes.Equal(b.Dictionary(), dictionary) {
			t.Error("another dictionary than given")
		}
		p, u := b.NewPacker(), b.NewUnpacker()
		packed, room := make([]byte, 0, MaxBlock), make([]byte, 0, MaxBlock)
		for _, block := range rowBlocks(2, 50) {
			out, ok := p.Append(packed, block)
			sizes[i] += len(out)
			got, err := u.Into(room, out)
			if !ok || err != nil || !bytes.Equal(got, block) {
				t.Fatalf("dictionary %v: %v, %v", dictionary != nil, ok, err)
			}
		}
		block := rowBlocks(3, 1)[0]
		if n := alloctest.In(100, func() {
			out, _ := p.Append(packed, block)
			_, _ = u.Into(room, out)
		}); n != 0 {
			t.Errorf("%v allocations a block", n)
		}
	}
	if sizes[1]*5 > sizes[0]*4 {
		t.Errorf("%d bytes with a dictionary, %d without: want a fifth less", sizes[1], sizes[0])
	}
}

// What zstd does not make smaller is told so, and dst stays as it was.
func TestBlocksThatDoNotShrink(t *testing.T) {
	p := blocks(t, TrainBlocks(rowBlocks(1, 400), 1<<10)).NewPacker()
	for i, block := range [][]byte{
		nil, {1}, random(100), bytes.Repeat([]byte{7}, 500), make([]byte, MaxBlock+1),
	} {
		if out, ok := p.Append([]byte("head"), block); ok || string(out) != "head" {
			t.Errorf("%d: %d bytes, %v", i, len(out), ok)
		}
	}
}

// Dictionaries that are none are refused: a client may get them from a server.
func TestBlockDictionaryIsChecked(t *testing.T) {
	good := TrainBlocks(rowBlocks(1, 400), 1<<10)
	other := bytes.Clone(good)
	other[4]++ // its id
	for i, c := range [][]byte{
		{}, {1}, good[:40], other, append(bytes.Clone(good), make([]byte, MaxBlockDictionary)...),
	} {
		if _, err := NewBlocks(c); !errors.Is(err, ErrBlob) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if TrainBlocks(nil, 100) != nil || TrainBlocks([][]byte{{1}}, 100) != nil {
		t.Error("nothing gave a dictionary")
	}
}

// blockBombs are contents of blocks that unpack to far more than any block.
func blockBombs(t testing.TB) (all [][]byte) {
	enc, err := zstd.NewWriter(nil, zstd.WithSingleSegment(false), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{MaxBlock + 1, 8 << 10, 100 << 10} {
		frame := enc.EncodeAll(append(random(100), make([]byte, n)...), nil)
		all = append(all, frame[frameHead(frame)+blockHead:])
	}
	return append(all, make([]byte, MaxBlock+1), bytes.Repeat([]byte{0xff}, MaxBlock))
}

// A decompression bomb is refused, and what it allocates is bounded.
func TestBlockBombsAreRefused(t *testing.T) {
	for _, dictionary := range [][]byte{nil, TrainBlocks(rowBlocks(1, 400), 1<<10)} {
		u := blocks(t, dictionary).NewUnpacker()
		for i, bomb := range blockBombs(t) {
			for _, room := range []int{0, 1, MaxBlock} {
				dst := make([]byte, 0, room)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				out, err := u.Into(dst, bomb)
				runtime.ReadMemStats(&after)
				if !errors.Is(err, ErrBlob) && !(room < MaxBlock && errors.Is(err, ErrRoom)) || len(out) != 0 {
					t.Errorf("bomb %d into %d bytes: %d bytes, %v", i, room, len(out), err)
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > 256<<10 {
					t.Errorf("bomb %d into %d bytes: %d bytes allocated", i, room, n)
				}
			}
		}
	}
}

func FuzzUnpackBlock(f *testing.F) {
	b := blocks(f, TrainBlocks(rowBlocks(1, 400), 1<<10))
	p, u := b.NewPacker(), b.NewUnpacker()
	for _, block := range rowBlocks(2, 3) {
		out, _ := p.Append(nil, block)
		f.Add(out)
	}
	for _, bomb := range blockBombs(f) {
		f.Add(bomb)
	}
	room := make([]byte, 0, MaxBlock)
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := u.Into(room, src)
		if err == nil && len(got) > MaxBlock || err != nil && (!errors.Is(err, ErrBlob) || len(got) != 0) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	})
}
