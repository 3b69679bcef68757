package rows

// slot is a table of a mixer: its line is chosen by one feature, or by two together.
type slot struct {
	a, b feature // b may be featNone
}

func (s slot) lines() int {
	if s.b.op == featNone {
		return states
	}
	return states * states
}

func (s slot) line(r *row, fields []Field) uint32 {
	n := s.a.value(r, fields)
	if s.b.op != featNone {
		n = n*states + s.b.value(r, fields)
	}
	return n
}

// maxSlots bounds what a decision costs.
const maxSlots = 12

// mixer gives decisions their probabilities: each slot adds what it knows, in the logistic domain. All of it is learned
// before; nothing changes while coding, so what a row costs depends on no other row.
type mixer struct {
	slots   []slot
	starts  []uint32 // of the slots' tables
	weights []int16  // by slot, line, node: 1/weightOne; then of no slot, by node
	nodes   uint32
}

const (
	weightShift = 8
	weightOne   = 1 << weightShift
	squashEnd   = 11*weightOne + weightOne/2 // beyond it p is 1/65536
)

// place is where a mixer's slots stand for one row.
type place [maxSlots]uint32

// look finds the lines of the slots.
func (m *mixer) look(at *place, r *row, fields []Field) {
	starts := m.starts[:len(m.slots)]
	for i := range m.slots {
		at[i&15%maxSlots] = starts[i] + m.slots[i].line(r, fields)*m.nodes
	}
}

// p returns the probability that the decision node is false, in 1/65536.
func (m *mixer) p(at *place, node uint32) uint32 {
	sum := int32(m.weights[uint32(len(m.weights))-m.nodes+node])
	for i := range m.slots {
		sum += int32(m.weights[at[i%maxSlots]+node])
	}
	return squash(sum)
}

// squash maps evidence for true to the probability of false.
func squash(sum int32) uint32 {
	return uint32(squashTable[max(min(sum+squashEnd, 2*squashEnd), 0)])
}

var squashTable = makeSquash()
