package sim

import (
	"bytes"
	"testing"
)

// Any bytes as a wish for a pace: refused, or in range and written back to the same bytes.
func FuzzPace(f *testing.F) {
	f.Add([]byte{AskPace, 1, 0, 0})
	f.Add([]byte{AskPace, 8, 16, 0})
	f.Add([]byte{AskPace, 5, 0, 1})
	f.Add([]byte{AskPace, 2, 15, 0})
	f.Add([]byte{AskResync})
	f.Fuzz(func(t *testing.T, src []byte) {
		every, kbps, ok := ParsePace(src)
		if !ok {
			return
		}
		if every == 0 || 24%every != 0 || every > MaxEvery || kbps != 0 && kbps < MinKbps {
			t.Fatalf("%x: every %d, %d kbit/s", src, every, kbps)
		}
		if got := AppendPace(nil, every, kbps); !bytes.Equal(got, src) {
			t.Fatalf("%x was written again as %x", src, got)
		}
	})
}
