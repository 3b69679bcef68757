package dict

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func random(n int) []byte {
	b, rng := make([]byte, n), rand.New(rand.NewPCG(uint64(n), 3))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Whatever it is, it comes back, and nothing grows.
func TestPackGivesBack(t *testing.T) {
	zeros := bytes.Repeat([]byte{0}, 3<<20)
	rows := bytes.Repeat([]byte("[1,0,2,3.5,4,5],\n[-1.5,0,2,3.5,4,5]"), 40)
	for i, c := range []struct {
		blob []byte
		want Method
	}{{random(1), Stored}, {random(1 << 16), Stored}, {zeros, Zstd}, {letters(3, 1)[0], Maps},
		{[]byte("{\"format\": \"tickrate arena\", \"version\": 1,\n\"bounds\": [-20"), Maps}} {
		m, packed := Pack(c.blob)
		got, err := Unpack(m, packed, len(c.blob))
		if err != nil || !bytes.Equal(got, c.blob) || len(packed) > len(c.blob) || m != c.want {
			t.Errorf("%d: %v, %d bytes of %d, %v", i, m, len(packed), len(c.blob), err)
		}
	}
	for m := range Methods { // each method by itself, whether it was the best or not
		packed := rows
		if m != Stored {
			packed = packer(m).EncodeAll(rows, nil)
		}
		if got, err := Unpack(m, packed, len(rows)); err != nil || !bytes.Equal(got, rows) ||
			m.String() == "?" {
			t.Errorf("%v: %v", m, err)
		}
	}
	if Methods.String() != "?" {
		t.Error("a method too many has a name")
	}
}

// The dictionary is part of the protocol: the page names it by its hash.
func TestDictionaryIsThePages(t *testing.T) {
	page, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("`%x`", sha256.Sum256(maps)); !bytes.Contains(page, []byte(want)) ||
		!bytes.Contains(page, fmt.Appendf(nil, "has %d bytes", len(maps))) {
		t.Errorf("PROTOCOL.md does not have %s", want)
	}
}

// Every other size, every other method and every cut is refused.
func TestUnpackIsStrict(t *testing.T) {
	blob := letters(5, 1)[0]
	m, packed := Pack(blob)
	for _, size := range []int{-1, 0, 1, len(blob) - 1, len(blob) + 1, 1 << 20} {
		if _, err := Unpack(m, packed, size); !errors.Is(err, ErrBlob) {
			t.Errorf("as %d bytes: %v", size, err)
		}
	}
	for n := range packed {
		if _, err := Unpack(m, packed[:n], len(blob)); !errors.Is(err, ErrBlob) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	for other := range 256 {
		if _, err := Unpack(Method(other), packed, len(blob)); Method(other) >= Methods &&
			!errors.Is(err, ErrBlob) {
			t.Errorf("method %d: %v", other, err)
		}
	}
	if _, err := Unpack(Stored, packed, len(packed)+1); !errors.Is(err, ErrBlob) {
		t.Errorf("stored: %v", err)
	}
}

// bombs are frames that unpack to far more than they say, or ask for far more memory.
func bombs() [][]byte {
	stream := func(n int, options ...zstd.EOption) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, options...)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(make([]byte, n))
		_ = w.Close()
		return b.Bytes()
	}
	_, zeros := Pack(make([]byte, 32<<20))
	all := [][]byte{
		zeros, // says its size
		stream(32<<20, zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(1)), // does not
		stream(32<<20, zstd.WithWindowSize(zstd.MaxWindowSize), zstd.WithEncoderConcurrency(1)),
		{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00}, // a window of 3 TB
		{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		// A skippable frame of 4 GB.
		append([]byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff}, zeros...),
	}
	_, small := Pack(make([]byte, 1000))
	return append(all, bytes.Repeat(small, 5000)) // frame behind frame
}

// Whatever comes, what Unpack allocates is bounded by what the caller allows.
func TestUnpackMemoryIsBounded(t *testing.T) {
	for i, bomb := range bombs() {
		for _, m := range []Method{Zstd, Maps} {
			for _, size := range []int{1, 1000, 1 << 20} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := Unpack(m, bomb, size)
				runtime.ReadMemStats(&after)
				if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > uint64(size+UnpackMemory) {
					t.Errorf("bomb %d by %v as %d bytes: %d bytes allocated, %v", i, m, size, n, err)
				}
			}
		}
	}
}

func FuzzUnpackContent(f *testing.F) {
	for i, blob := range [][]byte{letters(3, 1)[0], random(100), bytes.Repeat([]byte("[1,2],"), 1000)} {
		m, packed := Pack(blob)
		f.Add(uint8(m), packed, uint32(len(blob)))
		f.Add(uint8(i), packed, uint32(i))
	}
	f.Fuzz(func(t *testing.T, m uint8, src []byte, size uint32) {
		size %= 1 << 16
		if got, err := Unpack(Method(m), src, int(size)); err == nil && len(got) != int(size) {
			t.Fatalf("%d bytes, not %d", len(got), size)
		} else if err != nil && !errors.Is(err, ErrBlob) {
			t.Fatal(err)
		}
	})
}
