package snapshot

// PacketOverheadBits is what a package adds to a snapshot of rows beside the rows: a run's header, which may name other baselines than
// the first row has, and padding.
const PacketOverheadBits = 8*RunBytes + baseBits + 7

// Costs is BeginRows for a client that may get only some of the rows it sees: it fills cost, which has room for every slot
// of see, with the most bits that each row can add to the snapshot, 0 for rows that are not seen or not there. What Next
// gives takes at most fixed bits and the cost of the rows that Pick leaves, and PacketOverheadBits more for each package
// after the first.
func (p *Packer) Costs(e *Encoder, k *Tracker, see []uint64, cost []uint16) (fixed int) {
	p.planRows(e, k, see)
	p.runs = p.runs[:0]
	p.resolveBaselines()
	return p.costs(see, cost)
}

// Select leaves out rows that are not in pick, a bit per slot. Nothing is said of them: the client keeps what it holds.
// It belongs to Weigh.
func (p *Packer) Select(pick []uint64) {
	r := &p.rows
	for i := range r.send {
		if i < len(pick) {
			r.send[i] &= pick[i]
		} else {
			r.send[i] = 0
		}
	}
	n := 0
	for _, w := range r.entries { // without a branch: what was picked is hard to guess
		r.entries[n] = w
		slot := w.slot()
		n += int((r.send[slot>>6] | r.remove[slot>>6]) >> (slot & 63) & 1)
	}
	r.entries = r.entries[:n]
	p.trim()
}

// switchBits is what a row costs that does not have the commonest baseline: to it and back.
const switchBits = 2 * baseBits

func (p *Packer) costs(see []uint64, cost []uint16) (fixed int) {
	r := &p.rows
	major := 0
	for a := range r.bases {
		if r.bases[a].count > r.bases[major].count {
			major = a
		}
	}
	var beside [32]uint16 // by base: what a row costs beside its bits
	for a := range r.bases {
		if beside[a&31] = entryBits; a != major {
			beside[a&31] += switchBits
		}
	}
	clear(cost[:len(see)*64])
	hides := 0
	for _, w := range r.entries {
		if w&hidden != 0 {
			hides++
			continue
		}
		a, slot := w.base(), w.slot()
		b := &r.bases[a]
		s := b.rows[slot]
		if s == 0 {
			s = p.encoder.row(b.cache, slot)
		}
		cost[slot] = uint16(s.size()) + beside[a&31]
	}
	return p.encoder.overheadBits(len(r.entries), hides, r.end)
}

// overheadBits is the most bits that a snapshot of so many places takes beside rows that are seen: some say that nobody is there.
func (e *Encoder) overheadBits(places, hides, groups int) int {
	runs := 1 + places/(MaxRun-GroupRows)
	return PacketOverheadBits*runs + headBits*groups + hides*(1+e.codec.maxGoneBits+entryBits+switchBits)
}

// MaxBits is as much as Weigh can find, fixed and all costs together, for anybody who sees so many rows of a frame: without a look at
// any of them.
func (e *Encoder) MaxBits(rows int) int {
	slots := e.inUse * GroupRows
	rows = min(rows, slots)
	return e.overheadBits(slots, slots-rows, e.inUse) + rows*(e.codec.maxRowBits+entryBits+switchBits)
}
