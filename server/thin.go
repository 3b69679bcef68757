package server

import (
	"math/bits"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
)

// thin is what a line makes necessary that does not carry all. A row that waits for MaxAge intervals has no baseline any more, and a
// little later the client shows it no longer. So of n snapshots in that time the first third goes by weight alone; a row that
// was not among those goes before all others; and no more rows are in sight than the rest carries, each at its dearest. What one snapshot
// has room for swings with events, things and debts, so it is the mean of many that counts: else the edge of sight would swing, too. It
// takes 2 bytes a slot of guests with a limit.
type thin struct {
	last []uint16 // by slot: the interval in which it was last said, or came in sight
	seen []uint64 // what was in sight in the last snapshot
	room int      // mean bits of a snapshot for rows
	full bool     // the last snapshot that went row by row had no room for all
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
	h.room, h.full = 0, false
}

// ration chooses for a guest with a limit. Where its line has room for all blocks it is told what others are who have none, and
// nobody waits: nothing of what picks rows is worked out, and wake makes up for it when it is needed. While rows have to wait nobody
// asks for blocks: they would be made for this guest alone, against baselines of long ago.
func (l *Lobby) ration(now time.Duration, g *guest, head int) {
	room := g.bucket.Room(now, g.share(l))
	if l.shed >= ShedDetail {
		room /= 2
	}
	h, most := &g.thin, rowBits(room, head)
	h.mean(most)
	if l.cfg.Relevance == RelevanceAll && g.eyed >= 0 && !h.full && l.shed < ShedDetail && l.packer.BeginWithin(l.encoder, g.tracker, 0, l.frames.Groups(), most) {
		g.byRow, g.chose = false, choseAll
		return
	}
	g.chose = choseThin
	see, narrowed := h.fit(l, g, l.look(g, true))
	h.full = l.squeeze(g, see, most) || narrowed
}

// mean takes the bits of a snapshot for rows into the mean.
func (h *thin) mean(most int) {
	if h.room == 0 {
		h.room = max(most, 0)
	}
	h.room += (most - h.room) / roomShare
}

// wake makes what a guest waits for what it would be had its snapshots gone row by row while they went as blocks: of all who were there
// in the last of those it was told then, and of nobody later.
func (g *guest) wake(l *Lobby) {
	if g.blocks == 0 {
		return
	}
	h, f, then := &g.thin, l.frames.At(g.blocks), g.index(g.blocks, l)
	h.reserve(l.crowd.grid.Words())
	clear(h.seen)
	for slot := range l.guests {
		if f == nil || f.ID(slot) != 0 { // of so long ago that nobody knows: all wait since
			h.seen[slot>>6] |= 1 << (slot & 63)
			h.last[slot] = then
		}
	}
	g.eyes.Caught(h.seen)
	if l.match.Tick() >= g.turned { // nobody turned the sets of its fights either: what they have of late is still hot
		now := g.fights[len(g.fights)/2:]
		for i := range now {
			now[i] &= l.crowd.hot[i]
		}
	}
	g.blocks = 0
}

// roomShare is the part of the mean that the newest snapshot has: a mean over a third of the time that a baseline lasts.
const roomShare = snapshot.MaxAge / 3

// turns is how many snapshots a guest gets in the time that a baseline lasts, and how many of those a row may wait for its weight.
func turns(l *Lobby, g *guest) (all, patience int) {
	all = max(1, snapshot.MaxAge/int(l.every(g)))
	return all, all / 3
}

// fit is what of see the line can carry by its mean: the nearest rows, if those are not all. Those that were in sight count as a fifth
// nearer, so that nobody on the edge comes and goes.
func (h *thin) fit(l *Lobby, g *guest, see []uint64) (_ []uint64, narrowed bool) {
	s, now := &l.crowd, g.index(l.match.Tick(), l)
	h.reserve(len(see))
	count := 0
	for _, w := range see {
		count += bits.OnesCount64(w)
	}
	all, patience := turns(l, g)
	carried := max(1, (h.room-entryBits/2)*(all-patience)/entryBits) // of each snapshot half a row's room is left over that the next does not fit in
	if narrowed = count > carried; narrowed {
		s.nearest(see, h.seen, max(0, l.eye(g)), carried)
		see = s.near
		l.Stats.Count[Narrowed].Inc()
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
func (h *thin) overdue(l *Lobby, g *guest, see []uint64, left int) int {
	if h.last == nil || g.bucket.Rate() == 0 {
		return left
	}
	s, now := &l.crowd, g.index(l.match.Tick(), l)
	_, patience := turns(l, g)
	wait := uint16(patience * int(l.every(g)))
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
