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
	bases   []rowBase          // the usual one, which most rows have; then all, newest first; the last one is none
	ageOf   []uint8            // by slot: index into bases
	plain   []uint64           // memory for bases that are snapshots of whole groups
	plainOf [Window]int8       // by interval: 1 + which part of plain, 0 if it has none yet
	plains  int                // parts of plain in use
	deepest int                // index into bases: the newest with older ones that a row has, -1 if none has. All are as far apart
	buf     []byte             // the run that is being packed
	ends    [2 * MaxRun]uint32 // of its rows: bits up to the end of row n, counted from 1
}

// rowBase is a baseline that rows may have.
type rowBase struct {
	have   []uint64 // rows that the client holds of it, of those that were there
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
	p.trim()
}

// Said is the set of rows that the packages so far say anything of, by slot. It belongs to the tracker and is valid until
// that is advanced. Rows of Weigh that are not in it wait for the next snapshot.
func (p *Packer) Said(dst []uint64) []uint64 {
	r := &p.rows
	if !r.on {
		panic("snapshot: Said of a packer that packs whole groups")
	}
	row := r.tracker.row(r.tracker.now)
	shown, gone := r.ledger.shown(row), r.ledger.gone(row)
	for i := range shown {
		dst = append(dst, shown[i]|gone[i])
	}
	return dst
}

// plan begins with which rows there are to say, and what they may be coded against.
func (p *Packer) plan(e *Encoder, k *Tracker, see []uint64) {
	p.start(e, k)
	r := &p.rows
	r.on, r.tracker, r.ledger = true, k, k.beginRows()
	r.next, r.end = 0, min(e.inUse, k.groups)
	words := (r.end + wordGroups - 1) / wordGroups
	r.say, r.hide = sized(r.say, words), sized(r.hide, words)
	r.ageOf = sized(r.ageOf, words*64)
	for i := range words {
		here := uint64(0)
		if i < len(see) {
			here = see[i] & e.frame.here[i]
		}
		in := within(i, 0, r.end)
		r.say[i], r.hide[i] = here&in, r.ledger.told[i]&^here&in
	}
	p.candidates(words)
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n) // the next may be a little longer
	}
	return s[:n]
}

// candidates lists the baselines.
func (p *Packer) candidates(words int) {
	r, k := &p.rows, p.rows.tracker
	r.bases = append(r.bases[:0], rowBase{}) // the usual one's place
	r.plain = sized(r.plain, (len(ages)+2*deepAge*maxStep)*words)
	r.plainOf, r.plains = [Window]int8{}, 0
	step := k.step()
	for _, age := range ages {
		row, ok := k.aged(age)
		if !ok || p.encoder.stored {
			continue
		}
		b := rowBase{have: p.held(row, words), age: age, bases: Bases{k.sent[row]}}
		if b.have == nil {
			continue
		}
		if middle, oldest, ok := k.deeper(age, step); ok {
			d := rowBase{have: b.have, middle: p.held(middle, words), oldest: p.held(oldest, words), age: age | deep,
				bases: Bases{k.sent[row], k.sent[middle], k.sent[oldest]}}
			if d.middle != nil && d.oldest != nil {
				r.bases = append(r.bases, d)
			}
		}
		r.bases = append(r.bases, b)
	}
	r.bases = append(r.bases, rowBase{})
}

// held is the rows that the client holds of the snapshot of an interval, of those that were there; nil if there are none.
func (p *Packer) held(row, words int) []uint64 {
	r := &p.rows
	if r.ledger.byRow>>row&1 != 0 {
		if r.ledger.held>>row&1 == 0 {
			return nil
		}
		return r.ledger.base(row)
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

// holds is which rows of word i the client holds of all baselines.
func (b *rowBase) holds(i int) uint64 {
	if b.middle == nil {
		return b.have[i]
	}
	return b.have[i] & b.middle[i] & b.oldest[i]
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
	const ones, tops = 0x0001000100010001, 0x8000800080008000
	for _, w := range see {
		if (^w-ones)&w&tops != 0 { // 16 zeros in ^w
			return true
		}
	}
	return false
}

func seenWhole(see []uint64, g int) bool { return g>>2 < len(see) && rowsOf(see, g) == allRows }

// based reports whether the client holds any row of a group.
func (r *rowPlan) based(g int) bool {
	for _, b := range r.bases[1 : len(r.bases)-1] {
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
	none := len(r.bases) - 1
	usual := p.usual()
	clear(r.ageOf)
	r.deepest = -1
	for i := range r.say {
		rest := r.say[i] | r.hide[i]
		for a := 1; a < none && rest != 0; a++ {
			if hit := r.bases[a].holds(i) & rest; hit != 0 {
				rest &^= hit
				p.assign(i, hit, a, usual)
			}
		}
		if rest != 0 {
			p.assign(i, rest, none, usual)
		}
	}
	if r.bases[0], r.bases[usual].count = r.bases[usual], 0; r.deepest == usual {
		r.deepest = 0
	}
	p.trim()
}

// usual guesses the baseline that most rows have: the first row's.
func (p *Packer) usual() int {
	r := &p.rows
	for i := range r.say {
		rest := r.say[i] | r.hide[i]
		if rest == 0 {
			continue
		}
		for a := 1; a < len(r.bases)-1; a++ {
			if r.bases[a].holds(i)&rest != 0 {
				return a
			}
		}
		break
	}
	return len(r.bases) - 1
}

// assign gives rows of word i the baseline with index a. Rows of the usual one keep index 0.
func (p *Packer) assign(i int, rows uint64, a, usual int) {
	r := &p.rows
	b := &r.bases[a]
	said := rows & r.say[i]
	b.count += bits.OnesCount64(said)
	if b.rows == nil && (said != 0 || b.middle != nil) { // how a row is said to be gone depends on its context
		b.column = p.encoder.rows(b.bases)
		b.rows = b.column.rows
	}
	if b.middle != nil && (r.deepest < 0 || a < r.deepest) {
		r.deepest = a
	}
	if a == usual {
		return
	}
	ageOf := (*[64]uint8)(r.ageOf[i*64:])
	for ; rows != 0; rows &= rows - 1 {
		ageOf[bits.TrailingZeros64(rows)&63] = uint8(a)
	}
}

// trim moves the ends of the plan to where there is something to say.
func (p *Packer) trim() {
	r := &p.rows
	last := 0
	if n := len(p.runs); n > 0 {
		last = p.runs[n-1].First + p.runs[n-1].Count
	}
	for i := len(r.say) - 1; i >= 0 && (i+1)*wordGroups > last; i-- {
		if w := r.say[i] | r.hide[i]; w != 0 {
			last = max(last, i*wordGroups+(bits.Len64(w)-1)/GroupRows+1)
			break
		}
	}
	r.end = last
	p.skip()
}

// skip moves on to the next group of which there is something to say.
func (p *Packer) skip() {
	r := &p.rows
	end := r.end
	if p.next < len(p.runs) {
		end = p.runs[p.next].First
	}
	for r.next < end {
		i := r.next / wordGroups
		if w := (r.say[i] | r.hide[i]) & within(i, r.next, end); w != 0 {
			r.next = i*wordGroups + bits.TrailingZeros64(w)/GroupRows
			return
		}
		r.next = (i + 1) * wordGroups
	}
	r.next = end
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
	clear(cost[:len(see)*64])
	hidden, rows := 0, 0
	for i, say := range r.say {
		hidden += bits.OnesCount64(r.hide[i])
		rows += bits.OnesCount64(say)
		for ; say != 0; say &= say - 1 {
			slot := i*64 + bits.TrailingZeros64(say)
			a := int(r.ageOf[slot])
			n := p.bitsOf(&r.bases[a], slot).size() + placeBits
			if a != major {
				n += switchBits
			}
			cost[slot] = uint16(n)
		}
	}
	gone := 0
	for context := range p.encoder.codec.masks {
		gone = max(gone, int(p.encoder.codec.codes[context*p.encoder.codec.symbols+schema.Gone]>>16))
	}
	runs := 1 + (rows+hidden)/(MaxRun-GroupRows)
	return PackageBits*runs + headBits*r.end + hidden*(1+gone+placeBits+switchBits)
}

// bitsOf returns a row's bits, made on first use.
func (p *Packer) bitsOf(b *rowBase, slot int) rowBits {
	if s := b.rows[slot]; s != 0 {
		return s
	}
	return p.encoder.row(b.column, slot)
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
			dst, n = p.packRows(dst, limit-len(dst), from)
		}
		if n == 0 {
			break
		}
		r.tracker.said(from, from+n, r.say, r.hide, p.encoder.frame.here)
		r.next = from + n
		count = r.next - first
		p.skip()
	}
	return dst, first, count
}

// packRows appends a run of rows from group from on, as far as room bytes allow, and returns how many groups that were. The
// bits are gathered as in codec.group. Where each row ends is noted, so that the rows of a group that does not fit as a whole
// can be cut off again.
func (p *Packer) packRows(dst []byte, room, from int) (out []byte, groups int) {
	if room <= RunBytes {
		return dst, 0
	}
	r := &p.rows
	end := r.end
	if p.next < len(p.runs) {
		end = p.runs[p.next].First
	}
	r.buf = sized(r.buf, room+p.encoder.codec.bound+64)
	buf, bases := r.buf, r.bases
	cur := r.ageOf[from*GroupRows+bits.TrailingZeros16(rowsOf(r.say, from)|rowsOf(r.hide, from))]
	run := Run{First: from, Base: bases[cur].bases, Rows: true}
	width := uint(1 + ageBits) // of a row's own baseline
	if r.deepest >= 0 {
		width++
		if bases[cur].middle == nil { // somebody must name the spacing
			cur = uint8(r.deepest)
			run.Base = bases[cur].bases
		}
	}
	ends, slot, full := &r.ends, from*GroupRows-1, false
	head := run.headBytes()
	acc, n, pos := uint64(0), uint(0), head
pack:
	for i := from / wordGroups; i*wordGroups < end; i++ {
		hide := r.hide[i]
		for w := (r.say[i] | hide) & within(i, from, end); w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			gap := i*64 + bit - slot - 1
			slot = i*64 + bit
			code, k := gapBits(gap)
			acc |= code << n
			n += k
			a := r.ageOf[slot]
			b := &bases[a]
			s := rowBits(0)
			if hide>>bit&1 != 0 {
				s = p.goneBits(b, slot)
			} else if s = b.rows[slot]; s == 0 {
				s = p.encoder.row(b.column, slot)
			}
			skip := uint(0)
			if a != cur {
				cur, skip = a, 1
				acc |= (1 | uint64(b.age)<<1) << n
				n += width
			}
			size := uint(s>>56) - skip
			if n+size > 63 { // rarely
				binary.LittleEndian.PutUint64(buf[pos:], acc)
				pos += int(n >> 3)
				acc >>= n & 56
				n &= 7
			}
			if s>>56 != long {
				acc |= uint64(s) << 8 >> (8 + skip) << (n & 63)
				n += size
				binary.LittleEndian.PutUint64(buf[pos:], acc)
				pos += int(n >> 3)
				acc >>= n & 56
				n &= 7
			} else {
				acc, n, pos = appendLong(buf, pos, acc, n, b.column.long[uint32(s):cap(b.column.long)], s.size(), skip)
			}
			run.Count++
			ends[run.Count&(2*MaxRun-1)] = uint32(pos*8) + uint32(n)
			if pos+int(n+7)>>3 > room || run.Count == MaxRun {
				full = true
				break pack
			}
		}
	}
	binary.LittleEndian.PutUint64(buf[pos:], acc)
	next := slot/GroupRows + 1
	if full {
		m := rowsOf(r.say, next-1) | rowsOf(r.hide, next-1)
		behind := m >> (slot % GroupRows) >> 1
		if behind != 0 || pos+int(n+7)>>3 > room {
			run.Count -= bits.OnesCount16(m) - bits.OnesCount16(behind)
			next--
		}
		for next > from && rowsOf(r.say, next-1)|rowsOf(r.hide, next-1) == 0 {
			next--
		}
	}
	if run.Count == 0 {
		return dst, 0
	}
	AppendRun(buf[:0], run, p.encoder.Tick(), p.interval)
	last := ends[run.Count]
	buf = buf[:(last+7)/8]
	if last&7 != 0 {
		buf[last/8] &= 1<<(last&7) - 1
	}
	return append(dst, buf...), next - from
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
