package rows

// slot is a table of a mixer: its line is chosen by one of the mixer's features, or by two
// together.
type slot struct {
	a, b  uint8  // b is pairless for one
	start uint32 // of the table's lines
}

const pairless = 0xff

func (s slot) lines() int {
	if s.b == pairless {
		return states
	}
	return states * states
}

// maxSlots bounds what a decision costs.
const maxSlots = 12

// mixer gives decisions their probabilities: each slot adds what it knows, in the logistic domain.
// All of that is learned before; while coding only drifts change.
type mixer struct {
	asks  []feature // at most maxSlots
	slots []slot    // at most maxSlots
	// By slot and line, and last of no slot, then by node: 1/weightOne. A row's decisions lie side
	// by side.
	weights []int16
	nodes   uint32
	bias    uint32 // where the weights of no slot begin
}

const (
	weightShift = 8
	weightOne   = 1 << weightShift
	squashEnd   = 11*weightOne + weightOne/2 // beyond it p is 1/65536
)

// place is where the weights of a mixer's slots begin for one row.
type place [16]uint32 // of which maxSlots are used: an index & 15 needs no check

// look finds the lines of the slots.
func (m *mixer) look(at *place, r *row, fields []Field) {
	var seen [16]uint32
	for i := range m.asks {
		seen[i&15] = m.asks[i].ask(r, fields)
	}
	for i := range m.slots {
		s := &m.slots[i]
		line := seen[s.a&15]
		if s.b != pairless {
			line = line*states + seen[s.b&15]
		}
		at[i&15] = (s.start + line) * m.nodes
	}
}

// sum returns the evidence for the decision node to be true, in 1/weightOne.
func (m *mixer) sum(at *place, node uint32) int32 {
	w := m.weights[node:]
	sum := int32(w[m.bias])
	for _, line := range at[:len(m.slots)&15] {
		sum += int32(w[line])
	}
	return sum
}

// p returns the probability that the decision node is false, in 1/65536.
func (m *mixer) p(at *place, node uint32) uint32 { return squash(m.sum(at, node)) }

// squash maps evidence for true to the probability of false.
func squash(sum int32) uint32 {
	return uint32(squashTable[max(min(sum+squashEnd, 2*squashEnd), 0)])
}

var squashTable = makeSquash()
