package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// changeLog knows which rows have changed since earlier frames.
type changeLog struct {
	at        tick.Tick   // newest frame that was read, 0 for none
	changedAt []tick.Tick // by slot: frame with its newest change
	sets      []uint64    // by age in intervals, then by word: rows that changed after that frame
	words     int
}

// since is the rows that changed after the frame of an age, 1 to unchangedAge.
func (l *changeLog) since(age int) []uint64 { return l.sets[age*l.words:][:l.words:l.words] }

func (l *changeLog) alloc(slots int) {
	l.words = (slots + 63) / 64
	l.changedAt, l.sets = make([]tick.Tick, slots), make([]uint64, (unchangedAge+1)*l.words)
}

// ReserveChanges makes the memory that BeginChanged needs for frames of up to slots slots, which
// otherwise its first call does.
func (p *Packer) ReserveChanges(slots int) {
	p.changes.alloc((slots + GroupRows - 1) / GroupRows * GroupRows)
}

// advance reads the frames of a ring up to the newest one, and computes the sets.
func (l *changeLog) advance(ring *Ring, frame *Frame, interval tick.Tick) {
	if l.at == frame.Tick {
		return
	}
	if l.changedAt == nil {
		l.alloc(frame.Slots())
	}
	before := ring.At(l.at)
	if before == nil || l.at > frame.Tick { // what happened in between is not known
		for slot := range l.changedAt {
			l.changedAt[slot] = frame.Tick
		}
		before = frame
	}
	for t := before.Tick + 1; t <= frame.Tick; t++ {
		if f := ring.At(t); f != nil {
			l.compare(f, before)
			before = f
		}
	}
	l.at = frame.Tick
	clear(l.sets)
	for i, w := range frame.occupied {
		for ; w != 0; w &= w - 1 {
			age := int((frame.Tick-l.changedAt[i*64+bits.TrailingZeros64(w)])/interval) + 1
			if age <= unchangedAge {
				l.since(age)[i] |= w & -w
			}
		}
	}
	for age := 2; age <= unchangedAge; age++ {
		younger := l.since(age - 1)
		for i, w := range l.since(age) {
			l.since(age)[i] = w | younger[i]
		}
	}
}

// compare notes the rows of a frame that differ from the frame before.
func (l *changeLog) compare(f, before *Frame) {
	for g := range max(f.groups, before.groups) {
		if f.GroupEqual(before, g) {
			continue
		}
		a, b := f.group(g), before.group(g)
		for r, id := range f.ids[g] {
			if id != before.ids[g][r] || id != 0 && rowMask(r, a, b) != 0 {
				l.changedAt[g*GroupRows+r] = f.Tick
			}
		}
	}
}

// unchangedAge is the most intervals for which a row that the client holds is not sent again.
const unchangedAge = MaxAge / 2

// refreshAges are the ages, in intervals, at which an unchanged row is sent again: it is then coded
// against the snapshot of that age, in a few bits. No age between these is one of baselineAges.
const refreshAges = 1<<16 | 1<<unchangedAge

// inFlightAge is the greatest age of a snapshot that counts as on its way.
const inFlightAge = 12

// BeginChanged is BeginSelect without rows that the client has already, or will have:
//
//   - it has acknowledged the row since the row's last change;
//   - the row was sent since then in two snapshots newer than the newest acknowledged one.
//
// Removed rows likewise. A row that does not change is sent again before the client forgets it.
// acked is the tick of the newest acknowledged snapshot. Unchanged returns the rows left out.
func (p *Packer) BeginChanged(e *Encoder, k *Tracker, see []uint64, acked tick.Tick) {
	k.prefetchRows()
	p.planRows(e, k, see)
	p.runs = p.runs[:0]
	p.omitUnchanged(acked)
	r := &p.rows
	r.planned = append(r.planned[:0], r.send...)
}

// Unchanged is the rows that the last BeginChanged has left out. It belongs to the packer.
func (p *Packer) Unchanged() []uint64 { return p.rows.unchanged }

// omitUnchanged takes the rows out of the plan that BeginChanged leaves out.
func (p *Packer) omitUnchanged(acked tick.Tick) {
	r, k, log := &p.rows, p.rows.tracker, &p.changes
	log.advance(p.encoder.ring, p.encoder.frame, p.interval)
	words := len(r.send)
	r.unchanged, r.sentOnce = sized(r.unchanged, words), sized(r.sentOnce, words)
	rest, gone := r.rest, r.hits // rows, and removed rows, that no snapshot so far tells of
	copy(rest, r.send)
	copy(gone, r.remove)
	clear(r.unchanged)
	clear(r.sentOnce)
	for age := 1; age <= unchangedAge; age++ {
		t, row := k.now-p.interval*tick.Tick(age), (k.at-age)&(Window-1)
		if t >= k.now { // before the first tick
			break
		}
		if k.sent[row] != t || t == 0 {
			continue
		}
		if t > acked && age <= inFlightAge {
			r.omitInFlight(row, log.since(age))
			continue
		}
		r.dropRemoved(row)
		have, left := p.heldRows(row, words), uint64(0)
		for i, since := range log.since(age)[:words] {
			if rest[i] &^= since; have != nil {
				same := rest[i] & have[i]
				if refreshAges>>age&1 == 0 {
					r.unchanged[i] |= same
				}
				rest[i] &^= same
			}
			left |= rest[i]
		}
		if left == 0 {
			break
		}
	}
	for i, w := range r.unchanged {
		r.send[i] &^= w
	}
}

// dropRemoved ends the search for rows that a snapshot has removed: what older ones had is gone.
func (r *rowPlan) dropRemoved(row int) {
	if r.state.hasRemoved>>row&1 != 0 {
		for i, w := range r.state.removed(row)[:len(r.rest)] {
			r.rest[i] &^= w
		}
	}
}

// omitInFlight omits rows that a snapshot on its way has, and a newer one, too.
func (r *rowPlan) omitInFlight(row int, since []uint64) {
	l, rest, gone := r.state, r.rest, r.hits
	if l.hasVisible>>row&1 != 0 {
		for i, w := range l.visible(row)[:len(rest)] {
			rest[i] &^= since[i]
			gone[i] &^= w // it is removed since
			w &= rest[i]
			twice := r.sentOnce[i] & w
			r.unchanged[i] |= twice
			rest[i] &^= twice
			r.sentOnce[i] |= w
		}
	}
	if l.hasRemoved>>row&1 != 0 {
		r.dropRemoved(row)
		for i, w := range l.removed(row)[:len(rest)] {
			w &= gone[i]
			r.remove[i] &^= w & r.sentOnce[i]
			r.sentOnce[i] |= w
		}
	}
}
