package interest

// lanesOf has 4 lanes of 16 bits for 4 bits: 1 where the bit is set.
var lanesOf = func() (t [16]uint64) {
	for n := range t {
		for bit := range 4 {
			t[n] |= uint64(n>>bit&1) << (bit * 16)
		}
	}
	return t
}()

// gains are weights, to be multiplied with lanes.
type gains struct{ seen, mid, near, ahead, fight, fresh uint64 }

func newGains(w Weights) gains {
	return gains{uint64(w.Seen), uint64(w.Mid), uint64(w.Near), uint64(w.Ahead), uint64(w.Fight), uint64(w.New)}
}

// add adds to the weights of 64 rows what is true of each, up to top; who is not seen falls to 0.
func (w *gains) add(lanes *[16]uint64, seen, mid, near, ahead, fight, fresh uint64) {
	const tops = 0x8000800080008000
	mid, near, ahead, rare := mid&seen, near&seen, ahead&seen, (fight|fresh)&seen
	for i := range lanes {
		l := lanesOf[seen&15]
		v := lanes[i]&(l<<16-l) + l*w.seen + lanesOf[mid&15]*w.mid + lanesOf[near&15]*w.near + lanesOf[ahead&15]*w.ahead
		if rare&15 != 0 {
			v += lanesOf[fight&seen&15]*w.fight + lanesOf[fresh&seen&15]*w.fresh
		}
		over := v & tops
		lanes[i] = (v | (over - over>>15)) &^ tops
		seen, mid, near, ahead, rare, fight, fresh = seen>>4, mid>>4, near>>4, ahead>>4, rare>>4, fight>>4, fresh>>4
	}
}
