package snapshot

import (
	"encoding/binary"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/schema"
)

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

// minWhole is how many groups in a row must be seen whole to go as blocks: fewer cost less as rows than as a run.
const minWhole = 4

// BeginRows turns to a client that may see the rows of see, a bit per slot: slot s is bit s%64 of word s/64, and slots
// beyond its end are not seen. Rows that it sees are sent, groups that it sees all of as blocks where neighbours are seen
// whole, too. Of a row that it does not see nothing is sent but, as long as it may still take somebody to be there, that
// nobody is.
func (p *Packer) BeginRows(e *Encoder, k *Tracker, see []uint64) {
	p.plan(e, k, see)
	p.share(see)
	p.resolve()
}

// Weigh is BeginRows for a client that may get only some of the rows it sees: it fills cost, which has room for every slot
// of see, with the most bits that each row can add to the snapshot, 0 for rows that are not seen or not there. What Next
// gives takes at most fixed bits and the cost of the rows that Pick leaves, and PackageBits more for each package
// after the first.
func (p *Packer) Weigh(e *Encoder, k *Tracker, see []uint64, cost []uint16) (fixed int) {
	p.plan(e, k, see)
	p.runs = p.runs[:0]
	p.resolve()
	return p.weigh(see, cost)
}

// PackageBits is what a package adds to a snapshot of rows beside the rows: a run's header, which may name other baselines than
// the first row has, and padding.
const PackageBits = 8*RunBytes + baseBits + 7

// Pick leaves out rows that are not in pick, a bit per slot. Nothing is said of them: the client keeps what it holds.
// It belongs to Weigh.
func (p *Packer) Pick(pick []uint64) {
	r := &p.rows
	for i := range r.say {
		if i < len(pick) {
			r.say[i] &= pick[i]
		} else {
			r.say[i] = 0
		}
	}
	n := 0
	for _, w := range r.places { // without a branch: what was picked is hard to guess
		r.places[n] = w
		slot := w.slot()
		n += int((r.say[slot>>6] | r.hide[slot>>6]) >> (slot & 63) & 1)
	}
	r.places = r.places[:n]
	p.trim()
}

// Said is the set of rows that the packages so far say anything of, by slot. It belongs to the tracker and is valid until
// that is advanced. Rows of Weigh that are not in it wait for the next snapshot.
func (p *Packer) Said(dst []uint64) []uint64 {
	r := &p.rows
	if !r.on {
		panic("snapshot: Said of a packer that packs whole groups")
	}
	l, row := r.ledger, r.tracker.at
	for i := range l.words {
		w := uint64(0)
		if l.shows>>row&1 != 0 {
			w = l.shown(row)[i]
		}
		if l.goes>>row&1 != 0 {
			w |= l.gone(row)[i]
		}
		dst = append(dst, w)
	}
	return dst
}

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

// share finds the groups that can go as blocks, as they are seen whole, and takes them out of the rows. Where the client
// holds rows of a group but no snapshot of all of it, its empty slots are said, too: once acked, that is one.
func (p *Packer) share(see []uint64) {
	r := &p.rows
	p.runs, r.spans = sized(p.runs, r.end)[:0], sized(r.spans, r.end)[:0]
	if !anyWhole(see) {
		return
	}
	for p.more() {
	}
	if r.spans = r.spans[:0]; p.encoder.stored {
		r.spans = append(r.spans, Run{Count: r.end})
	} else {
		r.spans = r.tracker.Runs(r.spans, 0, r.end)
	}
	for _, run := range r.spans {
		for run.Count > 0 {
			n := 0
			for n < run.Count && seenWhole(see, run.First+n) && (run.Base[0] != 0 || !r.based(run.First+n)) {
				n++
			}
			if n >= minWhole {
				p.runs = append(p.runs, Run{First: run.First, Count: n, Base: run.Base})
				r.set(run.First, n, nil)
			} else if n = max(n, 1); run.Base[0] == 0 && seenWhole(see, run.First) {
				r.set(run.First, n, p.encoder.frame.here)
			}
			run.First += n
			run.Count -= n
		}
	}
}

// anyWhole reports whether any group is seen whole.
func anyWhole(see []uint64) bool {
	for _, w := range see {
		if anyFull(w) {
			return true
		}
	}
	return false
}

func seenWhole(see []uint64, g int) bool { return g>>2 < len(see) && rowsOf(see, g) == allRows }

// based reports whether the client holds any row of a group.
func (r *rowPlan) based(g int) bool {
	for _, b := range r.bases {
		if rowsOf(b.have, g) != 0 {
			return true
		}
	}
	return false
}

// set says all rows of count groups as they are in here, or nothing of them if that is nil.
func (r *rowPlan) set(first, count int, here []uint64) {
	for i := first / wordGroups; i*wordGroups < first+count; i++ {
		in := within(i, first, first+count)
		r.say[i] &^= in
		r.hide[i] &^= in
		if here != nil {
			r.say[i] |= here[i] & in
			r.hide[i] |= in &^ here[i]
		}
	}
}

// resolve finds each row's baseline: the newest one in which the client holds it.
func (p *Packer) resolve() {
	r := &p.rows
	all := 0
	for i, say := range r.say {
		w := say | r.hide[i]
		r.rest[i], r.odd[i] = w, w
		all += bits.OnesCount64(w)
	}
	r.usual, r.deepest = noBase, -1
	for a, left := 0, all; left > 0; a++ {
		if a == len(r.bases) && !p.more() {
			r.bases = append(r.bases, rowBase{})
		}
		b := &r.bases[a]
		n := r.hit(b)
		if n == 0 {
			continue
		}
		left -= n
		if b.count > 0 || b.middle != nil { // how a row is said to be gone depends on its context
			b.column = p.encoder.rows(b.bases)
			b.rows = b.column.rows
		}
		if b.middle != nil && r.deepest < 0 {
			r.deepest = a
		}
		if 2*n > all {
			r.usual = uint8(a)
			for i, hit := range r.hits {
				r.odd[i] &^= hit
			}
		} else {
			r.assign(uint8(a))
		}
	}
	r.list(all)
	p.trim()
}

// hit moves the rows of which the client holds all of a baseline from rest to hits, and returns how many there are.
func (r *rowPlan) hit(b *rowBase) (n int) {
	rest := r.rest
	hits, say := r.hits[:len(rest)], r.say[:len(rest)]
	switch {
	case b.have == nil:
		copy(hits, rest)
	case b.middle == nil:
		for i, have := range b.have[:len(rest)] {
			hits[i] = have & rest[i]
		}
	default:
		middle, oldest := b.middle[:len(rest)], b.oldest[:len(rest)]
		for i, have := range b.have[:len(rest)] {
			hits[i] = have & middle[i] & oldest[i] & rest[i]
		}
	}
	for i, hit := range hits {
		if hit != 0 {
			rest[i] &^= hit
			n += bits.OnesCount64(hit)
			b.count += bits.OnesCount64(hit & say[i])
		}
	}
	return n
}

// assign notes that the rows of hits have the baseline with index a.
func (r *rowPlan) assign(a uint8) {
	r.baseOf = sized(r.baseOf, len(r.say)*64)
	for i, hit := range r.hits {
		for of := (*[64]uint8)(r.baseOf[i*64:]); hit != 0; hit &= hit - 1 {
			of[bits.TrailingZeros64(hit)&63] = a
		}
	}
}

// list fills places with all rows, of which there are so many.
func (r *rowPlan) list(all int) {
	r.places = sized(r.places, all+64) // room for what a word's loop writes in vain
	places, n := r.places, 0
	for i, w := range r.say {
		hide, odd, slot := r.hide[i], r.odd[i], place(i*64)
		w |= hide
		if hide|odd == 0 {
			count, slot := bits.OnesCount64(w), slot|place(r.usual)<<baseShift
			at := (*[64]place)(places[n:])
			for k := 0; k < count; k += 8 { // by eights, as the number of rows in a word is hard to guess
				to := (*[8]place)(at[k&63&^7:])
				to[0] = slot + lowest(w)
				w &= w - 1
				to[1] = slot + lowest(w)
				w &= w - 1
				to[2] = slot + lowest(w)
				w &= w - 1
				to[3] = slot + lowest(w)
				w &= w - 1
				to[4] = slot + lowest(w)
				w &= w - 1
				to[5] = slot + lowest(w)
				w &= w - 1
				to[6] = slot + lowest(w)
				w &= w - 1
				to[7] = slot + lowest(w)
				w &= w - 1
			}
			n += count
			continue
		}
		for ; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			a := r.usual
			if odd>>bit&1 != 0 {
				a = r.baseOf[i*64+bit]
			}
			places[n] = slot + place(bit) + place(a)<<baseShift + place(hide>>bit&1)*hidden
			n++
		}
	}
	r.places, r.at = places[:n], 0
}

// lowest is the lowest one of a word, or anything if it is 0, which the processor is not asked for.
func lowest(w uint64) place { return place(bits.TrailingZeros64(w | 1<<63)) }

// trim moves the ends of the plan to where there is something to say.
func (p *Packer) trim() {
	r := &p.rows
	r.end = 0
	if n := len(p.runs); n > 0 {
		r.end = p.runs[n-1].First + p.runs[n-1].Count
	}
	if n := len(r.places); n > 0 {
		r.end = max(r.end, r.places[n-1].slot()/GroupRows+1)
	}
	p.skip()
}

// skip moves on to the next group of which there is something to say.
func (p *Packer) skip() {
	r := &p.rows
	r.next = r.end
	if r.at < len(r.places) {
		r.next = r.places[r.at].slot() / GroupRows
	}
	if p.next < len(p.runs) {
		r.next = min(r.next, p.runs[p.next].First)
	}
}

// switchBits is what a row costs that does not have the commonest baseline: to it and back.
const switchBits = 2 * baseBits

func (p *Packer) weigh(see []uint64, cost []uint16) (fixed int) {
	r := &p.rows
	major := 0
	for a := range r.bases {
		if r.bases[a].count > r.bases[major].count {
			major = a
		}
	}
	var beside [32]uint16 // by base: what a row costs beside its bits
	for a := range r.bases {
		if beside[a&31] = placeBits; a != major {
			beside[a&31] += switchBits
		}
	}
	clear(cost[:len(see)*64])
	hides := 0
	for _, w := range r.places {
		if w&hidden != 0 {
			hides++
			continue
		}
		a, slot := w.base(), w.slot()
		s := r.bases[a].rows[slot]
		if s == 0 {
			s = p.encoder.row(r.bases[a].column, slot)
		}
		cost[slot] = uint16(s.size()) + beside[a&31]
	}
	gone := 0
	for context := range p.encoder.codec.masks {
		gone = max(gone, int(p.encoder.codec.codes[context*p.encoder.codec.symbols+schema.Gone]>>16))
	}
	runs := 1 + len(r.places)/(MaxRun-GroupRows)
	return PackageBits*runs + headBits*r.end + hides*(1+gone+placeBits+switchBits)
}

// nextRows is Next for a plan of rows.
func (p *Packer) nextRows(dst []byte, budget int) (out []byte, first, count int) {
	r := &p.rows
	limit := len(dst) + budget
	first = r.next
	for !p.Done() {
		n, from := 0, r.next
		if p.next < len(p.runs) && p.runs[p.next].First == from {
			run := &p.runs[p.next]
			dst, n = p.pack(dst, limit-len(dst), *run)
			r.set(from, n, p.encoder.frame.here)
			run.First += n
			run.Count -= n
			if run.Count == 0 {
				p.next++
			}
		} else {
			dst, n = p.packRows(dst, limit-len(dst))
		}
		if n == 0 {
			break
		}
		r.tracker.said(from, from+n, r.say, r.hide, p.encoder.frame.here)
		count = from + n - first
		p.skip()
	}
	return dst, first, count
}

// packRows appends a run of rows from the next one on, as far as room bytes allow, and returns how many groups that were. The
// bits are gathered as in codec.group. Where each row ends is noted, so that the rows of a group that does not fit as a whole
// can be cut off again.
func (p *Packer) packRows(dst []byte, room int) (out []byte, groups int) {
	if room <= RunBytes {
		return dst, 0
	}
	r := &p.rows
	places := r.run(p)
	from := places[0].slot() / GroupRows
	r.buf = sized(r.buf, room+p.encoder.codec.bound+64)
	buf, bases := r.buf, r.bases
	cur := places[0].base()
	run := Run{First: from, Base: bases[cur].bases, Rows: true}
	width := uint(1 + ageBits) // of a row's own baseline
	if r.deepest >= 0 {
		width++
		if bases[cur].middle == nil { // somebody must name the spacing
			cur = uint8(r.deepest)
			run.Base = bases[cur].bases
		}
	}
	ends, next, most := &r.ends, from*GroupRows, uint32(room*8)
	like, rows := place(cur), bases[cur].rows // places of rows of this baseline
	head := run.headBytes()
	acc, n, pos, count := uint64(0), uint(0), head, 0
	for _, w := range places {
		slot := w.slot()
		gap := slot - next
		next = slot + 1
		if uint(gap) < gapCoded {
			e := gaps[gap]
			acc |= uint64(e&0xffffff) << (n & 63)
			n += uint(e >> 24)
		} else {
			code, k := gapBits(gap)
			acc |= code << (n & 63)
			n += k
		}
		s, skip := rowBits(0), uint(0)
		if w>>baseShift == like {
			s = rows[slot]
		}
		if s == 0 { // it has not been made, or has another baseline, or is hidden
			a := w.base()
			b := &bases[a]
			if s = p.rowBits(b, w); place(a) != like {
				like, rows, skip = place(a), b.rows, 1
				acc |= (1 | uint64(b.age)<<1) << (n & 63)
				n += width
				if s>>56 != long { // but for the bit that says that the baseline is that of the row before
					s = s&^(1<<56-1) - 1<<56 | s<<8>>9
				}
			}
		}
		size := uint(s >> 56)
		if n+size > 63 { // rarely
			binary.LittleEndian.PutUint64(buf[pos:], acc)
			pos += int(n >> 3)
			acc >>= n & 56
			n &= 7
			if size == long {
				acc, n, pos = appendLong(buf, pos, acc, n, bases[like].column.long[uint32(s):cap(bases[like].column.long)], s.size(), skip)
				s, size = 0, 0
			}
		}
		acc |= uint64(s) & (1<<56 - 1) << (n & 63)
		n += size
		binary.LittleEndian.PutUint64(buf[pos:], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
		count++
		end := uint32(pos*8) + uint32(n)
		ends[count&(2*MaxRun-1)] = end
		if end > most {
			break
		}
	}
	binary.LittleEndian.PutUint64(buf[pos:], acc)
	if count = r.cut(places, count, most); count == 0 {
		return dst, 0
	}
	run.Count = count
	AppendRun(buf[:0], run, p.encoder.Tick(), p.interval)
	last := ends[count]
	buf = buf[:(last+7)/8]
	if last&7 != 0 {
		buf[last/8] &= 1<<(last&7) - 1
	}
	r.at += count
	return append(dst, buf...), places[count-1].slot()/GroupRows + 1 - from
}

// run is the places that a run may have: up to where blocks follow, MaxRun at most.
func (r *rowPlan) run(p *Packer) []place {
	places := r.places[r.at:]
	if p.next < len(p.runs) {
		end := p.runs[p.next].First * GroupRows
		for n, w := range places[:min(len(places), MaxRun)] {
			if w.slot() >= end {
				return places[:n]
			}
		}
	}
	return places[:min(len(places), MaxRun)]
}

// cut is how many of the first count rows of a run go out, of which only the last may end beyond most bits: those of groups of which
// all rows are among them.
func (r *rowPlan) cut(places []place, count int, most uint32) int {
	if last := places[count-1].slot(); r.ends[count] > most ||
		r.at+count < len(r.places) && r.places[r.at+count].slot()/GroupRows == last/GroupRows {
		for count > 0 && places[count-1].slot()/GroupRows == last/GroupRows {
			count--
		}
	}
	return count
}

// rowBits is the bits of a row, made on first use.
func (p *Packer) rowBits(b *rowBase, w place) rowBits {
	slot := w.slot()
	if w&hidden != 0 {
		return p.goneBits(b, slot)
	}
	if s := b.rows[slot]; s != 0 {
		return s
	}
	return p.encoder.row(b.column, slot)
}

// appendLong appends the bits of a long row but for the first skip.
func appendLong(buf []byte, pos int, acc uint64, n uint, src []byte, left, skip uint) (uint64, uint, int) {
	for ; left > 0; src = src[inlineBits/8:] {
		k := min(left, inlineBits)
		acc |= binary.LittleEndian.Uint64(src) & (1<<k - 1) >> skip << n
		n += k - skip
		left -= k
		skip = 0
		binary.LittleEndian.PutUint64(buf[pos:], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
	}
	return acc, n, pos
}

// goneBits says that a row that the client holds of a baseline, or may hold, is not there.
func (p *Packer) goneBits(b *rowBase, slot int) rowBits {
	if b.age == 0 {
		return 2 << 56
	}
	code := p.encoder.codec.codes[schema.Gone]
	if b.middle != nil {
		_, _, ctx := p.encoder.expected(b.column, slot/GroupRows)
		code = p.encoder.codec.of(ctx[slot%GroupRows])[schema.Gone]
	}
	return rowBits(code>>16+1)<<56 | rowBits(code&0xffff)<<1
}
