package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
)

// state is what a tracker keeps of a client that is not told everything: row by row what each snapshot of the window
// said, and what of it arrived. It takes 3 * Window + 1 bits a slot and Window bits a group.
type rowState struct {
	words        int      // of a bit set over slots; 0: all snapshots have said whole groups
	sets         []uint64 // bases, shown and gone of all intervals, by slot. Baselines lie together, as those of many ages may be looked at
	fulls        []uint64 // by interval, by group
	group        int      // words of fulls for an interval
	maybeVisible []uint64 // by slot: the client may take somebody to be there, and must be told once nobody is, or nobody may be seen

	// A bit per interval.
	byRow      uint64 // that snapshot said rows; the others said whole groups
	hasVisible uint64 // shown is of it. What is not is of a snapshot long before, and counts as empty
	hasRemoved uint64 // gone is
	hasAcked   uint64 // base is, and is not empty
	hasFull    uint64 // full is
	wholeKnown uint64 // it said whole groups, and shown is all who were there

	prefetched uint64 // of touch
}

func newRowState(slots, groupWords int) rowState {
	words := (slots + 63) / 64
	sets := make([]uint64, (1+3*Window)*words)
	return rowState{words: words, sets: sets[words:], maybeVisible: sets[:words:words], group: groupWords, fulls: make([]uint64, Window*groupWords)}
}

// acked is the rows that were shown and that the client holds.
func (l *rowState) acked(row int) []uint64 { return l.set(row) }

// visible is the rows that were said to be there.
func (l *rowState) visible(row int) []uint64 { return l.set(Window + row) }

// maxGoneBits is the rows that were said not to be there.
func (l *rowState) removed(row int) []uint64 { return l.set(2*Window + row) }

func (l *rowState) set(n int) []uint64 { return l.sets[n*l.words:][:l.words:l.words] }

// full is the groups of which all 16 rows were said as they are.
func (l *rowState) full(row int) []uint64 { return l.fulls[row*l.group:][:l.group:l.group] }

// freshSet returns a set of an interval, which is emptied if it was of a snapshot before.
func freshSet(is *uint64, row int, set []uint64) []uint64 {
	if *is>>row&1 == 0 {
		*is |= 1 << row
		clear(set)
	}
	return set
}

// dropInterval forgets what was said in an interval.
func (k *Tracker) dropInterval(row int) {
	if l := &k.rows; l.words != 0 {
		l.byRow &^= 1 << row
		l.hasVisible &^= 1 << row
		l.hasRemoved &^= 1 << row
		l.hasAcked &^= 1 << row
		l.hasFull &^= 1 << row
		l.wholeKnown &^= 1 << row
	}
}

// noteAllRows notes that the snapshot that is about to be sent says whole groups, in which those in here are there.
func (k *Tracker) noteAllRows(here []uint64) {
	l, row := &k.rows, k.at
	if l.words == 0 {
		k.whole = true
		return
	}
	k.beginVisible()
	l.wholeKnown |= 1 << row
	shown := freshSet(&l.hasVisible, row, l.visible(row))
	for i := range l.maybeVisible[:min(len(l.maybeVisible), len(here))] {
		shown[i] = here[i]
		l.maybeVisible[i] |= here[i]
	}
}

// prefetch reads a word of each line of memory that a snapshot is likely to need, so that they come all at once: of many clients none is in
// the cache any more.
func (l *rowState) prefetch(row, step int) {
	ages := bits.RotateLeft64(l.hasAcked, -row) &^ 1 // bit Window-n: the one n intervals back
	newest := row + Window - 1 - bits.LeadingZeros64(ages|2)
	shown, told := l.visible(row), l.maybeVisible
	b0, b1, b2 := l.acked(newest&(Window-1)), l.acked((newest-step)&(Window-1)), l.acked((newest-2*step)&(Window-1))
	sum := uint64(0)
	for i := 0; i < len(shown); i += 8 {
		sum += shown[i] + told[i] + b0[i] + b1[i] + b2[i]
	}
	l.prefetched = sum
}

// beginRows says that the snapshot that is about to be sent says rows.
func (k *Tracker) beginRows() *rowState {
	k.Reserve()
	l, row := &k.rows, k.at
	l.prefetch(row, int(k.step()))
	k.dropInterval(row)
	l.byRow |= 1 << row
	k.beginVisible()
	return l
}

// beginVisible begins to keep whom the client may take to be there: from now on it is known who is shown.
func (k *Tracker) beginVisible() {
	if !k.whole {
		return
	}
	for i := range k.rows.maybeVisible {
		k.rows.maybeVisible[i] = ^uint64(0) // any row may have been shown
	}
	k.whole = false
}

// noteRows notes that groups first to end-1 of the snapshot went out: rows say as they are, rows hide as nobody, though those
// in here are there. The sets are whole words; what lies outside of the groups does not count.
func (k *Tracker) noteRows(first, end int, say, hide, here []uint64) {
	if k.history != nil {
		k.history.noteRows(first, end, say, hide, here)
	}
	l, row := &k.rows, k.at
	shown := freshSet(&l.hasVisible, row, l.visible(row))
	from, to := first/wordGroups, (end+wordGroups-1)/wordGroups
	told := l.maybeVisible[:to]
	say, hide, here, shown = say[:to], hide[:to], here[:to], shown[:to]
	for i := from; i < to; i++ {
		s, h := say[i], hide[i]
		if i == from || i == to-1 {
			in := groupMask(i, first, end)
			s &= in
			h &= in
		}
		shown[i] |= s
		if !planted.On(planted.DeathUntold) {
			told[i] |= s
		}
		if h != 0 {
			freshSet(&l.hasRemoved, row, l.removed(row))[i] |= h
		}
		if as := s | h&^here[i]; anyFull(as) {
			freshSet(&l.hasFull, row, l.full(row))[i>>4] |= fullGroups(as) << (i & 15 * wordGroups)
		}
	}
}

// groupMask is the part of word i of a set over slots that belongs to groups first to end-1.
func groupMask(i, first, end int) uint64 {
	m := ^uint64(0)
	if lo := first - i*wordGroups; lo > 0 {
		m <<= lo * GroupRows
	}
	if hi := (i+1)*wordGroups - end; hi > 0 {
		m &= ^uint64(0) >> (hi * GroupRows)
	}
	return m
}

// anyFull reports whether all 16 rows of any group of the word are.
func anyFull(word uint64) bool {
	const ones, tops = 0x0001000100010001, 0x8000800080008000
	return (^word-ones)&word&tops != 0 // 16 zeros in ^word
}

// fullGroups has bit g set where all 16 rows of group g of the word are.
func fullGroups(word uint64) (groups uint64) {
	for g := range uint(wordGroups) {
		if uint16(word>>(g*GroupRows)) == allRows {
			groups |= 1 << g
		}
	}
	return groups
}

// ackedRows is Acked for a snapshot that said rows.
func (k *Tracker) ackedRows(row int, t tick.Tick, first, end int) {
	l := &k.rows
	if l.hasFull>>row&1 != 0 {
		full, acked := l.full(row), k.bits(row)
		clear(k.rest)
		setRange(k.rest, first, end)
		for i := range acked {
			acked[i] |= full[i] & k.rest[i]
		}
	}
	shown, gone := l.visible(row), l.removed(row)
	shows, goes := l.hasVisible>>row&1 != 0, l.hasRemoved>>row&1 != 0
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := groupMask(i, first, end)
		if shows && shown[i]&in != 0 {
			freshSet(&l.hasAcked, row, l.acked(row))[i] |= shown[i] & in
		}
		if goes {
			k.noteEmpty(i, gone[i]&in, t)
		}
	}
}

// ackedAll is Acked for a snapshot that said whole groups, and is known to have shown whom: the client holds that nobody else is there.
func (k *Tracker) ackedAll(row int, t tick.Tick, first, end int) {
	shown := k.rows.visible(row)
	for i := first / wordGroups; i*wordGroups < end; i++ {
		k.noteEmpty(i, groupMask(i, first, end)&^shown[i], t)
	}
}

// noteEmpty notes that the client holds of the snapshot of tick t that nobody is in these slots of word i.
func (k *Tracker) noteEmpty(i int, slots uint64, t tick.Tick) {
	if l := &k.rows; slots&l.maybeVisible[i] != 0 {
		l.maybeVisible[i] &^= slots &^ k.visibleAfter(i, t)
	}
}

// visibleAfter is which rows of word i were shown later than tick t.
func (k *Tracker) visibleAfter(i int, t tick.Tick) (rows uint64) {
	l := &k.rows
	for row, at := range k.sent {
		switch {
		case at <= t:
		case (l.byRow|l.wholeKnown)>>row&1 == 0:
			return ^uint64(0)
		case l.hasVisible>>row&1 != 0:
			rows |= l.visible(row)[i]
		}
	}
	return rows
}
