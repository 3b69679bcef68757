package server

import (
	"math/bits"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// schedule is what a line makes necessary that does not carry all. A row that waits for MaxAge intervals has no baseline any more, and a
// little later the client shows it no longer. So of n snapshots in that time the first third goes by weight alone; a row that
// was not among those goes before all others; and no more rows are in sight than the rest carries, each at its dearest. What one snapshot
// has room for swings with events, things and debts, so it is the mean of many that counts: else the edge of sight would swing, too. It
// takes 2 bytes a slot of connections with a limit.
type rowSchedule struct {
	sentAt    []uint16  // by slot: the interval in which it was last said, or came in sight
	visible   []uint64  // what was in sight in the last snapshot
	meanBits  int       // mean bits of a snapshot for rows
	allSentAt tick.Tick // of the last snapshot, if it said all that was in sight and last does not say so; else 0
	full      bool      // the last snapshot that went row by row had no room for all
}

// alloc makes room for so many words of slots, if there is none.
func (h *rowSchedule) alloc(words int) {
	if h.sentAt == nil {
		h.sentAt, h.visible = make([]uint16, 64*words), make([]uint64, words)
	}
}

func (h *rowSchedule) reset() {
	clear(h.sentAt)
	clear(h.visible)
	h.meanBits, h.allSentAt, h.full = 0, 0, false
}

// ration chooses for a connection with a limit. While its line has room for all that it is to be told it is told as who has none, in blocks or row
// by row, and nobody waits: nothing of what picks rows is kept up, and wake and rise make up for it once it is needed. Where the last
// snapshot had no room for all, nothing is tried first: blocks would be made for this connection alone, against baselines of long ago.
func (l *Lobby) ration(now time.Duration, c *conn, head int) {
	room := c.repl.pacing.bucket.Room(now, c.share(l))
	if l.replication.level >= overload.LowDetail {
		room /= 2
	}
	h, most := &c.repl.schedule, rowBits(room, head)
	h.addMean(most)
	if !h.full {
		sure := !l.replication.objects.more() // else more of those comes in later packages, and nobody knows how much
		if sure && l.inBlocks(c, most) {
			c.repl.view.byRow, c.repl.view.selection = false, rowsAll
			return
		}
		if see := l.look(c, false); sure && l.roomy(c, see, most) {
			h.alloc(len(see))
			copy(h.visible, see)
			h.allSentAt = l.match.Tick()
			return
		}
		l.gain(c)
	} else {
		l.look(c, true)
	}
	c.repl.view.selection = rowsScheduled
	see, narrowed := h.clip(l, c, c.repl.view.interest.Visible())
	h.full = l.squeeze(c, see, most) || narrowed
}

// inBlocks begins a snapshot of blocks if the connection sees everybody, and these go into so many bits and are no more than the line carries: blocks
// of players who stand still take next to nothing, and once those move, all that are too many would have to go out of sight at once.
func (l *Lobby) inBlocks(c *conn, most int) bool {
	everybody := l.cfg.Relevance == RelevanceAll || c.repl.view.viewpoint < 0 && l.seesAll(c)
	return everybody && l.replication.level < overload.LowDetail && l.replication.players.frames.At(l.match.Tick()).Len() <= c.repl.schedule.capacity(l, c) &&
		l.replication.players.packer.BeginWithin(l.replication.players.encoder, c.repl.acks.tracker, 0, l.replication.players.frames.Groups(), most)
}

// roomy begins a snapshot of all rows of see if these go into so many bits. False: they may not, or there are more than the line carries.
func (l *Lobby) roomy(c *conn, see []uint64, most int) bool {
	rows := popcount(see)
	if rows > c.repl.schedule.capacity(l, c) {
		return false
	}
	if l.replication.players.encoder.Most(rows)+blockBits*l.replication.players.frames.Groups() <= most { // without a look at any of them
		l.replication.players.packer.BeginRows(l.replication.players.encoder, c.repl.acks.tracker, l.replication.players.with(see))
		return true
	}
	return l.replication.players.packer.BeginRowsWithin(l.replication.players.encoder, c.repl.acks.tracker, l.replication.players.with(see), most)
}

// addMean takes the bits of a snapshot for rows into the mean.
func (h *rowSchedule) addMean(most int) {
	if h.meanBits == 0 {
		h.meanBits = max(most, 0)
	}
	h.meanBits += (most - h.meanBits) / meanShare
}

// capacity is how many rows the line carries by its mean, each at its dearest.
func (h *rowSchedule) capacity(l *Lobby, c *conn) int {
	all, patience := waitLimits(l, c)
	return max(1, (h.meanBits-entryBits/2)*(all-patience)/entryBits) // of each snapshot half a row's room is left over that the next does not fit in
}

// popcount is how many rows are in a set.
func popcount(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// materialize notes of what was in sight in the last snapshot that it was told then, if all was.
func (h *rowSchedule) materialize(l *Lobby, c *conn) {
	if h.allSentAt != 0 {
		h.markSent(h.visible, c.index(h.allSentAt, l))
		h.allSentAt = 0
	}
}

// wake makes of blocks what a look would have left had the last of them gone row by row: all who were there were in sight, and said.
func (c *conn) wake(l *Lobby) {
	if c.repl.view.blocks == 0 {
		return
	}
	h, f := &c.repl.schedule, l.replication.players.frames.At(c.repl.view.blocks)
	h.alloc(l.replication.players.grid.Words())
	clear(h.visible)
	for slot := range l.conns {
		if f == nil || f.ID(slot) != 0 { // of so long ago that nobody knows: all wait since
			h.visible[slot>>6] |= 1 << (slot & 63)
		}
	}
	c.repl.view.interest.MarkAllSent(h.visible)
	h.allSentAt, c.repl.view.blocks = c.repl.view.blocks, 0
}

// meanShare is the part of the mean that the newest snapshot has: a mean over a third of the time that a baseline lasts.
const meanShare = snapshot.MaxAge / 3

// waitLimits is how many snapshots a connection gets in the time that a baseline lasts, and how many of those a row may wait for its weight.
func waitLimits(l *Lobby, c *conn) (all, patience int) {
	all = max(1, snapshot.MaxAge/int(l.every(c)))
	return all, all / 3
}

// clip is what of see the line can carry by its mean: the nearest rows, if those are not all. Those that were in sight count as a fifth
// nearer, so that nobody on the edge comes and goes. Through nobody's eyes nobody is nearer: then all take turns.
func (h *rowSchedule) clip(l *Lobby, c *conn, see []uint64) (_ []uint64, narrowed bool) {
	s, now := &l.replication.players, c.index(l.match.Tick(), l)
	h.alloc(len(see))
	h.materialize(l, c)
	carried := h.capacity(l, c)
	if narrowed = c.repl.view.viewpoint >= 0 && popcount(see) > carried; narrowed {
		s.nearest(see, h.visible, int(c.repl.view.viewpoint), carried)
		see = s.near
		l.Stats.Count[metrics.SnapshotsClipped].Inc()
	}
	for i, w := range see {
		for fresh := w &^ h.visible[i]; fresh != 0; fresh &= fresh - 1 {
			h.sentAt[i*64+bits.TrailingZeros64(fresh)] = now
		}
		h.visible[i] = w
	}
	return see, narrowed
}

// markSent notes what was said in an interval.
func (h *rowSchedule) markSent(rows []uint64, now uint16) {
	for i, w := range rows[:min(len(rows), len(h.visible))] {
		for ; w != 0; w &= w - 1 {
			h.sentAt[i*64+bits.TrailingZeros64(w)] = now
		}
	}
}

// overdue picks the rows of see whose patience is at its end, those that wait longest first, as far as they fit, and returns the
// room that is left. Their costs are then 0.
func (h *rowSchedule) overdue(l *Lobby, c *conn, see []uint64, left int) int {
	if h.sentAt == nil || c.repl.pacing.bucket.Rate() == 0 {
		return left
	}
	s, now := &l.replication.players, c.index(l.match.Tick(), l)
	_, patience := waitLimits(l, c)
	wait := uint16(patience * int(l.every(c)))
	s.overdue = s.overdue[:0]
	for i, w := range see {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			if waited := now - h.sentAt[slot]; waited >= wait && s.cost[slot] != 0 {
				s.overdue = append(s.overdue, uint32(^waited)<<16|uint32(slot))
			}
		}
	}
	slices.Sort(s.overdue)
	for _, key := range s.overdue {
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
