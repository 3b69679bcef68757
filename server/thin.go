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

// thin is what a line makes necessary that does not carry all. A row that waits for MaxAge intervals has no baseline any more, and a
// little later the client shows it no longer. So of n snapshots in that time the first third goes by weight alone; a row that
// was not among those goes before all others; and no more rows are in sight than the rest carries, each at its dearest. What one snapshot
// has room for swings with events, things and debts, so it is the mean of many that counts: else the edge of sight would swing, too. It
// takes 2 bytes a slot of connections with a limit.
type thin struct {
	last []uint16  // by slot: the interval in which it was last said, or came in sight
	seen []uint64  // what was in sight in the last snapshot
	room int       // mean bits of a snapshot for rows
	even tick.Tick // of the last snapshot, if it said all that was in sight and last does not say so; else 0
	full bool      // the last snapshot that went row by row had no room for all
}

// reserve makes room for so many words of slots, if there is none.
func (h *thin) reserve(words int) {
	if h.last == nil {
		h.last, h.seen = make([]uint16, 64*words), make([]uint64, words)
	}
}

func (h *thin) reset() {
	clear(h.last)
	clear(h.seen)
	h.room, h.even, h.full = 0, 0, false
}

// ration chooses for a connection with a limit. While its line has room for all that it is to be told it is told as who has none, in blocks or row
// by row, and nobody waits: nothing of what picks rows is kept up, and wake and rise make up for it once it is needed. Where the last
// snapshot had no room for all, nothing is tried first: blocks would be made for this connection alone, against baselines of long ago.
func (l *Lobby) ration(now time.Duration, c *conn, head int) {
	room := c.repl.pacing.bucket.Room(now, c.share(l))
	if l.loadLevel >= overload.LowDetail {
		room /= 2
	}
	h, most := &c.repl.thin, rowBits(room, head)
	h.mean(most)
	if !h.full {
		sure := !l.things.more() // else more of those comes in later packages, and nobody knows how much
		if sure && l.inBlocks(c, most) {
			c.repl.view.byRow, c.repl.view.selection = false, choseAll
			return
		}
		if see := l.look(c, false); sure && l.roomy(c, see, most) {
			h.reserve(len(see))
			copy(h.seen, see)
			h.even = l.match.Tick()
			return
		}
		l.gain(c)
	} else {
		l.look(c, true)
	}
	c.repl.view.selection = choseThin
	see, narrowed := h.fit(l, c, c.repl.view.interest.Seen())
	h.full = l.squeeze(c, see, most) || narrowed
}

// inBlocks begins a snapshot of blocks if the connection sees everybody, and these go into so many bits and are no more than the line carries: blocks
// of players who stand still take next to nothing, and once those move, all that are too many would have to go out of sight at once.
func (l *Lobby) inBlocks(c *conn, most int) bool {
	everybody := l.cfg.Relevance == RelevanceAll || c.repl.view.viewpoint < 0 && l.seesAll(c)
	return everybody && l.loadLevel < overload.LowDetail && l.frames.At(l.match.Tick()).Len() <= c.repl.thin.carries(l, c) &&
		l.packer.BeginWithin(l.encoder, c.repl.acks.tracker, 0, l.frames.Groups(), most)
}

// roomy begins a snapshot of all rows of see if these go into so many bits. False: they may not, or there are more than the line carries.
func (l *Lobby) roomy(c *conn, see []uint64, most int) bool {
	rows := size(see)
	if rows > c.repl.thin.carries(l, c) {
		return false
	}
	if l.encoder.Most(rows)+blockBits*l.frames.Groups() <= most { // without a look at any of them
		l.packer.BeginRows(l.encoder, c.repl.acks.tracker, l.crowd.with(see))
		return true
	}
	return l.packer.BeginRowsWithin(l.encoder, c.repl.acks.tracker, l.crowd.with(see), most)
}

// mean takes the bits of a snapshot for rows into the mean.
func (h *thin) mean(most int) {
	if h.room == 0 {
		h.room = max(most, 0)
	}
	h.room += (most - h.room) / roomShare
}

// carries is how many rows the line carries by its mean, each at its dearest.
func (h *thin) carries(l *Lobby, c *conn) int {
	all, patience := turns(l, c)
	return max(1, (h.room-entryBits/2)*(all-patience)/entryBits) // of each snapshot half a row's room is left over that the next does not fit in
}

// size is how many rows are in a set.
func size(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// rise notes of what was in sight in the last snapshot that it was told then, if all was.
func (h *thin) rise(l *Lobby, c *conn) {
	if h.even != 0 {
		h.said(h.seen, c.index(h.even, l))
		h.even = 0
	}
}

// wake makes of blocks what a look would have left had the last of them gone row by row: all who were there were in sight, and said.
func (c *conn) wake(l *Lobby) {
	if c.repl.view.blocks == 0 {
		return
	}
	h, f := &c.repl.thin, l.frames.At(c.repl.view.blocks)
	h.reserve(l.crowd.grid.Words())
	clear(h.seen)
	for slot := range l.conns {
		if f == nil || f.ID(slot) != 0 { // of so long ago that nobody knows: all wait since
			h.seen[slot>>6] |= 1 << (slot & 63)
		}
	}
	c.repl.view.interest.Caught(h.seen)
	h.even, c.repl.view.blocks = c.repl.view.blocks, 0
}

// roomShare is the part of the mean that the newest snapshot has: a mean over a third of the time that a baseline lasts.
const roomShare = snapshot.MaxAge / 3

// turns is how many snapshots a connection gets in the time that a baseline lasts, and how many of those a row may wait for its weight.
func turns(l *Lobby, c *conn) (all, patience int) {
	all = max(1, snapshot.MaxAge/int(l.every(c)))
	return all, all / 3
}

// fit is what of see the line can carry by its mean: the nearest rows, if those are not all. Those that were in sight count as a fifth
// nearer, so that nobody on the edge comes and goes. Through nobody's eyes nobody is nearer: then all take turns.
func (h *thin) fit(l *Lobby, c *conn, see []uint64) (_ []uint64, narrowed bool) {
	s, now := &l.crowd, c.index(l.match.Tick(), l)
	h.reserve(len(see))
	h.rise(l, c)
	carried := h.carries(l, c)
	if narrowed = c.repl.view.viewpoint >= 0 && size(see) > carried; narrowed {
		s.nearest(see, h.seen, int(c.repl.view.viewpoint), carried)
		see = s.near
		l.Stats.Count[metrics.SnapshotsClipped].Inc()
	}
	for i, w := range see {
		for fresh := w &^ h.seen[i]; fresh != 0; fresh &= fresh - 1 {
			h.last[i*64+bits.TrailingZeros64(fresh)] = now
		}
		h.seen[i] = w
	}
	return see, narrowed
}

// said notes what was said in an interval.
func (h *thin) said(rows []uint64, now uint16) {
	for i, w := range rows[:min(len(rows), len(h.seen))] {
		for ; w != 0; w &= w - 1 {
			h.last[i*64+bits.TrailingZeros64(w)] = now
		}
	}
}

// overdue picks the rows of see whose patience is at its end, those that wait longest first, as far as they fit, and returns the
// room that is left. Their costs are then 0.
func (h *thin) overdue(l *Lobby, c *conn, see []uint64, left int) int {
	if h.last == nil || c.repl.pacing.bucket.Rate() == 0 {
		return left
	}
	s, now := &l.crowd, c.index(l.match.Tick(), l)
	_, patience := turns(l, c)
	wait := uint16(patience * int(l.every(c)))
	s.overdue = s.overdue[:0]
	for i, w := range see {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			if waited := now - h.last[slot]; waited >= wait && s.cost[slot] != 0 {
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
