package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// rowState is what a tracker keeps of a client that does not get every row: for each snapshot of
// the window, the rows sent and the rows acked. It takes 3 * Window + 1 bits a slot and Window
// bits a group.
type rowState struct {
	words int // of a bit set over slots; 0: every snapshot so far was of whole groups
	// A bit per interval.
	byRow      uint64 // the snapshot was of rows; the others were of whole groups
	wholeKnown uint64 // it was of whole groups, and visible is every row in use
	hasVisible uint64 // visible belongs to it; otherwise the set is stale and counts as empty
	hasRemoved uint64 // likewise removed
	hasAcked   uint64 // likewise acked, which is then not empty
	hasFull    uint64 // likewise full

	// By interval: acked, then visible, then removed rows. Acked sets lie together, as the search
	// for baselines reads many.
	sets  []uint64
	fulls []uint64 // by interval, by group
	group int      // words of fulls for an interval
	// By slot: the client may show a row, and must hear when its slot is empty or hidden.
	maybeVisible []uint64

	prefetched uint64 // sink of prefetch
}

func newRowState(slots, groupWords int) rowState {
	words := (slots + 63) / 64
	sets := make([]uint64, (1+3*Window)*words)
	return rowState{words: words, sets: sets[words:], maybeVisible: sets[:words:words],
		group: groupWords, fulls: make([]uint64, Window*groupWords)}
}

// acked is the visible rows that the client holds.
func (l *rowState) acked(row int) []uint64 { return l.set(row) }

// visible is the rows that were sent.
func (l *rowState) visible(row int) []uint64 { return l.set(Window + row) }

// removed is the slots that were sent as empty.
func (l *rowState) removed(row int) []uint64 { return l.set(2*Window + row) }

func (l *rowState) set(n int) []uint64 { return l.sets[n*l.words:][:l.words:l.words] }

// full is the set of groups whose 16 rows were all sent as they are.
func (l *rowState) full(row int) []uint64 { return l.fulls[row*l.group:][:l.group:l.group] }

// freshSet returns a set of an interval, emptied if it belonged to an older snapshot.
func freshSet(is *uint64, row int, set []uint64) []uint64 {
	if *is>>row&1 == 0 {
		*is |= 1 << row
		clear(set)
	}
	return set
}

// dropInterval forgets the snapshot of an interval.
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

// noteAllRows records that the snapshot in hand is of whole groups with these rows in use.
func (k *Tracker) noteAllRows(occupied []uint64) {
	l, row := &k.rows, k.at
	if l.words == 0 {
		k.whole = true
		return
	}
	k.beginVisible()
	l.wholeKnown |= 1 << row
	visible := freshSet(&l.hasVisible, row, l.visible(row))
	for i := range l.maybeVisible[:min(len(l.maybeVisible), len(occupied))] {
		visible[i] = occupied[i]
		l.maybeVisible[i] |= occupied[i]
	}
}

// prefetchRows reads a word of each cache line that a snapshot of rows is likely to need, so that the
// loads overlap: with many clients none of it is in the cache.
func (k *Tracker) prefetchRows() {
	k.Reserve()
	l := &k.rows
	visible, maybe, sum := l.visible(k.at), l.maybeVisible, uint64(0)
	for i := 0; i < len(visible); i += 8 {
		sum += visible[i] + maybe[i]
	}
	l.prefetched = sum
	l.prefetchAcked(k.at, int(k.step()))
}

// prefetchAcked is prefetchRows for the sets that the search for baselines reads.
func (l *rowState) prefetchAcked(row, step int) {
	ages := bits.RotateLeft64(l.hasAcked, -row) &^ 1 // bit Window-n: the one n intervals back
	newest := row + Window - 1 - bits.LeadingZeros64(ages|2)
	b0, b1 := l.acked(newest&(Window-1)), l.acked((newest-step)&(Window-1))
	b2, sum := l.acked((newest-2*step)&(Window-1)), l.prefetched
	for i := 0; i < len(b0); i += 8 {
		sum += b0[i] + b1[i] + b2[i]
	}
	l.prefetched = sum
}

// beginRows records that the snapshot in hand is of rows.
func (k *Tracker) beginRows() *rowState {
	k.Reserve()
	l, row := &k.rows, k.at
	k.dropInterval(row)
	l.byRow |= 1 << row
	k.beginVisible()
	return l
}

// beginVisible starts to keep maybeVisible after snapshots of whole groups.
func (k *Tracker) beginVisible() {
	if !k.whole {
		return
	}
	for i := range k.rows.maybeVisible {
		k.rows.maybeVisible[i] = ^uint64(0) // any row may have been sent
	}
	k.whole = false
}

// noteRows records that groups first to end-1 of the snapshot went out: the rows of send as they
// are, those of remove as empty. The sets are whole words; bits outside of the groups do not
// count.
func (k *Tracker) noteRows(first, end int, send, remove, occupied []uint64) {
	if k.history != nil {
		k.history.noteRows(first, end, send, remove, occupied)
	}
	l, row := &k.rows, k.at
	visible := freshSet(&l.hasVisible, row, l.visible(row))
	from, to := first/wordGroups, (end+wordGroups-1)/wordGroups
	maybe := l.maybeVisible[:to]
	send, remove, occupied, visible = send[:to], remove[:to], occupied[:to], visible[:to]
	for i := from; i < to; i++ {
		s, h := send[i], remove[i]
		if i == from || i == to-1 {
			in := groupMask(i, first, end)
			s &= in
			h &= in
		}
		visible[i] |= s
		maybe[i] |= s
		if h != 0 {
			freshSet(&l.hasRemoved, row, l.removed(row))[i] |= h
		}
		if full := fullGroups(s | h&^occupied[i]); full != 0 {
			freshSet(&l.hasFull, row, l.full(row))[i>>4] |= full << (i & 15 * wordGroups)
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

// anyFull reports whether the word has a group with all 16 rows set.
func anyFull(word uint64) bool {
	const ones, tops = 0x0001000100010001, 0x8000800080008000
	return (^word-ones)&word&tops != 0 // 16 zeros in ^word
}

// fullGroups has bit g set where all 16 rows of group g of the word are set.
func fullGroups(word uint64) (groups uint64) {
	const lows, gather = 0x7fff7fff7fff7fff, 1<<48 | 1<<33 | 1<<18 | 1<<3
	missing := ^word
	missing |= missing&lows + lows // the highest bit of a group is set if one of its rows is missing
	return (^missing & ^uint64(lows)) >> 15 * gather >> 48 & 0xf
}

// ackedRows is Acked for a snapshot of rows.
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
	visible, removed := l.visible(row), l.removed(row)
	shows, goes := l.hasVisible>>row&1 != 0, l.hasRemoved>>row&1 != 0
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := groupMask(i, first, end)
		if shows && visible[i]&in != 0 {
			freshSet(&l.hasAcked, row, l.acked(row))[i] |= visible[i] & in
		}
		if goes {
			k.noteEmpty(i, removed[i]&in, t)
		}
	}
}

// ackedAll is Acked for a snapshot of whole groups with known rows: the client holds that all
// other slots are empty.
func (k *Tracker) ackedAll(row int, t tick.Tick, first, end int) {
	visible := k.rows.visible(row)
	for i := first / wordGroups; i*wordGroups < end; i++ {
		k.noteEmpty(i, groupMask(i, first, end)&^visible[i], t)
	}
}

// noteEmpty records that the client holds these slots of word i as empty, by the snapshot of tick
// t.
func (k *Tracker) noteEmpty(i int, slots uint64, t tick.Tick) {
	if l := &k.rows; slots&l.maybeVisible[i] != 0 {
		l.maybeVisible[i] &^= slots &^ k.visibleAfter(i, t)
	}
}

// visibleAfter is the rows of word i that were sent later than tick t.
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
