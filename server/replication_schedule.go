package server

import (
	"math/bits"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
)

// rowSchedule schedules rows for a client whose bandwidth is below demand. It takes 2 bytes a slot,
// for clients with a limit alone. A row that waits for snapshot.MaxAge intervals has no baseline
// left, and a little later the client stops showing it. So of the n snapshots in that time:
//
//   - the first third goes by priority alone;
//   - a row that has waited for longer goes before all others;
//   - the rest must carry all rows at their full size: farther rows are clipped, as if hidden.
//
// The room for rows swings with reliable messages, objects and debt. Clipping goes by its mean, so
// that the edge of the visible set stays where it is.
type rowSchedule struct {
	sentAt    []uint16  // by slot: interval in which the row was sent last, or became visible
	visible   []uint64  // rows visible in the last snapshot
	meanBits  int       // mean room for rows in a snapshot
	allSentAt tick.Tick // the last snapshot, if sentAt lacks that it sent all of visible
	full      bool      // the last snapshot by rows had no room for all
	turn      groupTurn // of dueRows in the last snapshot
}

// groupTurn says which groups are due in a snapshot: those whose number is at modulo period, a power
// of two. A period of 0 or 1 is all groups.
type groupTurn struct{ at, period uint8 }

// due reports whether the group of a slot is due.
func (t groupTurn) due(slot int) bool {
	return t.period <= 1 || uint8(slot/snapshot.GroupRows)&(t.period-1) == t.at
}

// alloc makes the memory for a number of words of slots, once.
func (q *rowSchedule) alloc(words int) {
	if q.sentAt == nil {
		q.sentAt, q.visible = make([]uint16, 64*words), make([]uint64, words)
	}
}

func (q *rowSchedule) reset() {
	clear(q.sentAt)
	clear(q.visible)
	q.meanBits, q.allSentAt, q.full, q.turn = 0, 0, false, groupTurn{}
}

// scheduleRows selects the rows of a client with a byte limit. While all of them fit, the client is
// sent what it would be without a limit, and its send state is not kept up: materializeBlocks and
// materializeSchedule make up for that when a snapshot does not fit. After a snapshot that did not
// fit nothing of that is tried: its baselines are the client's alone, and so would be the blocks.
func (r *replication) scheduleRows(now time.Duration, c *connReplication, head int) {
	room := c.pacing.bucket.Room(now, r.spacing(c))
	if r.lowDetail() {
		room /= 2
	}
	q, most := &c.schedule, r.rowBits(room, head)
	q.addMean(most)
	if !q.full {
		sure := !r.objects.more() // else later packets have more objects, of unknown size
		if sure && r.beginBlocks(c, most) {
			c.view.byRow, c.view.selection = false, rowsAll
			return
		}
		if visible := r.lookAtPlayers(c, lookVisible); sure && r.beginAllVisible(c, visible, most) {
			q.alloc(len(visible))
			copy(q.visible, visible)
			q.allSentAt = r.match.Tick()
			return
		}
		r.addPriority(c)
	} else {
		r.lookAtPlayers(c, lookPriority)
	}
	c.view.selection = rowsScheduled
	visible, clipped := r.clipVisible(c, c.view.interest.Visible())
	q.full = r.fitBudget(c, visible, most) || clipped
}

// Shares of a snapshot whose predecessor was full.
const (
	nearShare = 4 // the nearest rows are due in each snapshot and may take this part of the room
	dueExcess = 4 // due rows exceed the room by this part, as some cost less than the mean
)

// dueRows returns which of the visible rows may go into a snapshot whose predecessor was full: the
// nearest ones, the client's opponents, overdue rows, and of the others the groups whose turn it
// is. A group is due once in a period of snapshots, a power of two. So the snapshots that have it
// lie at baseline ages, and clients of one tick share its rows; rows that are sent at any time
// often have no baseline in use. A free camera has no nearest rows: all are due. The result is
// valid until the next call.
func (r *replication) dueRows(c *connReplication, visible []uint64) (due []uint64) {
	p, q, slot := &r.players, &c.schedule, int(c.viewer.slot)
	q.turn = groupTurn{period: 1}
	if !q.full || slot < 0 {
		return visible
	}
	groups, near := p.frames.Groups(), r.choosePeriod(c, popcount(visible))
	if q.turn.period == 1 {
		return visible
	}
	due = p.due[:len(visible)]
	copy(due, p.first)
	for g := int(q.turn.at); g < groups; g += int(q.turn.period) {
		due[g>>2] |= (1<<snapshot.GroupRows - 1) << (g & 3 * snapshot.GroupRows)
	}
	p.places.fill(r)
	p.places.addNear(due, slot, near)
	due[slot>>6] |= 1 << (slot & 63)
	opponents := c.view.opponents(r.match.Tick(), r.cfg.Rules.Rate)
	for i, w := range visible {
		due[i] = (due[i] | opponents[i]) & w
	}
	return due
}

// choosePeriod sets the turn of a snapshot to the shortest period whose due rows fit, and returns
// how many of the nearest rows may be due. Most groups are due before their rows are overdue.
func (r *replication) choosePeriod(c *connReplication, rows int) (near int) {
	q := &c.schedule
	fit := max(q.meanBits, 0) * meanCostShare / max(r.players.meanCost, leastMeanCost)
	fit += fit / dueExcess
	near = fit / nearShare
	_, most := r.waitLimits(c)
	most = min(most, r.players.frames.Groups()/2)
	for 2*int(q.turn.period) <= most && near+rows/int(q.turn.period) > fit {
		q.turn.period *= 2
	}
	snapshots := int(r.intervalOf(r.match.Tick())) / int(r.every(c))
	q.turn.at = uint8(snapshots) & (q.turn.period - 1)
	return near
}

// beginBlocks begins a snapshot of blocks if the client sees all players, the blocks fit into so
// many bits, and the client's bandwidth carries that many rows. Blocks of players that stand still
// take next to nothing; without the last condition, most of them would have to be clipped at once
// when they move.
func (r *replication) beginBlocks(c *connReplication, most int) bool {
	all := r.cfg.Relevance == RelevanceAll || c.viewer.slot < 0 && r.seesAll(c)
	p := &r.players
	return all && !r.lowDetail() && r.frame().Len() <= r.capacity(c) &&
		p.packer.BeginWithin(p.encoder, c.acks.tracker, 0, p.frames.Groups(), most)
}

// beginAllVisible begins a snapshot of all visible rows if they fit into most bits and the
// client's bandwidth carries that many rows.
func (r *replication) beginAllVisible(c *connReplication, visible []uint64, most int) bool {
	p, n := &r.players, popcount(visible)
	if n > r.capacity(c) {
		return false
	}
	if p.encoder.MaxBits(n)+blockOverheadBits*p.frames.Groups() <= most { // they fit in any case
		r.beginPlayerRows(c, visible)
		return true
	}
	return p.packer.BeginRowsWithin(p.encoder, c.acks.tracker, p.interest.withEmpty(visible), most)
}

// meanShare is the part of the mean that the newest snapshot has: a mean over a third of a
// baseline's life.
const meanShare = snapshot.MaxAge / 3

// addMean adds the room of a snapshot for rows to the mean.
func (q *rowSchedule) addMean(most int) {
	if q.meanBits == 0 {
		q.meanBits = max(most, 0)
	}
	q.meanBits += (most - q.meanBits) / meanShare
}

// waitLimits is how many snapshots the client gets in the life of a baseline, and for how many of
// them a row may wait by priority.
func (r *replication) waitLimits(c *connReplication) (all, wait int) {
	all = max(1, snapshot.MaxAge/int(r.every(c)))
	return all, all / 3
}

// waitLimit is the number of intervals after which a row goes before all others.
func (r *replication) waitLimit(c *connReplication) uint16 {
	_, wait := r.waitLimits(c)
	return uint16(wait * int(r.every(c)))
}

// capacity is how many rows the client's bandwidth carries, each at its full size.
func (r *replication) capacity(c *connReplication) int {
	all, wait := r.waitLimits(c)
	perSnapshot := c.schedule.meanBits - fullRowBits/2 // half a row stays free
	return max(1, perSnapshot*(all-wait)/fullRowBits)
}

// materializeSchedule brings sentAt up to date after a snapshot that sent all visible rows.
func (r *replication) materializeSchedule(c *connReplication) {
	if q := &c.schedule; q.allSentAt != 0 {
		q.markSent(q.visible, r.intervalOf(q.allSentAt))
		q.allSentAt = 0
	}
}

// materializeBlocks sets the send state to what it would be had the last snapshot of blocks gone
// row by row: all rows were visible, and sent. If the frame is too old to be known, all rows wait
// since then.
func (r *replication) materializeBlocks(c *connReplication) {
	v, q := &c.view, &c.schedule
	if v.blocks == 0 {
		return
	}
	frame := r.players.frames.At(v.blocks)
	q.alloc(r.players.interest.grid.Words())
	clear(q.visible)
	for slot := range r.players.interest.ids {
		if frame == nil || frame.ID(slot) != 0 {
			q.visible[slot>>6] |= 1 << (slot & 63)
		}
	}
	v.interest.MarkAllSent(q.visible)
	q.allSentAt, v.blocks = v.blocks, 0
}

// clipVisible clips the visible rows to the nearest ones that the client's bandwidth carries. Rows
// that were visible before count as a fifth nearer, so that rows at the edge do not come and go. A
// free camera has no nearest rows: all take turns.
func (r *replication) clipVisible(c *connReplication, visible []uint64) (_ []uint64, clipped bool) {
	q, now, own := &c.schedule, r.intervalOf(r.match.Tick()), int(c.view.viewpoint)
	q.alloc(len(visible))
	r.materializeSchedule(c)
	carried := r.capacity(c)
	if clipped = own >= 0 && popcount(visible) > carried; clipped {
		r.players.selectNearest(visible, q.visible, own, carried)
		visible = r.players.nearest
		r.stats.Count[metrics.SnapshotsClipped].Inc()
	}
	for i, w := range visible {
		for fresh := w &^ q.visible[i]; fresh != 0; fresh &= fresh - 1 {
			q.sentAt[i*64+bits.TrailingZeros64(fresh)] = now
		}
		q.visible[i] = w
	}
	return visible, clipped
}

// markSent notes that rows were sent in an interval.
func (q *rowSchedule) markSent(rows []uint64, interval uint16) {
	for i, w := range rows[:min(len(rows), len(q.visible))] {
		for ; w != 0; w &= w - 1 {
			q.sentAt[i*64+bits.TrailingZeros64(w)] = interval
		}
	}
}

// findOverdue finds the visible rows that have waited for too long.
func (r *replication) findOverdue(c *connReplication, visible []uint64) {
	q, p := &c.schedule, &r.players
	p.overdue = p.overdue[:0]
	clear(p.first)
	if q.sentAt == nil || c.pacing.bucket.Rate() == 0 {
		return
	}
	now := r.intervalOf(r.match.Tick())
	limit := r.waitLimit(c)
	for i, w := range visible {
		for sentAt := (*[64]uint16)(q.sentAt[i*64:]); w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			if waited := now - sentAt[bit&63]; waited >= limit {
				p.overdue = append(p.overdue, uint32(^waited)<<16|uint32(i*64+bit))
				p.first[i] |= w & -w
			}
		}
	}
}

// pickOverdue picks the rows of findOverdue, the longest wait first, while they fit. It returns the
// bits that are left. The costs of picked rows become 0.
func (p *playerRows) pickOverdue(left int) int {
	s := &p.interest
	slices.Sort(p.overdue)
	for _, key := range p.overdue {
		slot := int(key & 0xffff)
		if int(s.cost[slot]) > left {
			break
		}
		left -= int(s.cost[slot])
		s.cost[slot] = 0
		s.pick[slot>>6] |= 1 << (slot & 63)
	}
	return left
}
