package dict

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// letters are blobs that have much in common.
func letters(seed uint64, count int) (all [][]byte) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range count {
		var b bytes.Buffer
		for range 6 + rng.IntN(10) {
			fmt.Fprintf(&b, "player %d was seen near the bridge at %d:%02d carrying a rifle; ", rng.IntN(64),
				rng.IntN(24), rng.IntN(60))
		}
		all = append(all, b.Bytes())
	}
	return all
}

func pair(t testing.TB, d []byte, limit int) (*Packer, *Unpacker) {
	t.Helper()
	p, err := NewPacker(d)
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewUnpacker(d, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return p, u
}

// A trained dictionary makes blobs smaller, and both ways give them back.
func TestDictionaryHelps(t *testing.T) {
	d := Train(letters(1, 300), 8<<10)
	if d == nil {
		t.Fatal("no dictionary")
	}
	sizes := [2]int{}
	for i, d := range [][]byte{nil, d} {
		p, u := pair(t, d, 1<<16)
		for _, blob := range letters(2, 50) {
			packed := p.Append([]byte("head"), blob)
			sizes[i] += len(packed) - 4
			got, err := u.Into(make([]byte, 0, 1<<16), packed[4:])
			if err != nil || !bytes.Equal(got, blob) {
				t.Fatalf("dictionary %v: %v", d != nil, err)
			}
		}
	}
	if sizes[1]*3 > sizes[0]*2 {
		t.Errorf("%d bytes with a dictionary, %d without: want a third less", sizes[1], sizes[0])
	}
	if Train(letters(1, 3), 8<<10) != nil {
		t.Error("three samples gave a dictionary")
	}
}

// A small bomb does not go off: what is unpacked never exceeds what there is room for, nor the
// limit.
func TestUnpackBounded(t *testing.T) {
	p, u := pair(t, nil, 1000)
	bomb := p.Append(nil, make([]byte, 1<<20))
	for _, room := range []int{0, 100, 1000, 1 << 21} {
		if _, err := u.Into(make([]byte, 0, room), bomb); !errors.Is(err, ErrBlob) {
			t.Errorf("a mebibyte into %d bytes: %v", room, err)
		}
	}
	if got, err := u.Into(make([]byte, 0, 1<<21), p.Append(nil, make([]byte, 900))); err != nil ||
		len(got) != 900 {
		t.Errorf("900 bytes with a limit of 1000: %d, %v", len(got), err)
	}
}

// Without room the caller is told how much is wanted; the blob is not blamed.
func TestUnpackNamesTheRoom(t *testing.T) {
	p, u := pair(t, nil, 1000)
	packed := p.Append(nil, make([]byte, 900))
	for _, dst := range [][]byte{nil, make([]byte, 7, 906)} {
		want := fmt.Sprintf("capacity for %d bytes after its contents, want 900", cap(dst)-len(dst))
		if got, err := u.Into(dst, packed); !errors.Is(err, ErrRoom) || errors.Is(err, ErrBlob) ||
			!strings.Contains(err.Error(), want) || len(got) != len(dst) {
			t.Errorf("into %d of %d bytes: %d bytes, %v; want %s", len(dst), cap(dst), len(got), err, want)
		}
	}
	b := blocks(t, nil)
	block, ok := b.NewPacker().Append(nil, rowBlocks(2, 1)[0])
	if _, err := b.NewUnpacker().Into(nil, block); !ok || !errors.Is(err, ErrRoom) {
		t.Errorf("block: %v, %v", ok, err)
	}
}

func FuzzUnpack(f *testing.F) {
	d := Train(letters(1, 100), 4<<10)
	p, u := pair(f, d, 1<<14)
	f.Add(p.Append(nil, letters(3, 1)[0]))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd})
	room := make([]byte, 0, 1<<14)
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := u.Into(room, src)
		if err == nil && len(got) > 1<<14 {
			t.Fatalf("%d bytes", len(got))
		}
	})
}
