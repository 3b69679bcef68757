package packet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// The store holds what a map of messages holds, in bounded memory, and allocates nothing once it
// has held the most.
func TestMessageStore(t *testing.T) {
	rng, twin := rand.New(rand.NewPCG(3, 9)), map[uint64][]byte{}
	var s messageStore
	var random [MaxMessageSize]byte
	for n := range 20_000 {
		slot := rng.Uint64N(MaxReliable)
		if _, ok := twin[slot]; ok {
			s.drop(slot)
			delete(twin, slot)
		} else if n%4096 < 3000 || len(twin) < 3 {
			message := random[:1+rng.IntN(MaxMessageSize)]
			for i := range message {
				message[i] = byte(rng.Uint32())
			}
			s.put(slot, message)
			twin[slot] = bytes.Clone(message)
		}
		for slot, want := range twin {
			if s.held>>slot&1 == 0 || !bytes.Equal(s.get(slot), want) {
				t.Fatalf("step %d, slot %d: %x, expected %x", n, slot, s.get(slot), want)
			}
		}
		if cap(s.buf) > 2*MaxReliable*MaxMessageSize {
			t.Fatalf("step %d: %d bytes of memory", n, cap(s.buf))
		}
	}
	for slot := range uint64(MaxReliable) {
		s.drop(slot)
	}
	fill := func() {
		for slot := range uint64(MaxReliable) {
			s.put(slot, random[:])
		}
		for slot := range uint64(MaxReliable) {
			s.drop(slot)
		}
	}
	fill()
	if n := alloctest.In(10, fill); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
