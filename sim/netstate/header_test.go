package netstate

import (
	"bytes"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
)

func TestHead(t *testing.T) {
	for i, h := range []Header{{Tick: 1}, {Tick: 1, Owner: true}, {Tick: 1<<32 - 1},
		{Tick: 0x01020304, Owner: true},
		{Tick: 7, Checked: true}, {Tick: 8, Objects: true}, {Tick: 8, Effects: true}, {Tick: 7, Owner: true, Checked: true,
			Sum: 0xa1b2c3d4}} {
		src := append(h.Append([]byte("x")), "tail"...)
		got, rest, err := ParseHeader(src[1:])
		if err != nil || got != h || string(rest) != "tail" || src[0] != 'x' {
			t.Errorf("%d: %+v, rest %q, %v; want %+v", i, got, rest, err, h)
		}
		for n := range len(src) - 1 - len("tail") {
			if got, _, err := ParseHeader(src[1 : 1+n]); err != ErrHeader || got != (Header{}) {
				t.Errorf("%d cut to %d bytes: %+v, %v", i, n, got, err)
			}
		}
	}
	for i, src := range [][]byte{{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {1, 0, 0, 0, 2}, {1, 0, 0, 0, 16},
		{1, 0, 0, 0, 255}} {
		if got, _, err := ParseHeader(src); err != ErrHeader || got != (Header{}) {
			t.Errorf("bad head %d: %+v, %v", i, got, err)
		}
	}
}

// What is accepted, written again, gives the same bytes.
func FuzzParseHead(f *testing.F) {
	f.Add(Header{Tick: 9, Owner: true}.Append(nil))
	f.Add(Header{Tick: tick.Tick(1 << 31)}.Append(nil))
	f.Add(Header{Tick: 9, Checked: true, Sum: 5}.Append(nil))
	f.Add([]byte{1, 0, 0, 0, 2, 3})
	f.Fuzz(func(t *testing.T, src []byte) {
		h, rest, err := ParseHeader(src)
		if err == nil && !bytes.Equal(append(h.Append(nil), rest...), src) {
			t.Fatalf("%x was read as %+v and %x", src, h, rest)
		}
		if err != nil && (err != ErrHeader || h != (Header{})) {
			t.Fatalf("%x: %+v with %v", src, h, err)
		}
	})
}
