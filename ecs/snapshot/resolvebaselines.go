package snapshot

import "math/bits"

// resolveBaselines finds each row's baseline: the newest one that the client holds of it.
func (p *Packer) resolveBaselines() {
	r := &p.rows
	all := 0
	for i, send := range r.send {
		w := send | r.remove[i]
		r.rest[i], r.uncommon[i] = w, w
		all += bits.OnesCount64(w)
	}
	r.common, r.deepest = noBaseline, -1
	for a, left := 0, all; left > 0; a++ {
		if a == len(r.bases) && !p.nextBaseline() {
			r.bases = append(r.bases, rowBaseline{})
		}
		b := &r.bases[a]
		n := r.matchBaseline(b)
		if n == 0 {
			continue
		}
		left -= n
		if b.count > 0 || b.middle != nil { // how a removed row is coded depends on its context
			b.cache = p.encoder.rows(b.baselines)
			b.rows = b.cache.rows
		}
		if b.middle != nil && r.deepest < 0 {
			r.deepest = a
		}
		if 2*n > all {
			r.common = uint8(a)
			for i, hit := range r.hits {
				r.uncommon[i] &^= hit
			}
		} else {
			r.assign(uint8(a))
		}
	}
	r.listEntries(all)
	p.trim()
}

// resolveTogether is resolveBaselines for a client that holds the groups of all rows of the plan
// whole, of the newest snapshot and the two older baselines. It reads no sets of single rows. If
// some row has other baselines, it returns false and has done nothing.
func (p *Packer) resolveTogether() bool {
	r, k := &p.rows, p.rows.tracker
	age := uint8(1)
	for age < maxStep && k.sent[(k.at-int(age))&(Window-1)] == 0 {
		age++
	}
	newest, ok := k.aged(age)
	middle, oldest, deeper := k.olderBaselines(age, r.step)
	if !ok || !deeper || len(r.bases) > 0 || r.age > 0 || p.encoder.stored {
		return false
	}
	b := rowBaseline{age: age | deep, baselines: Baselines{k.sent[newest], k.sent[middle], k.sent[oldest]}}
	for _, removed := range r.remove {
		if removed != 0 {
			return false
		}
	}
	var used [3][]uint64
	for i, t := range b.baselines {
		frame := p.encoder.ring.At(t)
		if frame == nil {
			return false
		}
		used[i] = frame.occupied[:len(r.send)]
	}
	groups0, groups1, groups2 := k.bits(newest), k.bits(middle), k.bits(oldest)
	for i, send := range r.send {
		held := groups0[i>>4] & groups1[i>>4] & groups2[i>>4] >> (i & 15 * wordGroups)
		if send&^(spreadGroups(held)&used[0][i]&used[1][i]&used[2][i]) != 0 {
			return false
		}
		b.count += bits.OnesCount64(send)
	}
	if b.count == 0 {
		return false
	}
	b.cache = p.encoder.rows(b.baselines)
	b.rows = b.cache.rows
	b.have, b.middle, b.oldest = used[0], used[1], used[2]
	r.bases, r.common, r.deepest = append(r.bases, b), 0, 0
	clear(r.uncommon)
	r.listEntries(b.count)
	p.trim()
	return true
}

// matchBaseline moves the rows that the client holds of all of a set of baselines from rest to
// hits, and returns their number.
func (r *rowPlan) matchBaseline(b *rowBaseline) (n int) {
	rest := r.rest
	hits, send := r.hits[:len(rest)], r.send[:len(rest)]
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
			b.count += bits.OnesCount64(hit & send[i])
		}
	}
	return n
}

// assign gives the rows of hits the baseline with index a.
func (r *rowPlan) assign(a uint8) {
	r.baseOf = sized(r.baseOf, len(r.send)*64)
	for i, hit := range r.hits {
		for of := (*[64]uint8)(r.baseOf[i*64:]); hit != 0; hit &= hit - 1 {
			of[bits.TrailingZeros64(hit)&63] = a
		}
	}
}

// listEntries fills entries with all rows; all is their number.
func (r *rowPlan) listEntries(all int) {
	r.entries = sized(r.entries, all+64) // room for what a word's loop writes in vain
	r.baseOf = sized(r.baseOf, len(r.send)*64)
	entries, n := r.entries, 0
	for i, w := range r.send {
		remove, uncommon, slot := r.remove[i], r.uncommon[i], planEntry(i*64)
		w |= remove
		if remove|uncommon == 0 {
			count, slot := bits.OnesCount64(w), slot|planEntry(r.common)<<baseShift
			at := (*[64]planEntry)(entries[n:])
			// By eights: the number of rows in a word is hard to predict.
			for k := 0; k < count; k += 8 {
				to := (*[8]planEntry)(at[k&63&^7:])
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
		for of := (*[64]uint8)(r.baseOf[i*64:]); w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			own := -uint8(uncommon >> bit & 1) // branch-free: which rows are common is hard to predict
			a := of[bit&63]&own | r.common&^own
			entries[n] = slot + planEntry(bit) + planEntry(a)<<baseShift + planEntry(remove>>bit&1)*hidden
			n++
		}
	}
	r.entries, r.at = entries[:n], 0
}

// lowest is the index of the lowest one of a word, or anything for 0.
func lowest(w uint64) planEntry { return planEntry(bits.TrailingZeros64(w | 1<<63)) }

// trim moves the ends of the plan to what is left of it.
func (p *Packer) trim() {
	r := &p.rows
	r.end = 0
	if n := len(p.runs); n > 0 {
		r.end = p.runs[n-1].First + p.runs[n-1].Count
	}
	if n := len(r.entries); n > 0 {
		r.end = max(r.end, r.entries[n-1].slot()/GroupRows+1)
	}
	p.advance()
}

// advance moves to the next group that the plan mentions.
func (p *Packer) advance() {
	r := &p.rows
	r.next = r.end
	if r.at < len(r.entries) {
		r.next = r.entries[r.at].slot() / GroupRows
	}
	if p.next < len(p.runs) {
		r.next = min(r.next, p.runs[p.next].First)
	}
}
