package snapshot

// rowPlan is what one snapshot says to a client that does not get every row. Sets have a bit per
// slot.
type rowPlan struct {
	on      bool
	tracker *Tracker
	state   *rowState
	next    int      // group: those before are packed
	end     int      // past the last group that the plan mentions
	send    []uint64 // rows that are sent as they are
	remove  []uint64 // rows that are sent as empty
	spans   []Run    // memory of planBlocks
	planned []uint64 // of BeginSelect: send before rows were left out

	unchanged, sentOnce []uint64 // of omitUnchanged
	baselineSearch
	rowRun
}

// baselineSearch finds the baseline of each row of a plan.
type baselineSearch struct {
	// Candidates, newest first, as far as the search went; the last may be none.
	bases []rowBaseline
	age   int   // of the newest in intervals, 0 for none; +deep with older ones
	step  uint8 // Tracker.step
	// Index into bases: the baseline of more than half of the rows, or noBaseline.
	common uint8
	// Index into bases: the newest set with older ones that a row has, or -1.
	deepest      int
	rest         []uint64     // rows without a baseline so far
	hits         []uint64     // rows that have the candidate in hand
	uncommon     []uint64     // rows that do not have the common baseline
	baseOf       []uint8      // by slot, of uncommon rows: index into bases
	wholeSets    []uint64     // sets of rows in snapshots of whole groups, one after the other
	wholeSetOf   [Window]int8 // by interval: 1 + index into wholeSets, 0 for none
	wholeSetsLen int          // sets in use
}

// rowRun is the run of rows in hand.
type rowRun struct {
	entries []planEntry // rows of send and remove, in the order of slots
	at      int         // index into entries: those before are packed
	buf     []byte
	ends    [2 * MaxRun]uint32 // bits of buf up to the end of row n, counted from 1
}

// planEntry is a row of the plan.
//
//	bits 0..15   slot
//	bits 16..23  index into bases
//	bit  24      it is removed
type planEntry uint32

const (
	baseShift  = 16
	hidden     = 1 << 24
	noBaseline = 0xff // no index into bases
)

func (w planEntry) slot() int { return int(w & (1<<baseShift - 1)) }

func (w planEntry) base() uint8 { return uint8(w >> baseShift) }

// rowBaseline is a set of baselines that rows may have.
type rowBaseline struct {
	have      []uint64 // rows that the client holds of the newest; nil for no baseline
	middle    []uint64 // likewise of the older ones, nil if there are none
	oldest    []uint64
	age       uint8 // of the newest in intervals, 0 for none; +deep if there are older ones
	baselines Baselines
	count     int          // rows that have it
	cache     *encodeCache // nil until a row needs it
	rows      []rowBits    // of the column
}

// deep is the bit after an age that says that there are older baselines.
const deep = 1 << ageBits

// planRows begins with the rows to send and to remove.
func (p *Packer) planRows(e *Encoder, k *Tracker, see []uint64) {
	p.start(e, k)
	r := &p.rows
	r.on, r.tracker, r.state = true, k, k.beginRows()
	r.next, r.end = 0, min(e.inUse, k.groups)
	words := (r.end + wordGroups - 1) / wordGroups
	r.send, r.remove, r.uncommon = sized(r.send, words), sized(r.remove, words), sized(r.uncommon, words)
	r.rest, r.hits = sized(r.rest, words), sized(r.hits, words)
	send, remove := r.send, r.remove[:words]
	maybe, occupied := r.state.maybeVisible[:words], e.frame.occupied[:words]
	for i := range send {
		now := uint64(0)
		if i < len(see) {
			now = see[i] & occupied[i]
		}
		send[i], remove[i] = now, maybe[i]&^now
	}
	if words > 0 {
		in := groupMask(words-1, 0, r.end)
		send[words-1] &= in
		remove[words-1] &= in
	}
	r.bases, r.age, r.step = r.bases[:0], 0, k.step()
	r.wholeSets = sized(r.wholeSets, Window*words)
	r.wholeSetOf, r.wholeSetsLen = [Window]int8{}, 0
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n) // the next may be a little longer
	}
	return s[:n]
}

// nextBaseline appends the next candidates to bases. It returns false if only "none" is left.
func (p *Packer) nextBaseline() bool {
	r, k := &p.rows, p.rows.tracker
	words := len(r.send)
	for r.age < len(baselineAges) && !p.encoder.stored {
		age := baselineAges[r.age]
		r.age++
		row, ok := k.aged(age)
		if !ok {
			continue
		}
		b := rowBaseline{have: p.heldRows(row, words), age: age, baselines: Baselines{k.sent[row]}}
		if b.have == nil {
			continue
		}
		if middle, oldest, ok := k.olderBaselines(age, r.step); ok {
			d := rowBaseline{have: b.have, middle: p.heldRows(middle, words),
				oldest: p.heldRows(oldest, words), age: age | deep,
				baselines: Baselines{k.sent[row], k.sent[middle], k.sent[oldest]}}
			if d.middle != nil && d.oldest != nil {
				r.bases = append(r.bases, d)
			}
		}
		r.bases = append(r.bases, b)
		return true
	}
	return false
}

// heldRows is the rows in use that the client holds of the snapshot of an interval; nil if there
// are none.
func (p *Packer) heldRows(row, words int) []uint64 {
	r := &p.rows
	if r.state.byRow>>row&1 != 0 {
		if r.state.hasAcked>>row&1 == 0 {
			return nil
		}
		return r.state.acked(row)[:words]
	}
	if n := int(r.wholeSetOf[row]); n != 0 {
		return r.wholeSets[(n-1)*words : n*words]
	}
	have := r.wholeSets[r.wholeSetsLen*words : (r.wholeSetsLen+1)*words]
	if !r.tracker.heldFromBlocks(have, row, p.encoder.ring) {
		return nil
	}
	r.wholeSetsLen++
	r.wholeSetOf[row] = int8(r.wholeSetsLen)
	return have
}

// heldFromBlocks fills have with the rows in use of a snapshot of whole groups, as far as the
// client holds it.
func (k *Tracker) heldFromBlocks(have []uint64, row int, ring *Ring) (any bool) {
	acked, frame := k.bits(row), ring.At(k.sent[row])
	if frame == nil {
		return false
	}
	for i := range have {
		have[i] = frame.occupied[i] & spreadGroups(acked[i>>4]>>(i&15*wordGroups))
		any = any || have[i] != 0
	}
	return any
}

// spreadGroups makes 16 bits of each of the 4 lowest bits.
func spreadGroups(groups uint64) uint64 {
	lows := groups&1 | groups&2<<15 | groups&4<<30 | groups&8<<45
	return lows<<GroupRows - lows
}
