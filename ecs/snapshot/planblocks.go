package snapshot

// MinBlockRun is the least number of neighbouring groups that go as blocks: fewer cost less as
// rows than as a run.
const MinBlockRun = 4

// planBlocks takes those of groups first to end-1 that can go as blocks out of the rows: their rows
// are all visible, as all are if see is nil. Their baselines lie step intervals apart. Where the
// client holds rows of a group but no snapshot of all of it, the group's empty slots are sent, too:
// the acknowledgement then makes it a whole snapshot.
func (p *Packer) planBlocks(see []uint64, first, end int, step uint8) {
	r := &p.rows
	p.runs, r.spans = sized(p.runs, r.end)[:0], sized(r.spans, r.end)[:0]
	if first == end || see != nil && !anyWhole(see) {
		return
	}
	if r.spans = r.spans[:0]; p.encoder.stored {
		r.spans = append(r.spans, Run{First: first, Count: end - first})
	} else {
		r.spans = r.tracker.runs(r.spans, first, end, step)
	}
	for _, run := range r.spans {
		for run.Count > 0 {
			n := 0
			for n < run.Count && seenWhole(see, run.First+n) &&
				(run.Baselines[0] != 0 || !p.holdsAny(run.First+n)) {
				n++
			}
			if n >= MinBlockRun {
				p.runs = append(p.runs, Run{First: run.First, Count: n, Baselines: run.Baselines})
				r.set(run.First, n, nil)
			} else if n = max(n, 1); run.Baselines[0] == 0 && seenWhole(see, run.First) {
				r.set(run.First, n, p.encoder.frame.occupied)
			}
			run.First += n
			run.Count -= n
		}
	}
}

// anyWhole reports whether any group is visible as a whole.
func anyWhole(see []uint64) bool {
	for _, w := range see {
		if anyFull(w) {
			return true
		}
	}
	return false
}

func seenWhole(see []uint64, g int) bool {
	return see == nil || g>>2 < len(see) && rowsOf(see, g) == allRows
}

// holdsAny reports whether the client holds any row of a group.
func (p *Packer) holdsAny(g int) bool {
	for p.nextBaseline() {
	}
	for _, b := range p.rows.bases {
		if rowsOf(b.have, g) != 0 {
			return true
		}
	}
	return false
}

// set sends all rows of count groups as they are in occupied, or none of them if that is nil.
func (r *rowPlan) set(first, count int, occupied []uint64) {
	for i := first / wordGroups; i*wordGroups < first+count; i++ {
		in := groupMask(i, first, first+count)
		r.send[i] &^= in
		r.remove[i] &^= in
		if occupied != nil {
			r.send[i] |= occupied[i] & in
			r.remove[i] |= in &^ occupied[i]
		}
	}
}
