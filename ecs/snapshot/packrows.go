package snapshot

import (
	"encoding/binary"

	"github.com/tickrate/tickrate/ecs/schema"
)

// BeginRows turns to a client that may see the rows of see, a bit per slot: slot s is bit s%64 of word s/64, and slots
// beyond its end are not seen. Rows that it sees are sent, groups that it sees all of as blocks where neighbours are seen
// whole, too. Of a row that it does not see nothing is sent but, as long as it may still take somebody to be there, that
// nobody is.
func (p *Packer) BeginRows(e *Encoder, k *Tracker, see []uint64) {
	p.planRows(e, k, see)
	p.planBlocks(see)
	p.resolveBaselines()
}

// BeginRowsWithin is BeginRows, and reports whether all of it takes no more than so many bits, and PacketOverheadBits more for each package after the
// first. If not, Weigh begins anew. It makes the rows that Next needs, and blocks, which others get as well.
func (p *Packer) BeginRowsWithin(e *Encoder, k *Tracker, see []uint64, most int) bool {
	p.BeginRows(e, k, see)
	return p.mostBits() <= most
}

// mostBits is as many bits as Next gives at most of a plan in one package: what Weigh would find, and what blocks take.
func (p *Packer) mostBits() int {
	r := &p.rows
	hides, all := 0, 0
	for _, w := range r.entries {
		if w&hidden != 0 {
			hides++
			continue
		}
		b := &r.bases[w.base()]
		slot := w.slot()
		s := b.rows[slot]
		if s == 0 {
			s = p.encoder.row(b.cache, slot)
		}
		all += int(s.size()) + entryBits
	}
	for _, run := range p.runs {
		all += 8*p.bytes(run) + PacketOverheadBits // the rows behind it are another run
	}
	all += switchBits * (len(r.entries) - hides - r.commonestLen())
	return p.encoder.overheadBits(len(r.entries), hides, r.end) + all
}

// commonestLen is how many rows have the commonest baseline.
func (r *rowPlan) commonestLen() (n int) {
	for a := range r.bases {
		n = max(n, r.bases[a].count)
	}
	return n
}

// RowSent is the set of rows that the packages so far say anything of, by slot. It belongs to the tracker and is valid until
// that is advanced. Rows of Weigh that are not in it wait for the next snapshot.
func (p *Packer) SentRows(dst []uint64) []uint64 {
	r := &p.rows
	if !r.on {
		panic("snapshot: Said of a packer that packs whole groups")
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
	run := Run{First: from, Baselines: bases[cur].baselines, Rows: true}
	width := uint(1 + ageBits) // of a row's own baseline
	if r.deepest >= 0 {
		width++
		if bases[cur].middle == nil { // somebody must name the spacing
			cur = uint8(r.deepest)
			run.Baselines = bases[cur].baselines
		}
	}
	ends, next, most := &r.ends, from*GroupRows, uint32(room*8)
	like, rows := planEntry(cur), bases[cur].rows // places of rows of this baseline
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
			if s = p.rowBits(b, w); planEntry(a) != like {
				like, rows, skip = planEntry(a), b.rows, 1
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
				acc, n, pos = appendLong(buf, pos, acc, n, bases[like].cache.long[uint32(s):cap(bases[like].cache.long)], s.size(), skip)
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
func (r *rowPlan) run(p *Packer) []planEntry {
	places := r.entries[r.at:]
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
func (r *rowPlan) cut(places []planEntry, count int, most uint32) int {
	if last := places[count-1].slot(); r.ends[count] > most ||
		r.at+count < len(r.entries) && r.entries[r.at+count].slot()/GroupRows == last/GroupRows {
		for count > 0 && places[count-1].slot()/GroupRows == last/GroupRows {
			count--
		}
	}
	return count
}

// rowBits is the bits of a row, made on first use.
func (p *Packer) rowBits(b *rowBaseline, w planEntry) rowBits {
	slot := w.slot()
	if w&hidden != 0 {
		return p.goneBits(b, slot)
	}
	if s := b.rows[slot]; s != 0 {
		return s
	}
	return p.encoder.row(b.cache, slot)
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
func (p *Packer) goneBits(b *rowBaseline, slot int) rowBits {
	if b.age == 0 {
		return 2 << 56
	}
	code := p.encoder.codec.codes[schema.Gone]
	if b.middle != nil {
		_, _, ctx := p.encoder.predicted(b.cache, slot/GroupRows)
		code = p.encoder.codec.of(ctx[slot%GroupRows])[schema.Gone]
	}
	return rowBits(code>>16+1)<<56 | rowBits(code&0xffff)<<1
}
