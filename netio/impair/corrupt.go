package impair

// corrupter alters the bytes of datagrams. An altered datagram never equals the original, so a
// test can compare refused with altered datagrams.
type corrupter struct{ rng rng }

// maxCorruptBytes is the most bytes that one corruption overwrites.
const maxCorruptBytes = 8

// apply alters one arrival in place, or leaves it, and returns its length. It leaves empty
// datagrams.
func (h *corrupter) apply(data []byte, p *Profile, count *Stats) int {
	n := len(data)
	if n == 0 || p.Corrupt+p.CorruptBytes+p.Truncate == 0 {
		return n
	}
	switch u := h.rng.float64(); {
	case u < p.Corrupt:
		bit := h.rng.intn(8 * n)
		data[bit/8] ^= 1 << (bit % 8)
		count.Corrupted++
	case u < p.Corrupt+p.CorruptBytes:
		from := h.rng.intn(n)
		for i := range min(1+h.rng.intn(maxCorruptBytes), n-from) {
			data[from+i] ^= byte(1 + h.rng.intn(255))
		}
		count.Corrupted++
	case u < p.Corrupt+p.CorruptBytes+p.Truncate:
		n = h.rng.intn(n)
		count.Truncated++
	}
	return n
}
