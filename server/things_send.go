package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// thingRoom is how many bytes of a snapshot things may take that does not tell all of them at once. Its first package has head bytes. A
// line that is limited gives them an eighth, which may be saved up until a row fits.
func (l *Lobby) thingRoom(now time.Duration, c *conn, head int) int {
	room := l.cfg.JoinBytes / joinShare
	if c.repl.pacing.bucket.Rate() != 0 {
		all := max(0, c.repl.pacing.bucket.Room(now, c.share(l)))
		c.repl.acks.objects.savedBytes = min(c.repl.acks.objects.savedBytes+all/thingShare, max(all/2, 2*thingBits/8))
		room = c.repl.acks.objects.savedBytes
	}
	return max(0, min(room, packet.MaxPacketSize-head-reserve())-thingHead)
}

// thingHead is what a part about things takes before its runs, at most.
const thingHead = 2 + 4

// refresh is how many intervals old what a connection holds may get while nothing changes: a baseline lasts twice as long.
const refresh = snapshot.MaxAge / 2

// unchanged reports whether the connection holds just what is there.
func (w *objectPlane) unchanged(h *objectAcks, t tick.Tick) bool {
	if h.wholeAcked == 0 || t-h.wholeAcked >= refresh*w.interval {
		return false
	}
	p := w.versionAt(h.wholeAcked)
	return p.tick != 0 && p.version == w.versionAt(t).version
}

// plan decides what the snapshot of tick t tells a connection of things, in room bytes at most if it cannot have all at once. In blocks
// that all share, if it may have all; of what it sees all, or as much as fits, row by row, if not.
func (l *Lobby) plan(c *conn, t tick.Tick, room int) {
	w, h := l.replication.objects, &c.repl.acks.objects
	w.part.open, w.part.all, w.part.byRow = false, false, false
	if h.selection = objectsNone; w.frames.Groups() == 0 {
		return
	}
	if w.unchanged(h, t) {
		h.selection = objectsUnchanged
		return
	}
	h.tracker.Advance(t)
	grid, limited := l.cfg.Relevance == RelevanceGrid, c.repl.pacing.bucket.Rate() != 0
	if !grid && w.blocks(l, c, room) {
		w.part.open, w.part.all, h.selection = true, true, objectsAll
		if h.allSentAt = t; h.blocksSince == 0 {
			h.blocksSince = t
		}
		return
	}
	h.blocksSince, h.wholeAcked, h.selection = 0, 0, objectsBudget
	see := w.scenery.look(l, c, limited || !h.joined)
	if grid && !limited && h.joined {
		w.packer.BeginRows(w.encoder, h.tracker, w.scenery.with(see))
		h.selection = objectsVisible
	} else if w.part.byRow, h.full = true, w.squeeze(c, see, 8*room); h.full {
		h.completeAt = 0
		l.Stats.Count[metrics.ObjectsOverBudget].Inc()
	} else if h.completeAt == 0 && grid && !limited {
		h.completeAt = t
	}
	w.part.open = !w.packer.Done()
}

// blocks begins a part about all things in blocks that all share, if the connection holds enough for those, or its limited line has room for them. A line
// that had no room for all row by row is not asked.
func (w *objectPlane) blocks(l *Lobby, c *conn, room int) bool {
	h, n := &c.repl.acks.objects, w.frames.Groups()
	switch limited := c.repl.pacing.bucket.Rate() != 0; {
	case l.cfg.Relevance == RelevanceOff || !limited && h.caughtUp(w, room):
		w.packer.Begin(w.encoder, h.tracker, 0, n)
		return true
	case !limited || h.full:
		return false
	}
	return w.packer.BeginWithin(w.encoder, h.tracker, 0, n, 8*room)
}

// joinShare is which part of a newcomer's snapshot things may take, and thingShare of that to a connection whose line is limited.
const (
	joinShare  = 3
	thingShare = 8
)

// thingBits is what a row takes at most that has no baseline.
var thingBits = fieldBits(netstate.Objects) + 24

// ownBytes is what a connection's own flights may take at least, whatever there is room for: it has them in its picture by now, and takes what
// it is not told to be refused.
const ownBytes = 128

// squeeze begins a part about the rows of see in so many bits: the connection's own flights first. It reports whether some have to wait.
func (w *objectPlane) squeeze(c *conn, see []uint64, most int) bool {
	d := &w.scenery
	fixed := w.packer.Weigh(w.encoder, c.repl.acks.objects.tracker, see, d.cost)
	left, total := most-fixed, 0
	for _, n := range d.cost[:len(see)*64] {
		total += int(n)
	}
	if total+blockBits*w.frames.Groups() <= left {
		w.packer.BeginRows(w.encoder, c.repl.acks.objects.tracker, d.with(see))
		return false
	}
	clear(d.pick)
	own := max(left, 8*ownBytes)
	for s := d.first(c.id.Index()); s >= 0; s = d.next[s] {
		if n := int(d.cost[s]); n > 0 && n <= own {
			own -= n
			left -= n
			d.cost[s] = 0
			d.pick[s>>6] |= 1 << (s & 63)
		}
	}
	c.repl.acks.objects.view.Select(d.cost, max(left, 0))
	for i, word := range c.repl.acks.objects.view.Selected() {
		d.pick[i] |= word
	}
	w.packer.Pick(d.pick)
	return total > most-fixed
}

// told notes what a snapshot has said, so that it begins to wait anew.
func (w *objectPlane) told(c *conn) {
	if w.part.open && w.part.byRow {
		c.repl.acks.objects.view.MarkSent(w.packer.Said(w.scenery.said[:0]))
	}
}

// more reports whether the snapshot at hand has not told all of things that it is to tell.
func (w *objectPlane) more() bool { return w.part.open && !w.packer.Done() }

// reserve is what a package keeps for the players' rows when there are more things than fit.
func reserve() int { return snapshot.RunBytes + groupBytes() }

// appendPart appends the part about things to a package, and returns which groups it is about; the head says whether there is one.
func (w *objectPlane) appendPart(dst []byte, head *netstate.Header, room int) (_ []byte, groups groupRange) {
	head.Objects = false
	if !w.more() {
		return dst, groupRange{}
	}
	at := len(dst)
	out := head.AppendObjects(dst)
	body := len(out)
	out, groups.first, groups.count = w.packer.Next(out, room-(body-at))
	if len(out) == body {
		return dst, groupRange{}
	}
	sum := uint32(0)
	if head.Checked {
		sum = w.packer.Sum(&w.sums, groups.first, groups.count)
	}
	head.SealObjects(out, at, sum)
	head.Objects = true
	return out, groups
}
