package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// ledger is what a tracker keeps of a client that is not told everything: row by row what each snapshot of the window
// said, and what of it arrived. It takes 3 * Window + 1 bits a slot and Window bits a group.
type ledger struct {
	words int      // of a bit set over slots
	byRow uint64   // bit per interval: that snapshot said rows; the others said whole groups, and have zeros below
	held  uint64   // bit per interval: base is not empty
	shown []uint64 // by interval, by slot: said to be there
	gone  []uint64 // by interval, by slot: said not to be there
	base  []uint64 // by interval, by slot: shown, and the client holds it
	full  []uint64 // by interval, by group: all 16 rows were said as they are
	told  []uint64 // by slot: the client may take somebody to be there, and must be told once nobody is, or nobody may be seen
}

func newLedger(slots, groupWords int) *ledger {
	words := (slots + 63) / 64
	sets := make([]uint64, 3*Window*words+words+Window*groupWords)
	cut := func(n int) (set []uint64) {
		set, sets = sets[:n:n], sets[n:]
		return set
	}
	n := Window * words
	return &ledger{words: words, shown: cut(n), gone: cut(n), base: cut(n), full: cut(Window * groupWords), told: cut(words)}
}

// set returns the part of a column of sets that belongs to an interval.
func (l *ledger) set(column []uint64, row int) []uint64 {
	return column[row*l.words : (row+1)*l.words : (row+1)*l.words]
}

// drop forgets what was said in an interval.
func (k *Tracker) drop(row int) {
	l := k.ledger
	if l == nil || l.byRow>>row&1 == 0 {
		return
	}
	l.byRow &^= 1 << row
	l.held &^= 1 << row
	clear(l.set(l.shown, row))
	clear(l.set(l.gone, row))
	clear(l.set(l.base, row))
	clear(l.full[row*k.words : (row+1)*k.words])
}

// beginRows says that the snapshot that is about to be sent says rows.
func (k *Tracker) beginRows() *ledger {
	if k.ledger == nil {
		k.ledger = newLedger(k.groups*GroupRows, k.words)
	}
	l, row := k.ledger, k.row(k.now)
	k.drop(row)
	l.byRow |= 1 << row
	if k.whole {
		for i := range l.told {
			l.told[i] = ^uint64(0) // any row may have been shown
		}
		k.whole = false
	}
	return l
}

// said notes that groups first to end-1 of the snapshot went out: rows say as they are, rows hide as nobody, though those
// in here are there. The sets are whole words; what lies outside of the groups does not count.
func (k *Tracker) said(first, end int, say, hide, here []uint64) {
	l, row := k.ledger, k.row(k.now)
	shown, gone := l.set(l.shown, row), l.set(l.gone, row)
	full := l.full[row*k.words : (row+1)*k.words]
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := within(i, first, end)
		s, h := say[i]&in, hide[i]&in
		shown[i] |= s
		gone[i] |= h
		l.told[i] |= s
		if as := s | h&^here[i]; bits.OnesCount64(as) >= GroupRows {
			full[i>>4] |= fullGroups(as) << (i & 15 * wordGroups)
		}
	}
}

// within is the part of word i of a set over slots that belongs to groups first to end-1.
func within(i, first, end int) uint64 {
	m := ^uint64(0)
	if lo := first - i*wordGroups; lo > 0 {
		m <<= lo * GroupRows
	}
	if hi := (i+1)*wordGroups - end; hi > 0 {
		m &= ^uint64(0) >> (hi * GroupRows)
	}
	return m
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
	l := k.ledger
	full, acked := l.full[row*k.words:(row+1)*k.words], k.bits(row)
	clear(k.rest)
	setRange(k.rest, first, end)
	for i := range acked {
		acked[i] |= full[i] & k.rest[i]
	}
	shown, gone, base := l.set(l.shown, row), l.set(l.gone, row), l.set(l.base, row)
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := within(i, first, end)
		if base[i] |= shown[i] & in; base[i] != 0 {
			l.held |= 1 << row
		}
		if over := gone[i] & in & l.told[i]; over != 0 {
			l.told[i] &^= over &^ k.shownAfter(i, t)
		}
	}
}

// shownAfter is which rows of word i were shown later than tick t.
func (k *Tracker) shownAfter(i int, t tick.Tick) (rows uint64) {
	l := k.ledger
	for row, at := range k.sent {
		switch {
		case at <= t:
		case l.byRow>>row&1 == 0:
			return ^uint64(0)
		default:
			rows |= l.shown[row*l.words+i]
		}
	}
	return rows
}
