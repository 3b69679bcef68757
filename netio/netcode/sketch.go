package netcode

import "time"

const (
	sketchCells = 1 << 18                // of a row; four rows are 1 MB
	sketchHalf  = 500 * time.Millisecond // a sketch remembers one to two halves
)

// sketch estimates how often keys were seen in the last second: a count-min sketch of two rows for
// each of two halves of that second. An estimate is at least the true count, up to 255. Each half
// has a hash of its own, so that two keys share cells only for a moment.
type sketch struct {
	halves [2]sketchCount
	newest int           // index of the half that counts
	turned time.Duration // when it began
}

// sketchCount counts the keys of half a second.
type sketchCount struct {
	rows [2][sketchCells]uint8
	seed [2]uint64
}

func newSketch(now time.Duration, seed [2]uint64) *sketch {
	k := &sketch{turned: now}
	k.halves[0].seed = seed
	k.halves[1].seed = [2]uint64{seed[1], seed[0]}
	return k
}

// add counts a key and returns how often it was seen before, at most 510.
func (k *sketch) add(now time.Duration, key tableKey) (before int) {
	k.turn(now)
	newest := &k.halves[k.newest]
	a, b := newest.cells(key)
	c, d := k.halves[1-k.newest].cells(key)
	low := min(*a, *b)
	if low < 255 {
		*a, *b = max(*a, low+1), max(*b, low+1)
	}
	return int(low) + int(min(*c, *d))
}

// turn forgets the older half when the newest is over.
func (k *sketch) turn(now time.Duration) {
	gap := now - k.turned
	if gap < sketchHalf {
		return
	}
	k.newest, k.turned = 1-k.newest, now
	k.halves[k.newest].reset()
	if gap >= 2*sketchHalf {
		k.halves[1-k.newest].reset()
	}
}

func (c *sketchCount) cells(key tableKey) (a, b *uint8) {
	h := key.hash(c.seed)
	return &c.rows[0][h%sketchCells], &c.rows[1][h>>32%sketchCells]
}

// reset clears the counts and changes the hash.
func (c *sketchCount) reset() {
	clear(c.rows[0][:])
	clear(c.rows[1][:])
	c.seed[0] += 0x9e3779b97f4a7c15
	c.seed[1] ^= c.seed[0] >> 7
}
