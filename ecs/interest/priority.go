package interest

// nibbleTable spreads 4 bits over 4 lanes of 16 bits: a lane has the value if its bit is set.
type nibbleTable [16]uint64

func newNibbleTable(value uint16) (t nibbleTable) {
	for n := range t {
		for bit := range 4 {
			t[n] |= uint64(value) * uint64(n>>bit&1) << (bit * 16)
		}
	}
	return t
}

// gains has the gain of each criterion for 4 rows at a time.
type gains struct{ all, visible, mid, near, ahead, combat, fresh nibbleTable }

func newGains(w Weights) *gains {
	return &gains{
		all: newNibbleTable(0xffff), visible: newNibbleTable(w.Visible),
		mid: newNibbleTable(w.Mid), near: newNibbleTable(w.Near), ahead: newNibbleTable(w.Ahead),
		combat: newNibbleTable(w.Combat), fresh: newNibbleTable(w.New),
	}
}

// criteria says of 64 rows which criteria hold.
type criteria struct{ visible, mid, near, ahead, combat, fresh uint64 }

// add adds the gains to the priorities of 64 rows, up to maxPriority. Rows that are not visible
// fall to 0.
func (w *gains) add(lanes *[16]uint64, of *criteria) {
	visible, combat, fresh := of.visible, of.combat&of.visible, of.fresh&of.visible
	mid, near, ahead, rare := of.mid&visible, of.near&visible, of.ahead&visible, combat|fresh
	for i := range lanes {
		v := lanes[i]&w.all[visible&15] + w.visible[visible&15] +
			w.mid[mid&15] + w.near[near&15] + w.ahead[ahead&15]
		if rare&15 != 0 {
			v += w.combat[combat&15] + w.fresh[fresh&15]
		}
		over := v & tops
		lanes[i] = (v | (over - over>>15)) &^ tops
		visible, mid, near, ahead = visible>>4, mid>>4, near>>4, ahead>>4
		rare, combat, fresh = rare>>4, combat>>4, fresh>>4
	}
}

// ones has the lowest bit of each lane of a word, tops the highest.
const (
	ones = 0x0001000100010001
	tops = 0x8000800080008000
)

// atLeast is the set of rows, of 64, with a priority of value or more. value is 0 to maxPriority+1.
func atLeast(lanes *[16]uint64, value uint16) (rows uint64) {
	less := ones * uint64(value)
	for i := range lanes {
		const gather = 1<<45 | 1<<30 | 1<<15 | 1 // moves bits 15, 31, 47 and 63 to 60 to 63
		rows |= ((lanes[i] | tops) - less) & tops * gather >> 60 << (4 * i & 63)
	}
	return rows
}
