package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
)

// ledger is what a tracker keeps of a client that is not told everything: row by row what each snapshot of the window
// said, and what of it arrived. It takes 3 * Window + 1 bits a slot and Window bits a group.
type ledger struct {
	words int      // of a bit set over slots; 0: all snapshots have said whole groups
	sets  []uint64 // bases, shown and gone of all intervals, by slot. Bases lie together, as those of many ages may be looked at
	fulls []uint64 // by interval, by group
	group int      // words of fulls for an interval
	told  []uint64 // by slot: the client may take somebody to be there, and must be told once nobody is, or nobody may be seen

	// A bit per interval.
	byRow uint64 // that snapshot said rows; the others said whole groups
	shows uint64 // shown is of it. What is not is of a snapshot long before, and counts as empty
	goes  uint64 // gone is
	holds uint64 // base is, and is not empty
	fills uint64 // full is
	known uint64 // it said whole groups, and shown is all who were there

	touched uint64 // of touch
}

func newLedger(slots, groupWords int) ledger {
	words := (slots + 63) / 64
	sets := make([]uint64, (1+3*Window)*words)
	return ledger{words: words, sets: sets[words:], told: sets[:words:words], group: groupWords, fulls: make([]uint64, Window*groupWords)}
}

// base is the rows that were shown and that the client holds.
func (l *ledger) base(row int) []uint64 { return l.set(row) }

// shown is the rows that were said to be there.
func (l *ledger) shown(row int) []uint64 { return l.set(Window + row) }

// gone is the rows that were said not to be there.
func (l *ledger) gone(row int) []uint64 { return l.set(2*Window + row) }

func (l *ledger) set(n int) []uint64 { return l.sets[n*l.words:][:l.words:l.words] }

// full is the groups of which all 16 rows were said as they are.
func (l *ledger) full(row int) []uint64 { return l.fulls[row*l.group:][:l.group:l.group] }

// mine returns a set of an interval, which is emptied if it was of a snapshot before.
func mine(is *uint64, row int, set []uint64) []uint64 {
	if *is>>row&1 == 0 {
		*is |= 1 << row
		clear(set)
	}
	return set
}

// drop forgets what was said in an interval.
func (k *Tracker) drop(row int) {
	if l := &k.ledger; l.words != 0 {
		l.byRow &^= 1 << row
		l.shows &^= 1 << row
		l.goes &^= 1 << row
		l.holds &^= 1 << row
		l.fills &^= 1 << row
		l.known &^= 1 << row
	}
}

// showsAll notes that the snapshot that is about to be sent says whole groups, in which those in here are there.
func (k *Tracker) showsAll(here []uint64) {
	l, row := &k.ledger, k.at
	if l.words == 0 {
		k.whole = true
		return
	}
	k.account()
	l.known |= 1 << row
	shown := mine(&l.shows, row, l.shown(row))
	for i := range l.told[:min(len(l.told), len(here))] {
		shown[i] = here[i]
		l.told[i] |= here[i]
	}
}

// touch reads a word of each line of memory that a snapshot is likely to need, so that they come all at once: of many clients none is in
// the cache any more.
func (l *ledger) touch(row, step int) {
	ages := bits.RotateLeft64(l.holds, -row) &^ 1 // bit Window-n: the one n intervals back
	newest := row + Window - 1 - bits.LeadingZeros64(ages|2)
	shown, told := l.shown(row), l.told
	b0, b1, b2 := l.base(newest&(Window-1)), l.base((newest-step)&(Window-1)), l.base((newest-2*step)&(Window-1))
	sum := uint64(0)
	for i := 0; i < len(shown); i += 8 {
		sum += shown[i] + told[i] + b0[i] + b1[i] + b2[i]
	}
	l.touched = sum
}

// beginRows says that the snapshot that is about to be sent says rows.
func (k *Tracker) beginRows() *ledger {
	k.Reserve()
	l, row := &k.ledger, k.at
	l.touch(row, int(k.step()))
	k.drop(row)
	l.byRow |= 1 << row
	k.account()
	return l
}

// account begins to keep whom the client may take to be there: from now on it is known who is shown.
func (k *Tracker) account() {
	if !k.whole {
		return
	}
	for i := range k.ledger.told {
		k.ledger.told[i] = ^uint64(0) // any row may have been shown
	}
	k.whole = false
}

// said notes that groups first to end-1 of the snapshot went out: rows say as they are, rows hide as nobody, though those
// in here are there. The sets are whole words; what lies outside of the groups does not count.
func (k *Tracker) said(first, end int, say, hide, here []uint64) {
	if k.held != nil {
		k.held.said(first, end, say, hide, here)
	}
	l, row := &k.ledger, k.at
	shown := mine(&l.shows, row, l.shown(row))
	from, to := first/wordGroups, (end+wordGroups-1)/wordGroups
	told := l.told[:to]
	say, hide, here, shown = say[:to], hide[:to], here[:to], shown[:to]
	for i := from; i < to; i++ {
		s, h := say[i], hide[i]
		if i == from || i == to-1 {
			in := within(i, first, end)
			s &= in
			h &= in
		}
		shown[i] |= s
		if !planted.On(planted.DeathUntold) {
			told[i] |= s
		}
		if h != 0 {
			mine(&l.goes, row, l.gone(row))[i] |= h
		}
		if as := s | h&^here[i]; anyFull(as) {
			mine(&l.fills, row, l.full(row))[i>>4] |= fullGroups(as) << (i & 15 * wordGroups)
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
	l := &k.ledger
	if l.fills>>row&1 != 0 {
		full, acked := l.full(row), k.bits(row)
		clear(k.rest)
		setRange(k.rest, first, end)
		for i := range acked {
			acked[i] |= full[i] & k.rest[i]
		}
	}
	shown, gone := l.shown(row), l.gone(row)
	shows, goes := l.shows>>row&1 != 0, l.goes>>row&1 != 0
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := within(i, first, end)
		if shows && shown[i]&in != 0 {
			mine(&l.holds, row, l.base(row))[i] |= shown[i] & in
		}
		if goes {
			k.emptied(i, gone[i]&in, t)
		}
	}
}

// ackedAll is Acked for a snapshot that said whole groups, and is known to have shown whom: the client holds that nobody else is there.
func (k *Tracker) ackedAll(row int, t tick.Tick, first, end int) {
	shown := k.ledger.shown(row)
	for i := first / wordGroups; i*wordGroups < end; i++ {
		k.emptied(i, within(i, first, end)&^shown[i], t)
	}
}

// emptied notes that the client holds of the snapshot of tick t that nobody is in these slots of word i.
func (k *Tracker) emptied(i int, slots uint64, t tick.Tick) {
	if l := &k.ledger; slots&l.told[i] != 0 {
		l.told[i] &^= slots &^ k.shownAfter(i, t)
	}
}

// shownAfter is which rows of word i were shown later than tick t.
func (k *Tracker) shownAfter(i int, t tick.Tick) (rows uint64) {
	l := &k.ledger
	for row, at := range k.sent {
		switch {
		case at <= t:
		case (l.byRow|l.known)>>row&1 == 0:
			return ^uint64(0)
		case l.shows>>row&1 != 0:
			rows |= l.shown(row)[i]
		}
	}
	return rows
}
