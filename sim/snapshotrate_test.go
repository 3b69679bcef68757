package sim

import (
	"bytes"
	"testing"
)

// Any bytes as a wish for a pace: refused, or in range and written back to the same bytes.
func FuzzPace(f *testing.F) {
	f.Add([]byte{AskSnapshotRate, 1, 0, 0})
	f.Add([]byte{AskSnapshotRate, 8, 16, 0})
	f.Add([]byte{AskSnapshotRate, 5, 0, 1})
	f.Add([]byte{AskSnapshotRate, 2, 15, 0})
	f.Add([]byte{AskResync})
	f.Fuzz(func(t *testing.T, src []byte) {
		every, kbps, ok := ParseSnapshotRate(src)
		if !ok {
			return
		}
		if every == 0 || 24%every != 0 || every > MaxSnapshotInterval || kbps != 0 && kbps < MinSnapshotKbps {
			t.Fatalf("%x: every %d, %d kbit/s", src, every, kbps)
		}
		if got := AppendSnapshotRate(nil, every, kbps); !bytes.Equal(got, src) {
			t.Fatalf("%x was written again as %x", src, got)
		}
	})
}
