package bitio_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/internal/alloctest"
	"pgregory.net/rapid"
)

// slowBits is the honest twin: one bool a bit.
type slowBits []bool

func (s *slowBits) bits(v uint64, n uint) {
	for i := range n {
		*s = append(*s, v>>i&1 == 1)
	}
}

func (s *slowBits) align() {
	for len(*s)%8 != 0 {
		*s = append(*s, false)
	}
}

func (s slowBits) bytes() []byte {
	s.align()
	out := make([]byte, len(s)/8)
	for i, b := range s {
		if b {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

func TestLayoutIsLSBFirst(t *testing.T) {
	var w bitio.Writer
	w.Reset([]byte{0xEE})
	w.Bits(0b101, 3)
	w.Bits(0b11, 2)
	w.Bits(0x7f, 7)
	if w.Len() != 12 {
		t.Errorf("Len = %d, want 12", w.Len())
	}
	if got, want := w.Bytes(), []byte{0xEE, 0xFD, 0x0F}; !bytes.Equal(got, want) {
		t.Errorf("bytes %x, want %x", got, want)
	}
}

func TestWriterEqualsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "prefix")
		room := rapid.IntRange(0, 40).Draw(t, "room")
		var w bitio.Writer
		w.Reset(append(make([]byte, 0, len(prefix)+room), prefix...))
		var twin slowBits
		type op struct {
			v uint64
			n uint
		}
		var ops []op
		for range rapid.IntRange(0, 60).Draw(t, "ops") {
			switch rapid.IntRange(0, 8).Draw(t, "op") {
			case 0:
				w.Align()
				pad := uint(-len(twin)) & 7
				twin.align()
				ops = append(ops, op{0, pad})
			case 1:
				src := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "src")
				off := rapid.IntRange(0, len(src)*8).Draw(t, "off")
				n := rapid.IntRange(0, len(src)*8-off).Draw(t, "n")
				w.AppendBits(src, off, n)
				for i := off; i < off+n; i++ {
					b := uint64(src[i/8] >> (i % 8) & 1)
					twin.bits(b, 1)
					ops = append(ops, op{b, 1})
				}
			default:
				n := rapid.UintRange(0, bitio.MaxBits).Draw(t, "n")
				v := rapid.Uint64().Draw(t, "v") & (1<<n - 1)
				w.Bits(v, n)
				twin.bits(v, n)
				ops = append(ops, op{v, n})
			}
			if w.Len() != len(twin) {
				t.Fatalf("Len %d, twin %d", w.Len(), len(twin))
			}
		}
		got := w.Bytes()
		if !bytes.Equal(got[:len(prefix)], prefix) || !bytes.Equal(got[len(prefix):], twin.bytes()) {
			t.Fatalf("bytes %x, twin %x", got, twin.bytes())
		}
		var r bitio.Reader
		r.Reset(got[len(prefix):])
		for i, o := range ops {
			if p := r.Peek(o.n); p != o.v {
				t.Fatalf("op %d: peek %d bits = %x, want %x", i, o.n, p, o.v)
			}
			if i%2 == 0 {
				if v := r.Bits(o.n); v != o.v {
					t.Fatalf("op %d: %d bits = %x, want %x", i, o.n, v, o.v)
				}
			} else {
				r.Skip(o.n)
			}
		}
		if r.Err() != nil || len(r.Rest()) != 0 {
			t.Fatalf("err %v, %d bytes left", r.Err(), len(r.Rest()))
		}
	})
}

func TestExactCapacityNeverGrows(t *testing.T) {
	buf := make([]byte, 0, 13)
	var w bitio.Writer
	if n := alloctest.In(100, func() {
		w.Reset(buf)
		for range 8 {
			w.Bits(0x1fff, 13)
		}
	}); n != 0 {
		t.Errorf("%v allocations within capacity", n)
	}
	if got := w.Bytes(); len(got) != 13 || &got[0] != &buf[:1][0] {
		t.Errorf("%d bytes, or not the caller's memory", len(got))
	}
}

func TestErrorSticks(t *testing.T) {
	var r bitio.Reader
	r.Reset([]byte{0xff, 0xff})
	if v := r.Bits(10); v != 0x3ff {
		t.Errorf("10 bits = %x", v)
	}
	if v := r.Bits(7); v != 0 || !errors.Is(r.Err(), bitio.ErrShort) {
		t.Errorf("past the end: %x, %v", v, r.Err())
	}
	if v := r.Bits(1); v != 0 || r.Left() != 0 || len(r.Rest()) != 0 {
		t.Errorf("after the error: %x, %d bits left", v, r.Left())
	}
	r.Reset([]byte{1})
	if v := r.Bits(1); v != 1 || r.Err() != nil {
		t.Errorf("Reset keeps the error: %x, %v", v, r.Err())
	}
	r.Skip(8)
	if r.Err() == nil {
		t.Error("Skip past the end without an error")
	}
}

// FuzzReader: any bytes and any sequence of calls, compared bit by bit with the twin.
func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []byte{57, 3, 200, 20, 130})
	f.Fuzz(func(t *testing.T, src, ops []byte) {
		var r bitio.Reader
		r.Reset(src)
		off := 0
		for _, o := range ops {
			n := int(o&63) % (bitio.MaxBits + 1)
			var want uint64
			for i := range n {
				if off+i < len(src)*8 {
					want |= uint64(src[(off+i)/8]>>((off+i)%8)&1) << i
				}
			}
			if r.Err() == nil && r.Peek(uint(n)) != want {
				t.Fatalf("peek %d at %d: %x, want %x", n, off, r.Peek(uint(n)), want)
			}
			if p := bitio.Peek(src, off) & (1<<n - 1); p != want {
				t.Fatalf("Peek %d at %d: %x, want %x", n, off, p, want)
			}
			switch o >> 6 {
			case 0, 1:
				got := r.Bits(uint(n))
				if off+n > len(src)*8 {
					want = 0
				}
				if r.Err() == nil && got != want {
					t.Fatalf("%d bits at %d: %x, want %x", n, off, got, want)
				}
				off += n
			case 2:
				r.Skip(uint(n))
				off += n
			case 3:
				r.Align()
				off = (off + 7) &^ 7
			}
			if over := off > len(src)*8; over != (r.Err() != nil) {
				t.Fatalf("at bit %d of %d: error %v", off, len(src)*8, r.Err())
			}
			if r.Err() != nil {
				if r.Left() != 0 || r.Peek(57) != 0 {
					t.Fatal("bits behind the end")
				}
				return
			}
		}
	})
}

func BenchmarkBits(b *testing.B) {
	buf := make([]byte, 0, 4096)
	var w bitio.Writer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			w.Reset(buf)
			for i := range uint64(1000) {
				w.Bits(i, 10)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/value")
	})
	src := w.Bytes()
	b.Run("read", func(b *testing.B) {
		var r bitio.Reader
		var sum uint64
		for b.Loop() {
			r.Reset(src)
			for range 1000 {
				sum += r.Bits(10)
			}
		}
		if sum == 0 {
			b.Fatal("read nothing")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/value")
	})
}
