package snapshot

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Packer fills datagrams with what one client gets of one snapshot: runs of groups in ascending
// order, each run its header and its blocks or rows. Where the client holds all groups of one
// snapshot, a datagram is one header and one copy. A Packer serves client after client; it
// allocates nothing once it has met the longest list of runs.
//
// A client that may see everything gets Begin, any other BeginRows. BeginPart serves both where some
// rows wait for the next snapshots. For a client with a byte budget, Costs bounds the cost of each
// row and Select leaves rows out:
//
//	total, fixed := packer.Costs(encoder, tracker, see, cost)
//	pick = ...              // most important first, while the sum of cost stays within budget-fixed
//	packer.Select(pick)
//	for !packer.Done() { ... }     // in the order of slots
type Packer struct {
	encoder  *Encoder
	interval tick.Tick
	runs     []Run
	next     int // index into runs: the runs before are packed, this one perhaps in part
	first    int // of the groups that are likely to go as blocks: up to end-1
	end      int
	rows     rowPlan
	changes  changeLog
	noRoom   BudgetError // of Next
}

// Begin turns to a client that gets every row. Its tracker has been advanced to the encoder's
// frame. It gets the groups first to end-1 as far as they are in use.
func (p *Packer) Begin(e *Encoder, k *Tracker, first, end int) {
	p.blocks(e, k, first, end)
	k.whole = true
}

// BeginWithin is Begin for a client with a budget of most bits for all that Next writes, not
// counting RunBytes for each packet after the first. It returns false, and begins nothing, if the
// budget is too small, or if the client holds no whole snapshot of some group: rows are then
// cheaper than a block without a baseline.
func (p *Packer) BeginWithin(e *Encoder, k *Tracker, first, end, most int) bool {
	p.blocks(e, k, first, end)
	for _, run := range p.runs {
		if run.Baselines[0] == 0 && !e.stored {
			return false
		}
	}
	for _, run := range p.runs {
		if most -= 8 * p.bytes(run); most < 0 {
			return false
		}
	}
	k.noteAllRows(e.frame.occupied)
	return true
}

// blocks plans runs of whole groups.
func (p *Packer) blocks(e *Encoder, k *Tracker, first, end int) {
	p.start(e, k)
	p.rows.on = false
	if end = min(end, e.inUse, k.groups); e.stored {
		if p.runs = p.runs[:0]; first < end {
			p.runs = append(p.runs, Run{First: first, Count: end - first})
		}
		return
	}
	p.runs = k.Runs(p.runs[:0], first, end)
}

// bytes is the size of a run as pack writes it.
func (p *Packer) bytes(run Run) (n int) {
	for ; run.Count > 0; run.Count -= MaxRun {
		count := min(run.Count, MaxRun)
		c := p.encoder.cache(run.Baselines)
		if n += RunBytes; p.order(c, run.First, count) {
			n += c.size(run.First, count)
		} else {
			for g := range count {
				n += len(p.encoder.block(c, run.First+g))
			}
		}
		run.First += count
	}
	return n
}

// order makes the blocks of a run lie one after the other, with all that are likely to be sent. It
// returns false, and the run is coded group by group, if the run has less than half of those, or if
// other blocks of the cache lie in order already.
func (p *Packer) order(c *encodeCache, first, count int) bool {
	switch whole := p.end-p.first == p.encoder.inUse; {
	case c.ordered(first, first+count):
		return true
	case 2*count < p.end-p.first, c.to != 0 && !whole:
		return false
	}
	return p.encoder.makeOrdered(c, p.first, p.end, math.MaxInt)
}

func (p *Packer) start(e *Encoder, k *Tracker) {
	if e.Tick() != k.now {
		panic(fmt.Sprintf("snapshot: packer begun with an encoder at tick %d and a tracker at tick %d, want one tick",
			e.Tick(), k.now))
	}
	if e.ring.Span() < MaxAge*k.interval {
		panic(fmt.Sprintf("snapshot: ring reaches %d ticks back, want %d: a tracker names baselines of that age",
			e.ring.Span(), MaxAge*k.interval))
	}
	if slots := k.groups * GroupRows; e.frame.Slots() > slots {
		panic(fmt.Sprintf("snapshot: frame of %d slots, want at most those of the tracker, %d", e.frame.Slots(), slots))
	}
	p.encoder, p.interval, p.next = e, k.interval, 0
	p.first, p.end = 0, e.inUse
}

// Done reports whether everything is packed.
func (p *Packer) Done() bool {
	if p.rows.on {
		return p.rows.next >= p.rows.end
	}
	return p.next == len(p.runs)
}

// BudgetError says that the next group does not fit the budget that Next was given.
type BudgetError struct {
	Group  int
	Budget int // bytes
	Want   int // RunBytes + MaxGroupBytes: with that many every group fits
}

// Error names the group, the budget and what was expected.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("snapshot: group %d does not fit a budget of %d bytes, "+
		"want RunBytes + MaxGroupBytes = %d, with which every group fits", e.Group, e.Budget, e.Want)
}

// Next appends at most budget bytes of runs to dst and returns the groups they are about: count
// from first on, without a gap. No other datagram of this snapshot is about them. No group is ever
// split: where the next one does not fit, nothing is appended, count is 0 and the error is a
// *BudgetError, valid until the next call. That never happens with RunBytes + MaxGroupBytes. A
// caller that fills the rest of a datagram may go on with a new one, any other must give up.
func (p *Packer) Next(dst []byte, budget int) (out []byte, first, count int, err error) {
	if p.Done() {
		return dst, 0, 0, nil
	}
	if p.rows.on {
		out, first, count = p.nextRows(dst, budget)
	} else {
		out, first, count = p.nextBlocks(dst, budget)
	}
	if count == 0 {
		p.noRoom = BudgetError{Group: first, Budget: budget, Want: RunBytes + p.encoder.codec.bound}
		err = &p.noRoom
	}
	return out, first, count, err
}

// nextBlocks is Next for runs of whole groups.
func (p *Packer) nextBlocks(dst []byte, budget int) (out []byte, first, count int) {
	first = p.runs[p.next].First
	limit := len(dst) + budget
	for !p.Done() {
		run := &p.runs[p.next]
		n := 0
		dst, n = p.pack(dst, limit-len(dst), *run)
		count += n
		run.First += n
		run.Count -= n
		switch {
		case n == 0:
			return dst, first, count
		case run.Count == 0:
			p.next++
		}
	}
	return dst, first, count
}

// pack appends as much of a run as one header and room bytes allow, and returns the number of
// groups.
func (p *Packer) pack(dst []byte, room int, run Run) (out []byte, count int) {
	if room -= RunBytes; room <= 0 {
		return dst, 0
	}
	run.Count = min(run.Count, MaxRun)
	c := p.encoder.cache(run.Baselines)
	if !p.order(c, run.First, run.Count) {
		return p.packBlocks(dst, room, run, c)
	}
	if run.Count = c.fit(run.First, run.Count, room); run.Count == 0 {
		return dst, 0
	}
	dst = AppendRun(dst, run, p.encoder.Tick(), p.interval)
	return c.appendBlocks(dst, run.First, run.Count), run.Count
}

// packBlocks is pack for a run of few groups: it codes only what it sends.
func (p *Packer) packBlocks(dst []byte, room int, run Run, c *encodeCache) (out []byte, count int) {
	head := len(dst)
	dst = AppendRun(dst, run, p.encoder.Tick(), p.interval)
	step, most := p.encoder.codec.idleStep(run.Baselines)
	idle := 0 // groups that share the last byte
	for count < run.Count {
		block := p.encoder.block(c, run.First+count)
		switch {
		case len(block) > 1 || block[0] != 0 || step == 0:
			idle = 0
		case idle > 0 && idle < most:
			dst[len(dst)-1] += step
			idle++
			count++
			continue
		default:
			idle = 1
		}
		if len(block) > room {
			break
		}
		dst = append(dst, block...)
		room -= len(block)
		count++
	}
	if count == 0 {
		return dst[:head], 0
	}
	if count < run.Count {
		blocks := dst[head+run.headBytes():]
		run.Count = count
		dst = AppendRun(dst[:head], run, p.encoder.Tick(), p.interval)
		dst = append(dst, blocks...) // in place, or a byte to the left
	}
	return dst, count
}
