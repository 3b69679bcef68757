package interest

// spread has 4 lanes of 16 bits for 4 bits: a value where the bit is set.
type spread [16]uint64

func newSpread(value uint16) (t spread) {
	for n := range t {
		for bit := range 4 {
			t[n] |= uint64(value) * uint64(n>>bit&1) << (bit * 16)
		}
	}
	return t
}

// gains are weights, by the bits of 4 rows.
type gains struct{ all, visible, mid, near, ahead, combat, fresh spread }

func newGains(w Weights) *gains {
	return &gains{newSpread(0xffff), newSpread(w.Visible), newSpread(w.Mid), newSpread(w.Near), newSpread(w.Ahead), newSpread(w.Combat), newSpread(w.New)}
}

// add adds to the weights of 64 rows what is true of each, up to top; who is not seen falls to 0.
func (w *gains) add(lanes *[16]uint64, seen, mid, near, ahead, fight, fresh uint64) {
	mid, near, ahead, rare := mid&seen, near&seen, ahead&seen, (fight|fresh)&seen
	for i := range lanes {
		v := lanes[i]&w.all[seen&15] + w.visible[seen&15] + w.mid[mid&15] + w.near[near&15] + w.ahead[ahead&15]
		if rare&15 != 0 {
			v += w.combat[fight&seen&15] + w.fresh[fresh&seen&15]
		}
		over := v & tops
		lanes[i] = (v | (over - over>>15)) &^ tops
		seen, mid, near, ahead, rare, fight, fresh = seen>>4, mid>>4, near>>4, ahead>>4, rare>>4, fight>>4, fresh>>4
	}
}

// A word of lanes has ones in each lane's lowest bit, tops in its highest.
const (
	ones = 0x0001000100010001
	tops = 0x8000800080008000
)

// atLeast has a bit for each of 64 rows that weighs value or more, 0 to top+1.
func atLeast(lanes *[16]uint64, value uint16) (rows uint64) {
	less := ones * uint64(value)
	for i := range lanes {
		const gather = 1<<45 | 1<<30 | 1<<15 | 1 // moves bits 15, 31, 47 and 63 to 60 to 63, and nothing else there
		rows |= ((lanes[i] | tops) - less) & tops * gather >> 60 << (4 * i & 63)
	}
	return rows
}
