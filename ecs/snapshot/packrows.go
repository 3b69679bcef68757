package snapshot

import (
	"encoding/binary"

	"github.com/tickrate/tickrate/ecs/schema"
)

// BeginRows turns to a client that sees the rows of see, a bit per slot: slot s is bit s%64 of
// word s/64, and slots beyond its end are hidden. Visible rows are sent; where neighbouring groups
// are visible as a whole, they go as blocks. Of a hidden row the client gets nothing but, as long
// as it may still show the row, that its slot is empty.
func (p *Packer) BeginRows(e *Encoder, k *Tracker, see []uint64) {
	k.prefetchRows()
	p.planRows(e, k, see)
	p.planBlocks(see, 0, p.rows.end, k.step())
	p.resolveBaselines()
}

// Part is which of its visible rows a client's snapshot has. Of the others the client keeps what
// it has. Sets have a bit per slot.
type Part struct {
	Visible    []uint64 // nil: all rows
	Picked     []uint64 // rows that are sent, beside those of the groups, if they are visible
	First, End int      // groups First to End-1 are sent with all visible rows
	Spacing    int      // the client's snapshots from one of these groups to its next
}

// BeginPart is BeginRows for the visible rows that are picked or lie in the groups of a part. The
// groups go as blocks. A client gets each group in every Spacing-th snapshot, so the baselines of a
// block lie that far apart; one baseline is left where that is more than maxStep intervals. So do
// those of picked rows: then rows that were not picked before have them, too. Where blocks have one
// baseline, those of picked rows lie one snapshot apart.
func (p *Packer) BeginPart(e *Encoder, k *Tracker, part *Part) {
	visible := part.Visible
	if visible == nil {
		visible = e.frame.occupied
	}
	p.planRows(e, k, visible)
	r, end := &p.rows, min(part.End, p.rows.end)
	first := min(part.First, end)
	for i := range r.send {
		r.send[i] &= part.Picked[i] | groupMask(i, first, end)
	}
	p.first, p.end = first, end
	step := k.spacedStep(part.Spacing)
	if step != 0 {
		r.step = step // else that of planRows
	}
	p.planBlocks(part.Visible, first, end, step)
	if !p.resolveTogether() {
		k.rows.prefetchAcked(k.at, int(r.step))
		p.resolveBaselines()
	}
}

// BeginRowsWithin is BeginRows, and reports whether all rows fit most bits, including
// PacketOverheadBits for each packet after the first. If not, call Costs, which begins anew. It
// makes the rows that Next needs, and blocks, which other clients share.
func (p *Packer) BeginRowsWithin(e *Encoder, k *Tracker, see []uint64, most int) bool {
	p.BeginRows(e, k, see)
	return p.mostBits() <= most
}

// mostBits bounds what Next writes of a plan in one packet: the costs of the rows, and the blocks.
func (p *Packer) mostBits() int {
	r := &p.rows
	removed, all := 0, 0
	for i, w := range r.entries {
		if w&hidden != 0 {
			removed++
			continue
		}
		b := &r.bases[w.base()]
		slot := w.slot()
		s := b.rows[slot]
		if s == 0 {
			s = r.codeRow(p.encoder, i)
		}
		all += int(s.size()) + entryBits
	}
	for _, run := range p.runs {
		all += 8*p.bytes(run) + PacketOverheadBits // the rows after it are another run
	}
	all += switchBits * (len(r.entries) - removed - r.commonestLen())
	return p.encoder.overheadBits(len(r.entries), removed, r.end) + all
}

// commonestLen is the number of rows with the commonest baseline.
func (r *rowPlan) commonestLen() (n int) {
	for a := range r.bases {
		n = max(n, r.bases[a].count)
	}
	return n
}

// SentRows appends the rows that the packets so far mention, by slot. It is valid until the
// tracker is advanced. Rows of Costs that are not in it wait for the next snapshot.
func (p *Packer) SentRows(dst []uint64) []uint64 {
	r := &p.rows
	if !r.on {
		panic("snapshot: SentRows of a packer that packs whole groups, want one begun for rows")
	}
	l, row := r.state, r.tracker.at
	for i := range l.words {
		w := uint64(0)
		if l.hasVisible>>row&1 != 0 {
			w = l.visible(row)[i]
		}
		if l.hasRemoved>>row&1 != 0 {
			w |= l.removed(row)[i]
		}
		dst = append(dst, w)
	}
	return dst
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
			r.set(from, n, p.encoder.frame.occupied)
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
		r.tracker.noteRows(from, from+n, r.send, r.remove, p.encoder.frame.occupied)
		count = from + n - first
		p.advance()
	}
	return dst, first, count
}

// packRows appends a run of rows from the next one on, as far as room bytes allow, and returns the
// number of groups. It gathers bits as putRows does. It notes where each row ends, so that the
// rows of a group that does not fit as a whole can be cut off again.
func (p *Packer) packRows(dst []byte, room int) (out []byte, groups int) {
	if room <= RunBytes {
		return dst, 0
	}
	r := &p.rows
	entries := r.run(p)
	run, cur, width := r.beginRun(entries[0])
	r.buf = sized(r.buf, room+p.encoder.codec.bound+64)
	buf, bases := r.buf, r.bases
	ends, next, most := &r.ends, run.First*GroupRows, uint32(room*8)
	like, rows := planEntry(cur), bases[cur].rows // entries and rows of this baseline
	acc, n, pos, count := uint64(0), uint(0), run.headBytes(), 0
	for i, w := range entries {
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
		if s == 0 { // not made yet, or another baseline, or removed
			a := w.base()
			b := &bases[a]
			if s = p.rowBits(r.at + i); planEntry(a) != like {
				like, rows, skip = planEntry(a), b.rows, 1
				acc |= (1 | uint64(b.age)<<1) << (n & 63)
				n += width
				// But for the bit that says that the baseline is that of the row before.
				if s>>56 != long {
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
				acc, n, pos = appendLong(buf, pos, acc, n, bases[like].cache.long, s, skip)
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
	if count = r.cut(entries, count, most); count == 0 {
		return dst, 0
	}
	run.Count = count
	AppendRun(buf[:0], run, p.encoder.Tick(), p.interval)
	r.at += count
	return append(dst, r.packed(count)...), entries[count-1].slot()/GroupRows + 1 - run.First
}

// beginRun returns the header of a run that begins with a row, the index of its baselines, and the
// bits of a baseline that a row names for itself. If some row has older baselines, the header names
// such, as only the header holds their spacing.
func (r *rowPlan) beginRun(first planEntry) (run Run, base uint8, width uint) {
	base, width = first.base(), 1+ageBits
	if r.deepest >= 0 {
		width++
		if r.bases[base].middle == nil {
			base = uint8(r.deepest)
		}
	}
	return Run{First: first.slot() / GroupRows, Baselines: r.bases[base].baselines, Rows: true}, base, width
}

// packed is the bytes of buf up to the end of row count, with zeros after it.
func (r *rowRun) packed(count int) []byte {
	last := r.ends[count]
	buf := r.buf[:(last+7)/8]
	if last&7 != 0 {
		buf[last/8] &= 1<<(last&7) - 1
	}
	return buf
}

// run is the entries that a run may have: up to where blocks follow, MaxRun at most.
func (r *rowPlan) run(p *Packer) []planEntry {
	entries := r.entries[r.at:]
	if p.next < len(p.runs) {
		end := p.runs[p.next].First * GroupRows
		for n, w := range entries[:min(len(entries), MaxRun)] {
			if w.slot() >= end {
				return entries[:n]
			}
		}
	}
	return entries[:min(len(entries), MaxRun)]
}

// cut returns how many of the first count rows of a run are sent: those of groups whose rows all
// fit. Only the last of the count rows may end beyond most bits.
func (r *rowPlan) cut(entries []planEntry, count int, most uint32) int {
	if last := entries[count-1].slot(); r.ends[count] > most ||
		r.at+count < len(r.entries) && r.entries[r.at+count].slot()/GroupRows == last/GroupRows {
		for count > 0 && entries[count-1].slot()/GroupRows == last/GroupRows {
			count--
		}
	}
	return count
}

// rowBits is the bits of an entry of the plan, made on first use.
func (p *Packer) rowBits(i int) rowBits {
	r := &p.rows
	w := r.entries[i]
	b, slot := &r.bases[w.base()], w.slot()
	if w&hidden != 0 {
		return p.goneBits(b, slot)
	}
	if s := b.rows[slot]; s != 0 {
		return s
	}
	return r.codeRow(p.encoder, i)
}

// codeRow codes the row of an entry and, along with it, those of the entries that follow in its
// group with the same baseline.
func (r *rowPlan) codeRow(e *Encoder, i int) rowBits {
	w := r.entries[i]
	b, slot := &r.bases[w.base()], w.slot()
	which := uint16(0)
	for _, x := range r.entries[i:min(i+GroupRows, len(r.entries))] {
		if x.slot()/GroupRows != slot/GroupRows {
			break
		}
		if x.base() == w.base() && x&hidden == 0 && b.rows[x.slot()] == 0 {
			which |= 1 << (x.slot() % GroupRows)
		}
	}
	e.codeRows(b.cache, slot/GroupRows, which)
	return b.rows[slot]
}

// appendLong appends the bits of a long row but for the first skip: src is encodeCache.long. It has
// a bitSink's fields as values, which stay in registers.
func appendLong(
	buf []byte, pos int, acc uint64, n uint, src []byte, b rowBits, skip uint,
) (_ uint64, bits uint, end int) {
	at := uint32(b) & 7
	src = src[uint32(b)>>3 : cap(src)]
	for left := b.size(); ; src = src[inlineBits/8:] {
		k := min(left, inlineBits)
		acc |= binary.LittleEndian.Uint64(src) >> at & (1<<k - 1) >> skip << n
		n += k - skip
		skip = 0
		binary.LittleEndian.PutUint64(buf[pos:], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
		if left -= k; left == 0 {
			return acc, n, pos
		}
	}
}

// goneBits says that the slot of a row is empty which the client holds, or may hold, of a
// baseline.
func (p *Packer) goneBits(b *rowBaseline, slot int) rowBits {
	if b.age == 0 {
		return 2 << 56
	}
	if p.encoder.codec.ranged() {
		return p.encoder.codec.gone
	}
	code := p.encoder.codec.codes[schema.Gone]
	if b.middle != nil {
		_, _, ctx := p.encoder.predicted(b.cache, slot/GroupRows)
		code = p.encoder.codec.of(ctx[slot%GroupRows])[schema.Gone]
	}
	return rowBits(code>>16+1)<<56 | rowBits(code&0xffff)<<1
}
