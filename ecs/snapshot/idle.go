package snapshot

// An idle group is all as predicted, or all empty: its block is the byte 0. In a run the idle
// groups that follow it directly share the byte, which grows for each: by 2 where blocks are
// Huffman codes, as their lowest bit says that something changed, and by 1 where they are messages
// of a range coder, which all begin with maxIdleFew or more. Blocks packed by zstd share none.
const (
	maxIdle    = 128 // groups that share a byte of a block of Huffman codes
	maxIdleFew = 64  // groups that share a byte of a range-coded block
)

// idleBlock is the block of an idle group that shares its byte with none.
var idleBlock [1]byte

// idleStep is what a further idle group adds to the byte, in a run against base; 0: they share no
// byte.
func (c *codec) idleStep(base Baselines) (step uint8, most int) {
	form := c.forms[0]
	if base[0] == 0 {
		form = c.forms[1]
	}
	switch form {
	case bitBlock:
		return 2, maxIdle
	case rangeBlock:
		return 1, maxIdleFew
	default:
		return 0, 1
	}
}

// idleGroups is how many groups the first byte of a block says are idle; 0: it is of a block.
func (f blockForm) idleGroups(b byte) int {
	switch {
	case f == bitBlock && b&1 == 0:
		return int(b)/2 + 1
	case f == rangeBlock && b < maxIdleFew:
		return int(b) + 1
	default:
		return 0
	}
}

// idleRuns is which groups of a cache's blocks share a byte.
type idleRuns struct {
	left []uint8 // by group: idle groups from it on that share a byte with it; 0: it is not idle
	step uint8   // of the byte
	most int
	last int // groups that share the newest byte so far
}

func (x *idleRuns) begin(step uint8, most int) { x.step, x.most, x.last = step, most, 0 }

// joinIdle lets group g, whose block is the newest, share the byte of the group before if both are
// idle.
func (c *encodeCache) joinIdle(g int) {
	x, b := &c.idle, c.blocks[g]
	switch {
	case x.step == 0 || b.end != b.off+1 || c.buf[b.off] != 0:
		x.left[g], x.last = 0, 0
		return
	case x.last > 0 && x.last < x.most:
		c.buf = c.buf[:b.off]
		c.buf[b.off-1] += x.step
		c.blocks[g].end = b.off
		x.last++
	default:
		x.last = 1
	}
	x.left[g] = 1
}

// countIdle completes idle.left for groups first to end-1.
func (c *encodeCache) countIdle(first, end int) {
	left := c.idle.left[:end]
	for g := end - 2; g >= first; g-- {
		if left[g] > 0 && c.blocks[g+1].off == c.blocks[g+1].end {
			left[g] = left[g+1] + 1
		}
	}
}

// appendBlocks appends the blocks of count groups from first on. All are made.
func (c *encodeCache) appendBlocks(dst []byte, first, count int) []byte {
	x, end := &c.idle, first+count
	if n := min(int(x.left[first]), count); n > 0 {
		dst = append(dst, uint8(n-1)*x.step)
		first += n
	}
	if first == end {
		return dst
	}
	dst = append(dst, c.buf[c.blocks[first].off:c.blocks[end-1].end]...)
	if more := x.left[end-1]; more > 1 { // the last byte is of groups past the end, too
		dst[len(dst)-1] -= (more - 1) * x.step
	}
	return dst
}

// size is how many bytes appendBlocks appends.
func (c *encodeCache) size(first, count int) (n int) {
	end := first + count
	if k := min(int(c.idle.left[first]), count); k > 0 {
		first, n = first+k, 1
	}
	if first < end {
		n += int(c.blocks[end-1].end - c.blocks[first].off)
	}
	return n
}

// fit returns how many blocks from first on, at most count, go into room bytes.
func (c *encodeCache) fit(first, count, room int) int {
	lo, hi := 0, count
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if c.size(first, mid) <= room {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
