package snapshot

// Reserve makes room for snapshots of rows of up to slots slots, so that packing never allocates.
// Call it for a plane that is empty at first.
func (p *Packer) Reserve(slots int) {
	groups := (slots + GroupRows - 1) / GroupRows
	words := (groups + wordGroups - 1) / wordGroups
	r := &p.rows
	p.runs, r.spans = make([]Run, 0, 2*groups), make([]Run, 0, 2*groups)
	for _, set := range []*[]uint64{&r.send, &r.remove, &r.uncommon, &r.rest, &r.hits, &r.unchanged,
		&r.sentOnce, &r.planned} {
		*set = make([]uint64, words)
	}
	r.wholeSets = make([]uint64, Window*words)
	r.bases = make([]rowBaseline, 0, 2*len(baselineAges)+1)
	r.baseOf, r.entries = make([]uint8, words*64), make([]planEntry, words*64+64)
	r.buf = make([]byte, 0, 1<<12)
}

// Reserve makes room for the blocks of frames of up to slots slots against the baselines of a number
// of clients, which otherwise the first snapshots do.
func (e *Encoder) Reserve(clients, slots int) {
	for range min(1+clients, maxBaselineSets) - len(e.caches) {
		e.caches = append(e.caches, e.newCache())
	}
	groups := min((slots+GroupRows-1)/GroupRows, e.groups)
	e.reserveBlocks(groups, groups)
}

// reserveBlocks makes room for a number of groups in all caches that have room for fewer than least.
// A cache that is used for the first time long after the frames have grown then allocates nothing.
func (e *Encoder) reserveBlocks(least, groups int) {
	for _, c := range e.caches {
		if c.room < least {
			c.reserve(e, groups)
		}
	}
}

// reserve makes room for every group twice at its largest: coded by itself, and again in a run.
func (c *encodeCache) reserve(e *Encoder, groups int) {
	c.room, c.buf = groups, make([]byte, 0, 2*groups*e.codec.bound+8)
	if c.rows != nil {
		c.reserveLong(e)
	}
}

// reserveLong makes room for the long rows of every group.
func (c *encodeCache) reserveLong(e *Encoder) { c.long = make([]byte, 0, (c.room+1)*e.codec.bound+8) }

// ReserveRows makes room for single rows in all caches, which otherwise the first one does.
func (e *Encoder) ReserveRows() { e.reserveRows() }

// Reserve makes room for row state, which otherwise the first snapshot of rows does.
func (k *Tracker) Reserve() {
	if k.rows.words == 0 {
		k.rows = newRowState(k.groups*GroupRows, k.words)
	}
}

// SingleBaseline makes the tracker name one baseline at a time, never older ones with it: for rows
// that schema.Hold predicts. Fewer sets of baselines are shared by more clients.
func (k *Tracker) SingleBaseline() { k.single = true }
