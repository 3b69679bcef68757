package snapshot

// PacketOverheadBits is what a packet adds to a snapshot of rows: a run's header, which may name
// other baselines than its first row has, and padding.
const PacketOverheadBits = 8*RunBytes + baseBits + 7

// Costs is BeginSelect and Weigh of all rows.
func (p *Packer) Costs(e *Encoder, k *Tracker, see []uint64, cost []uint16) (total, fixed int) {
	p.BeginSelect(e, k, see)
	return p.Weigh(p.rows.planned, cost)
}

// BeginSelect is BeginRows for a client that may get only some of its visible rows. Weigh and then
// Select must follow.
func (p *Packer) BeginSelect(e *Encoder, k *Tracker, see []uint64) {
	k.prefetchRows()
	p.planRows(e, k, see)
	p.runs = p.runs[:0]
	r := &p.rows
	r.planned = append(r.planned[:0], r.send...)
}

// Planned is the rows that the client may be sent. It belongs to the packer.
func (p *Packer) Planned() []uint64 { return p.rows.planned }

// Weigh leaves out the planned rows that are not in among, a bit per slot, and fills cost, by slot,
// with the most bits that each other row can add; 0 for all others. What Next writes takes at most
// fixed bits plus the costs of the selected rows, and PacketOverheadBits for each packet after the
// first. The sum of all costs is total. It may be called again for other rows.
func (p *Packer) Weigh(among []uint64, cost []uint16) (total, fixed int) {
	r := &p.rows
	for i, w := range r.planned {
		if i >= len(among) {
			w = 0
		} else {
			w &= among[i]
		}
		r.send[i] = w
	}
	r.bases, r.age = r.bases[:0], 0
	p.resolveBaselines()
	return p.costs(cost)
}

// Select leaves out the rows that are not in pick, a bit per slot. The client keeps what it has of
// them. Call it after Costs.
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
		r.entries[n] = w // branch-free: the selection is hard to predict
		slot := w.slot()
		n += int((r.send[slot>>6] | r.remove[slot>>6]) >> (slot & 63) & 1)
	}
	r.entries = r.entries[:n]
	p.trim()
}

// switchBits is the cost of a row without the commonest baseline: to name its own, and to go back.
const switchBits = 2 * baseBits

func (p *Packer) costs(cost []uint16) (total, fixed int) {
	r := &p.rows
	major := 0
	for a := range r.bases {
		if r.bases[a].count > r.bases[major].count {
			major = a
		}
	}
	var beside [32]uint16 // by base: bits of a row beside its own
	for a := range r.bases {
		if beside[a&31] = entryBits; a != major {
			beside[a&31] += switchBits
		}
	}
	clear(cost[:min(len(cost), len(r.send)*64)])
	removed := 0
	for i, w := range r.entries {
		if w&hidden != 0 {
			removed++
			continue
		}
		a, slot := w.base(), w.slot()
		b := &r.bases[a]
		s := b.rows[slot]
		if s == 0 {
			s = r.codeRow(p.encoder, i)
		}
		n := uint16(s.size()) + beside[a&31]
		cost[slot] = n
		total += int(n)
	}
	return total, p.encoder.overheadBits(len(r.entries), removed, r.end)
}

// overheadBits bounds the bits of a snapshot beside its visible rows, for a number of entries.
// removed counts the entries that say that a slot is empty.
func (e *Encoder) overheadBits(entries, removed, groups int) int {
	runs := 1 + entries/(MaxRun-GroupRows)
	return PacketOverheadBits*runs + headBits*groups + removed*(1+e.codec.maxGoneBits+entryBits+switchBits)
}

// MaxBits bounds what Costs can return, fixed and all costs together, for any client that sees so
// many rows of the frame. It looks at none of them.
func (e *Encoder) MaxBits(rows int) int {
	slots := e.inUse * GroupRows
	rows = min(rows, slots)
	return e.overheadBits(slots, slots-rows, e.inUse) + rows*(e.codec.maxRowBits+entryBits+switchBits)
}
