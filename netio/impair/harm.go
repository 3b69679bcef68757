package impair

// harm alters the bytes of datagrams. An altered datagram never equals the one sent, so what a receiver refuses can
// be compared with what was altered.
type harm struct{ dice dice }

// longestSmear is the most bytes that one corruption of bytes overwrites.
const longestSmear = 8

// do alters one arrival in place, or leaves it as it is, and returns its length. Nothing happens to an empty one.
func (h *harm) do(data []byte, p *Profile, count *Stats) int {
	n := len(data)
	if n == 0 || p.Corrupt+p.CorruptBytes+p.Truncate == 0 {
		return n
	}
	switch u := h.dice.share(); {
	case u < p.Corrupt:
		bit := h.dice.below(8 * n)
		data[bit/8] ^= 1 << (bit % 8)
		count.Corrupted++
	case u < p.Corrupt+p.CorruptBytes:
		from := h.dice.below(n)
		for i := range min(1+h.dice.below(longestSmear), n-from) {
			data[from+i] ^= byte(1 + h.dice.below(255))
		}
		count.Corrupted++
	case u < p.Corrupt+p.CorruptBytes+p.Truncate:
		n = h.dice.below(n)
		count.Truncated++
	}
	return n
}
