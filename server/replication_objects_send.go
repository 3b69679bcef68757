package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// objectSelection is how the objects of a snapshot were selected.
type objectSelection uint8

const (
	objectsNone      objectSelection = iota // the map has no objects
	objectsUnchanged                        // none: the client has all of them as they are
	objectsAll                              // all, in blocks
	objectsVisible                          // all visible objects
	objectsBudget                           // as many visible objects as the byte budget carries
	objectsTurn                             // none: the budget is tight, and objects go in the next snapshot
	objectsJoinTurns                        // a part of all, and own flights, until the client holds all
)

// objectPart is the part about objects of the snapshot at hand.
type objectPart struct {
	open  bool // there is one
	byRow bool // rows were selected, so that others may wait
}

// objectAcks is what one client holds of objects and how those of its newest snapshot were
// selected.
type objectAcks struct {
	tracker     *snapshot.Tracker
	view        *interest.Client // nil until the first look
	selection   objectSelection
	joined      bool      // the client holds all objects, or may be sent them at once
	turns       uint8     // of objectsJoinTurns; 0: none yet
	savedBytes  int       // of a limited budget, kept for objects
	completeAt  tick.Tick // first snapshot that left out nothing, 0: none
	blocksSince tick.Tick // first of the snapshots in blocks up to the newest, 0: the newest is not
	allSentAt   tick.Tick // newest snapshot in blocks, if none went row by row since; else 0
	full        bool      // the last snapshot by rows had no room for all
	tight       bool      // it had no room to send unchanged objects again
	unchanged   []uint64  // rows that the newest snapshot left out because the client holds them
	wholeAcked  tick.Tick // newest snapshot in blocks that was acknowledged whole, 0: none
}

func newObjectAcks(c *Config) objectAcks {
	k := snapshot.NewTracker(netstate.ObjectSlots(c.Players), tick.Tick(c.SendInterval))
	k.SingleBaseline() // a flight is sent once: its row is not predicted
	return objectAcks{tracker: k, unchanged: make([]uint64, 0, (netstate.ObjectSlots(c.Players)+63)/64)}
}

// reset empties the acks for a new client. The memory stays.
func (a *objectAcks) reset() {
	if a.view != nil {
		a.view.Reset()
	}
	a.tracker.Reset()
	*a = objectAcks{tracker: a.tracker, view: a.view, unchanged: a.unchanged[:0]}
}

// dropBaselines makes the next snapshots begin anew.
func (a *objectAcks) dropBaselines() {
	a.tracker.Forget()
	a.joined, a.turns, a.completeAt, a.blocksSince, a.wholeAcked = false, 0, 0, 0, 0
}

// acked notes that groups of the snapshot of tick t have arrived.
func (a *objectAcks) acked(o *objectRows, t tick.Tick, groups groupRange) {
	a.tracker.Acked(t, groups.first, groups.count)
	a.joined = a.joined || a.completeAt != 0 && t >= a.completeAt // few rows lack a baseline: all were sent
	v := o.versionAt(t)
	whole := groups.first == 0 && v.tick != 0 && groups.count == v.groups
	if whole && a.blocksSince != 0 && t >= a.blocksSince && t > a.wholeAcked {
		a.wholeAcked = t
	}
}

// Shares of the bytes of a snapshot.
const (
	joinObjectsShare    = 3 // objects may take Config.JoinBytes divided by this
	limitedObjectsShare = 8 // likewise of a limited budget
)

const (
	objectPartHead    = 2 + 4               // most bytes of a part before its runs
	objectsMaxAge     = snapshot.MaxAge / 2 // intervals until unchanged objects are sent again
	ownFlightsBytes   = 128                 // least room for own flights, which clients predict
	fullObjectGenBits = 24                  // generation, gap and change of baseline of a row
)

// fullObjectBits is a row without a baseline.
var fullObjectBits = schemaBits(netstate.Objects) + fullObjectGenBits

// objectBudget returns how many bytes of a snapshot objects may take if it does not send all of them
// at once. head is the number of bytes that its first packet has already. A limited client's share
// for objects is saved until one row fits.
func (r *replication) objectBudget(now time.Duration, c *connReplication, head int) int {
	room := r.cfg.JoinBytes / joinObjectsShare
	if c.pacing.bucket.Rate() != 0 {
		a, all := &c.acks.objects, max(0, c.pacing.bucket.Room(now, r.spacing(c)))
		a.savedBytes = min(a.savedBytes+all/limitedObjectsShare, max(all/2, 2*fullObjectBits/8))
		room = a.savedBytes
	}
	return max(0, min(room, packet.MaxPacketSize-head-r.playerReserve())-objectPartHead)
}

// playerReserve is how many bytes of a first packet are kept for effects and players when there are
// more objects than fit.
func (r *replication) playerReserve() int {
	return snapshot.RunBytes + r.groupBytes + r.effects.reserved
}

// unchanged reports whether the client holds all objects as they are in tick t.
func (o *objectRows) unchanged(a *objectAcks, t tick.Tick) bool {
	if a.wholeAcked == 0 || t-a.wholeAcked >= objectsMaxAge*o.interval {
		return false
	}
	v := o.versionAt(a.wholeAcked)
	return v.tick != 0 && v.version == o.versionAt(t).version
}

// beginObjects selects the objects of the client's snapshot: all in blocks that clients share, if
// it may have all; else the visible ones, row by row. room limits both for a limited client, and
// single rows for the others, in bytes.
func (r *replication) beginObjects(c *connReplication, room int) {
	o, a, t := r.objects, &c.acks.objects, r.match.Tick()
	o.part, a.unchanged = objectPart{}, a.unchanged[:0]
	if a.selection = objectsNone; o.frames.Groups() == 0 {
		return
	}
	if o.unchanged(a, t) {
		a.selection = objectsUnchanged
		return
	}
	if r.objectsWait(c) {
		a.selection = objectsTurn
		return
	}
	a.tracker.Advance(t)
	grid, limited := r.cfg.Relevance == RelevanceGrid, c.pacing.bucket.Rate() != 0
	if !grid && r.beginObjectBlocks(c, room) {
		o.part.open, a.selection, a.allSentAt = true, objectsAll, t
		if a.blocksSince == 0 {
			a.blocksSince = t
		}
		return
	}
	a.blocksSince, a.wholeAcked, a.selection = 0, 0, objectsBudget
	switch {
	case limited:
		o.part.byRow = true
		r.scheduleObjects(c, room)
	case !grid:
		r.beginObjectTurns(c)
	case a.joined:
		o.packer.BeginRows(o.encoder, a.tracker, o.inGroups(r.lookAtObjects(c, lookVisible)))
		a.selection = objectsVisible
	default:
		o.part.byRow = true
		if a.full = o.fitBudget(c, r.lookAtObjects(c, lookPriority), 8*room); !a.full && a.completeAt == 0 {
			a.completeAt = t
		}
	}
	if a.full && o.part.byRow {
		a.completeAt = 0
	}
	if a.full && o.part.byRow || a.selection == objectsJoinTurns {
		r.stats.Count[metrics.ObjectsOverBudget].Inc()
	}
	o.part.open = !o.packer.Done()
}

// objectsCaughtUp reports whether a client without a byte limit that sees all objects is sent them
// in blocks: all of them fit the room, or nearly all groups have baselines. For players joined does.
func (r *replication) objectsCaughtUp(c *connReplication, room int) bool {
	o, a := r.objects, &c.acks.objects
	if a.joined {
		return true
	}
	groups, most := o.frames.Groups(), 8*room
	fit := popcount(o.table.used)*fullObjectBits <= most
	lacks := func(turns uint8) bool {
		return r.lacking(c, a.tracker, groups, int(turns))*snapshot.GroupRows*fullObjectBits > most
	}
	switch {
	case fit:
		a.turns = 1
	case a.turns == 0:
		a.turns = uint8(turnsWithin(groups*snapshot.GroupRows*fullObjectBits, most))
	case !lacks(max(1, a.turns/2)):
		a.turns = max(1, a.turns/2)
	}
	a.joined = fit || a.turns == 1 && !lacks(1)
	return a.joined
}

// beginObjectTurns begins a part about the groups whose turn it is, and the flights of the client's
// player.
func (r *replication) beginObjectTurns(c *connReplication) {
	o, a := r.objects, &c.acks.objects
	turns, groups := int(a.turns), o.frames.Groups()
	part := snapshot.Part{Picked: o.ownFlights(c), Spacing: turns}
	part.First, part.End = joinPart(r.partDue(c, turns), turns, groups)
	o.packer.BeginPart(o.encoder, a.tracker, &part)
	a.selection, a.allSentAt = objectsJoinTurns, 0
}

// objectTurns is how many snapshots of a client have objects once while its budget has no room for
// all of them. Their bytes are saved up meanwhile, and the others take less time.
const objectTurns = 2

// objectsWait reports whether objects wait for the next snapshot. New flights of the client's player
// do not wait. Clients whose snapshots are due in one tick take different turns.
func (r *replication) objectsWait(c *connReplication) bool {
	a := &c.acks.objects
	if !a.tight || !a.full || c.pacing.bucket.Rate() == 0 || c.viewer.slot < 0 {
		return false
	}
	turn := int(r.intervalOf(r.match.Tick()))/int(r.every(c)) + int(c.viewer.slot)/r.cfg.SendInterval
	if turn%objectTurns == 0 {
		return false
	}
	d := &r.objects.space
	if r.objects.interest.grid == nil {
		return false
	}
	for slot := d.first[c.viewer.player.Index()]; slot >= 0; slot = d.next[slot] {
		if !a.tracker.MayShow(int(slot)) {
			return false
		}
	}
	return true
}

// beginObjectBlocks begins a part about all objects in blocks, if the client holds enough for
// those, or its limited budget has room for them. A limited client that is tight is not tried.
func (r *replication) beginObjectBlocks(c *connReplication, room int) bool {
	o, a, groups := r.objects, &c.acks.objects, r.objects.frames.Groups()
	switch limited := c.pacing.bucket.Rate() != 0; {
	case r.cfg.Relevance == RelevanceOff || !limited && (r.objectsCaughtUp(c, room) || r.objectBlocksFit()):
		o.packer.Begin(o.encoder, a.tracker, 0, groups)
		return true
	case !limited || a.tight:
		return false
	}
	return o.packer.BeginWithin(o.encoder, a.tracker, 0, groups, 8*room)
}

// objectBlocksFit reports whether all objects fit a join snapshot as blocks, beside players, where
// the codec packs those.
func (r *replication) objectBlocksFit() bool {
	return r.objects.encoder.FullBlocksFit(r.cfg.JoinBytes - minJoinBytes)
}

// scheduleObjects begins a part about the visible objects of a limited client, in room bytes. If all
// of them fit, they are sent as without a limit, and no priorities are kept. Otherwise those that
// the client lacks are sent, by priority.
func (r *replication) scheduleObjects(c *connReplication, room int) {
	o, a, most := r.objects, &c.acks.objects, 8*room
	mode := lookPriority
	if !a.tight {
		mode = lookVisible
	}
	visible := r.lookAtObjects(c, mode)
	if !a.tight {
		_, ok := o.beginAll(a, visible, most)
		if a.full = !ok; ok {
			return
		}
		r.addObjectPriority(c)
	}
	o.packer.BeginChanged(o.encoder, a.tracker, visible, c.acks.sinceResync)
	a.noteUnchanged(o.packer.Unchanged())
	total, left, _ := o.weigh(a.view, o.packer.Planned(), o.ownFlights(c)[:len(o.packer.Planned())], weighing{most, a.full})
	a.tight = total+refreshBits*popcount(a.unchanged) > left
	if a.full = total > left; a.full {
		o.selectObjects(c, left)
	}
}

// refreshBits is about what an object takes that the client holds as it is.
const refreshBits = 24

// noteUnchanged keeps the rows that the snapshot leaves out because the client needs no more of
// them.
func (a *objectAcks) noteUnchanged(rows []uint64) {
	a.unchanged = append(a.unchanged[:0], rows...)
}

// fitBudget begins a part about the visible objects in most bits: the client's own flights
// first, then by priority. It reports whether some have to wait.
func (o *objectRows) fitBudget(c *connReplication, visible []uint64, most int) (leftOut bool) {
	left, ok := o.beginAll(&c.acks.objects, visible, most)
	if !ok {
		o.selectObjects(c, left)
	}
	return !ok
}

// beginAll begins a part about all visible objects, and reports whether they fit in most bits. left
// is the room for rows, in bits.
func (o *objectRows) beginAll(a *objectAcks, visible []uint64, most int) (left int, ok bool) {
	o.packer.BeginSelect(o.encoder, a.tracker, visible)
	total, left, _ := o.weigh(a.view, visible, nil, weighing{most: most})
	if total+blockOverheadBits*o.frames.Groups() <= left {
		o.packer.BeginRows(o.encoder, a.tracker, o.interest.withEmpty(visible))
	}
	return left, total <= left
}

// inGroups adds the empty slots to a set that a grid leaves visible, where static objects make a run
// of groups that can be visible as a whole.
func (o *objectRows) inGroups(visible []uint64) []uint64 {
	if o.table.static < snapshot.MinBlockRun*snapshot.GroupRows {
		return visible
	}
	return o.interest.withEmpty(visible)
}

// ownFlights is the set of the flights of the client's player. It is valid until the next call.
func (o *objectRows) ownFlights(c *connReplication) []uint64 {
	d := &o.space
	clear(d.own)
	for slot := d.first[c.viewer.player.Index()]; slot >= 0; slot = d.next[slot] {
		d.own[slot>>6] |= 1 << (slot & 63)
	}
	return d.own
}

// selectObjects selects weighed objects in room bits: the client's own flights first, then by
// priority.
func (o *objectRows) selectObjects(c *connReplication, room int) {
	s, d, a := &o.interest, &o.space, &c.acks.objects
	clear(s.pick)
	left, own := room, max(room, 8*ownFlightsBytes)
	for slot := d.first[c.viewer.player.Index()]; slot >= 0; slot = d.next[slot] {
		if n := int(s.cost[slot]); n > 0 && n <= own {
			own -= n
			left -= n
			s.cost[slot] = 0
			s.pick[slot>>6] |= 1 << (slot & 63)
		}
	}
	a.view.SelectAmong(s.among, s.cost, max(left, 0))
	s.pickSelected(a.view.Selected())
	o.packer.Select(s.pick)
}

// markSent resets the priority of the objects that the snapshot has sent.
func (o *objectRows) markSent(c *connReplication) {
	if o.part.open && o.part.byRow {
		a := &c.acks.objects
		a.view.MarkSent(o.packer.SentRows(o.interest.sent[:0]))
		a.view.MarkSent(a.unchanged)
	}
}

// more reports whether the snapshot at hand has objects that are not in a packet yet.
func (o *objectRows) more() bool { return o.part.open && !o.packer.Done() }

// appendObjects writes as much of the part about objects as fits into the packet, and returns its
// groups. head says then whether there is one, and ends where it ends.
func (r *replication) appendObjects(
	dst []byte, c *connReplication, head *netstate.Header, ends *metrics.SectionEnds,
) ([]byte, groupRange) {
	room := packet.MaxPacketSize - len(dst)
	if ends.First {
		room -= r.playerReserve()
	}
	before := len(dst)
	dst, groups := r.objects.appendPart(dst, head, room)
	a := &c.acks.objects
	a.savedBytes = max(0, a.savedBytes-(len(dst)-before))
	ends.Objects = uint16(len(dst))
	if head.Objects {
		ends.ObjectHead = uint16(head.ObjectsHeadSize())
	}
	return dst, groups
}

func (o *objectRows) appendPart(dst []byte, head *netstate.Header, room int) (_ []byte, groups groupRange) {
	head.Objects = false
	if !o.more() {
		return dst, groupRange{}
	}
	at := len(dst)
	out := head.AppendObjects(dst)
	body := len(out)
	out, groups.first, groups.count, _ = o.packer.Next(out, room-(body-at))
	if len(out) == body {
		return dst, groupRange{}
	}
	sum := uint32(0)
	if head.Checked {
		sum = o.packer.Sum(&o.sums, groups.first, groups.count)
	}
	head.SealObjects(out, at, sum)
	head.Objects = true
	return out, groups
}
