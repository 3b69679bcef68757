package ecs

import "math/bits"

// freelist holds the free slots as bits, so the lowest is found first: live entities then crowd
// into the low groups, which is what the snapshot's groups of rows want. take and give cost one
// word each; first only ever moves over words known to be empty.
type freelist struct {
	words []uint64
	first int // no word before this one has a bit set
	count int
}

func newFreelist(slots int) freelist {
	f := freelist{words: make([]uint64, (slots+63)/64)}
	for i := range slots {
		f.give(i)
	}
	f.first = 0
	return f
}

// take returns the lowest free slot.
func (f *freelist) take() (int, bool) {
	for ; f.first < len(f.words); f.first++ {
		if word := f.words[f.first]; word != 0 {
			f.words[f.first] = word & (word - 1)
			f.count--
			return f.first*64 + bits.TrailingZeros64(word), true
		}
	}
	return 0, false
}

// give returns a slot that is not free.
func (f *freelist) give(slot int) {
	f.words[slot/64] |= 1 << (slot % 64)
	f.first = min(f.first, slot/64)
	f.count++
}
