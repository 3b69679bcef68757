package packet

import (
	"testing"

	"pgregory.net/rapid"
)

// slowWindow is the slow twin of the window: a map of all sequences received.
type slowWindow struct {
	seen   map[uint64]bool
	newest uint64
}

func (w *slowWindow) judge(s int64) error {
	switch {
	case s > int64(w.newest)+maxAhead:
		return DropFuture
	case s < 1 || s < int64(w.newest)-64:
		return DropStale
	case w.seen[uint64(s)]:
		return DropDuplicate
	}
	return nil
}

func (w *slowWindow) bits() (mask uint64) {
	for n := range uint64(64) {
		if w.newest > n+1 && w.seen[w.newest-1-n] {
			mask |= 1 << n
		}
	}
	return mask
}

// The window equals the twin in result, wide sequence and mask, for any order of arrivals and
// across wraps of 16 bits.
func TestRow18PacketHeaderSequencesAgreeWithMap(t *testing.T) {
	step := rapid.OneOf(rapid.IntRange(-70, 70), rapid.IntRange(-70, 3), rapid.IntRange(-20000, 20000),
		rapid.Just(maxAhead), rapid.Just(maxAhead+1))
	rapid.Check(t, func(t *rapid.T) {
		fast, slow := receiveWindow{}, slowWindow{seen: map[uint64]bool{}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := int64(slow.newest) + int64(step.Draw(t, "step"))
			got, err := fast.expand(uint16(s))
			if want := slow.judge(s); err != want {
				t.Fatalf("sequence %d after %d: %v, want %v", s, slow.newest, err, want)
			}
			if err != nil {
				continue
			}
			if got != uint64(s) {
				t.Fatalf("sequence %d after %d was widened to %d", s, slow.newest, got)
			}
			fast.mark(got)
			slow.seen[got], slow.newest = true, max(slow.newest, got)
			if fast.newest != slow.newest || fast.bits != slow.bits() {
				t.Fatalf("after %d: newest %d bits %b, want %d %b", s, fast.newest, fast.bits, slow.newest,
					slow.bits())
			}
		}
	})
}
