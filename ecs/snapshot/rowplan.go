package snapshot

// rowPlan is what a client that is not told everything gets of one snapshot. Sets have a bit per slot.
type rowPlan struct {
	on      bool
	spans   []Run // memory for share
	tracker *Tracker
	ledger  *ledger
	next    int                // group: those before are packed
	end     int                // behind the last group of which there is anything to say
	say     []uint64           // rows that are said as they are
	hide    []uint64           // rows that are said not to be there
	bases   []rowBase          // that rows may have, newest first, as far as they were looked at; the last one may be none
	age     int                // index into ages: what comes after bases
	step    uint8              // of the tracker
	usual   uint8              // index into bases: the one that more than half of the rows have, noBase if there is no such
	rest    []uint64           // of resolve: rows without a baseline
	hits    []uint64           // of resolve: rows that have the baseline in question
	odd     []uint64           // rows that do not have the usual one
	baseOf  []uint8            // by slot, of those in odd: index into bases
	places  []place            // the rows of say and hide, in the order of slots
	at      int                // index into places: those before are packed
	plain   []uint64           // memory for bases that are snapshots of whole groups
	plainOf [Window]int8       // by interval: 1 + which part of plain, 0 if it has none yet
	plains  int                // parts of plain in use
	deepest int                // index into bases: the newest with older ones that a row has, -1 if none has. All are as far apart
	buf     []byte             // the run that is being packed
	ends    [2 * MaxRun]uint32 // of its rows: bits up to the end of row n, counted from 1
}

// place is a row of the plan.
//
//	bits 0..15   slot
//	bits 16..23  index into bases
//	bit  24      it is hidden
type place uint32

const (
	baseShift = 16
	hidden    = 1 << 24
	noBase    = 0xff // no index into bases
)

func (w place) slot() int { return int(w & (1<<baseShift - 1)) }

func (w place) base() uint8 { return uint8(w >> baseShift) }

// rowBase is a baseline that rows may have.
type rowBase struct {
	have   []uint64 // rows that the client holds of it, of those that were there; nil if it is none
	middle []uint64 // the same of the older ones, nil if there are none
	oldest []uint64
	age    uint8 // of the newest in intervals, 0 for none; +deep if there are older ones
	bases  Bases
	count  int       // rows that have it
	column *column   // nil until a row needs it
	rows   []rowBits // of the column
}

// deep is the bit behind an age that says that there are older baselines.
const deep = 1 << ageBits

// plan begins with which rows there are to say.
func (p *Packer) plan(e *Encoder, k *Tracker, see []uint64) {
	p.start(e, k)
	r := &p.rows
	r.on, r.tracker, r.ledger = true, k, k.beginRows()
	r.next, r.end = 0, min(e.inUse, k.groups)
	words := (r.end + wordGroups - 1) / wordGroups
	r.say, r.hide, r.odd = sized(r.say, words), sized(r.hide, words), sized(r.odd, words)
	r.rest, r.hits = sized(r.rest, words), sized(r.hits, words)
	say, hide, told, here := r.say, r.hide[:words], r.ledger.told[:words], e.frame.here[:words]
	for i := range say {
		now := uint64(0)
		if i < len(see) {
			now = see[i] & here[i]
		}
		say[i], hide[i] = now, told[i]&^now
	}
	if words > 0 {
		in := within(words-1, 0, r.end)
		say[words-1] &= in
		hide[words-1] &= in
	}
	r.bases, r.age, r.step = r.bases[:0], 0, k.step()
	r.plain = sized(r.plain, (len(ages)+2*deepAge*maxStep)*words)
	r.plainOf, r.plains = [Window]int8{}, 0
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n) // the next may be a little longer
	}
	return s[:n]
}

// more appends the next baselines that rows may have to bases. It returns false if there are none but none.
func (p *Packer) more() bool {
	r, k := &p.rows, p.rows.tracker
	words := len(r.say)
	for r.age < len(ages) && !p.encoder.stored {
		age := ages[r.age]
		r.age++
		row, ok := k.aged(age)
		if !ok {
			continue
		}
		b := rowBase{have: p.held(row, words), age: age, bases: Bases{k.sent[row]}}
		if b.have == nil {
			continue
		}
		if middle, oldest, ok := k.deeper(age, r.step); ok {
			d := rowBase{have: b.have, middle: p.held(middle, words), oldest: p.held(oldest, words), age: age | deep,
				bases: Bases{k.sent[row], k.sent[middle], k.sent[oldest]}}
			if d.middle != nil && d.oldest != nil {
				r.bases = append(r.bases, d)
			}
		}
		r.bases = append(r.bases, b)
		return true
	}
	return false
}

// held is the rows that the client holds of the snapshot of an interval, of those that were there; nil if there are none.
func (p *Packer) held(row, words int) []uint64 {
	r := &p.rows
	if r.ledger.byRow>>row&1 != 0 {
		if r.ledger.holds>>row&1 == 0 {
			return nil
		}
		return r.ledger.base(row)[:words]
	}
	if n := int(r.plainOf[row]); n != 0 {
		return r.plain[(n-1)*words : n*words]
	}
	have := r.plain[r.plains*words : (r.plains+1)*words]
	if !r.tracker.heldWhole(have, row, p.encoder.ring) {
		return nil
	}
	r.plains++
	r.plainOf[row] = int8(r.plains)
	return have
}

// heldWhole fills have with the rows that were there in a snapshot that said whole groups, as far as the client holds it.
func (k *Tracker) heldWhole(have []uint64, row int, ring *Ring) (any bool) {
	acked, frame := k.bits(row), ring.At(k.sent[row])
	if frame == nil {
		return false
	}
	for i := range have {
		have[i] = frame.here[i] & spread(acked[i>>4]>>(i&15*wordGroups))
		any = any || have[i] != 0
	}
	return any
}

// spread makes 16 bits of each of the 4 lowest bits.
func spread(groups uint64) uint64 {
	lows := groups&1 | groups&2<<15 | groups&4<<30 | groups&8<<45
	return lows<<GroupRows - lows
}
