package snapshot

import "math/bits"

// A row in a run of rows is
//
//	   gap    slots that are passed over since the row before, or since the first group's first slot
//	1  base   0: that of the row before, or of the run's header
//	          1: 6 bits of age, 0 for none; if the run's header names older baselines, 1 bit more:
//	             with older ones, as far before it as those of the header
//	   row    as in a block; 1 bit where nobody is in the baseline, or there is none
//
// and a gap is
//
//	0                    none
//	1, q ones, 0, 3 bits  8q + r + 1, q below 16
//	1, 16 ones, 16 bits   any
const (
	gapUnary  = 16 // ones that say that the gap follows as it is
	gapLow    = 3  // bits of r
	gapCoded  = gapUnary<<gapLow + 1
	maxGap    = 6          // bits of a gap within a group
	entryBits = 2 + gapLow // bits of a gap but for the ones
	// At most 2 ones for each 16 slots passed, and a 16th of the rest of a long gap.
	headBits = 4
	spaced   = 1<<gapUnary - 1 // ones
)

// gaps are the codes of small gaps: code | length<<24.
var gaps = func() (t [gapCoded]uint32) {
	t[0] = 1 << 24
	for i := range gapCoded - 1 {
		q, low := uint(i)>>gapLow, uint32(i)&(1<<gapLow-1)
		t[i+1] = 1 | (1<<q-1)<<1 | low<<(q+2) | uint32(q+2+gapLow)<<24
	}
	return t
}()

// gapBits returns the bits of a gap, at most 33, and how many there are.
func gapBits(gap int) (code uint64, n uint) {
	if gap < gapCoded {
		e := gaps[gap]
		return uint64(e & 0xffffff), uint(e >> 24)
	}
	return 1 | spaced<<1 | uint64(gap)<<(1+gapUnary), 1 + 2*gapUnary
}

// parseGap undoes gapBits.
func parseGap(window uint64) (gap int, n uint) {
	if window&1 == 0 {
		return 0, 1
	}
	window >>= 1
	q := uint(bits.TrailingZeros64(^window))
	if q >= gapUnary {
		return int(window >> gapUnary & (1<<16 - 1)), 1 + 2*gapUnary
	}
	return int(q<<gapLow|uint(window>>(q+1)&(1<<gapLow-1))) + 1, q + 2 + gapLow
}
