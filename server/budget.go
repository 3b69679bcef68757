package server

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// joinPhase is how far a connection without a limit is with coming in, or with beginning anew: until it holds the world its snapshots are
// no larger than Config.JoinBytes, and what matters most to it comes first.
type joinPhase uint8

const (
	joinSending joinPhase = iota // not all that it sees has been sent
	joinUnacked                  // it has, but has not acknowledged it; what is not acked is sent in full again, which must not go beyond the bytes, either
	joinDone
)

// choose decides which rows a connection's snapshot is about, after head bytes of its first package are written:
//
//	everybody is told all   blocks that all share; nothing else is looked at
//	it sees all it sees     all of that: in blocks where it can be, or row by row
//	its line is limited     all, in blocks that all share, if it has room for them; else as many rows as it carries, by weight: the others wait
func (l *Lobby) choose(now time.Duration, c *conn, head int) {
	c.repl.view.byRow, c.repl.view.selection, c.repl.view.viewpoint = true, rowsVisible, int32(c.viewpoint())
	all, limited := l.seesAll(c), c.repl.pacing.bucket.Rate() != 0
	whole := all && !limited && (c.roster.spectates || c.in(l))
	if l.cfg.Relevance == RelevanceOff || whole && l.replication.level < overload.LowDetail {
		c.repl.view.byRow, c.repl.view.selection = false, rowsAll
		l.replication.players.packer.Begin(l.replication.players.encoder, c.repl.acks.tracker, 0, l.replication.players.frames.Groups())
		return
	}
	if limited {
		l.ration(now, c, head)
		return
	}
	see := l.look(c, c.repl.join.phase != joinDone)
	switch {
	case c.repl.join.phase != joinDone:
		c.repl.view.selection = rowsJoining
		c.enter(l, l.squeeze(c, see, rowBits(l.cfg.JoinBytes, head)))
	case l.replication.level >= overload.LowDetail:
		c.repl.view.selection = rowsLowDetail
		l.sketch(c, see)
	default:
		l.replication.players.packer.BeginRows(l.replication.players.encoder, c.repl.acks.tracker, l.replication.players.with(see))
	}
}

// enter notes whether a snapshot to a connection who comes in had to leave rows out. Who sees by a grid is in once it has acknowledged
// anything of one that had not; for who sees everybody, in decides.
func (c *conn) enter(l *Lobby, squeezed bool) {
	switch {
	case squeezed:
		c.repl.join.phase = joinSending
	case c.repl.join.phase == joinSending:
		c.repl.join.phase, c.repl.join.completeAt = joinUnacked, l.match.Tick()
	case l.cfg.Relevance == RelevanceGrid && c.repl.acks.sinceResync >= c.repl.join.completeAt:
		c.repl.join.phase = joinDone
	}
}

// in reports whether a connection that sees everybody holds enough for blocks alone: all of the world fits into what a newcomer may be
// sent at once, or it holds each group as a whole.
func (c *conn) in(l *Lobby) bool {
	switch c.repl.join.phase {
	case joinSending:
		if int(l.match.Score().Members[0])+int(l.match.Score().Members[1]) <= int(8*(l.cfg.JoinBytes-minJoinBytes/2)/entryBits) {
			c.repl.join.phase = joinDone
		}
	case joinUnacked:
		if c.lacks(l, 0) {
			break
		}
		c.repl.join.phase, c.repl.join.joinedAt = joinDone, l.match.Tick()
	case joinDone:
		// What it holds is of a few snapshots only, and those may be too old before it has acknowledged others: if it would be
		// sent more than a newcomer may be, it is one again.
		if fresh := c.repl.join.joinedAt != 0 && l.match.Tick()-c.repl.join.joinedAt < freshSeconds*tick.Tick(l.cfg.Rules.Rate); fresh && c.lacks(l, 8*l.cfg.JoinBytes/2) {
			c.repl.join.phase, c.repl.join.joinedAt = joinSending, 0
		}
	}
	return c.repl.join.phase == joinDone
}

// freshSeconds is for how long a connection who has just come in may fall back.
const freshSeconds = 2

// lacks reports whether the groups of which the connection holds no whole take more than so many bits.
func (c *conn) lacks(l *Lobby, bits int) bool {
	for n := range l.replication.players.frames.Groups() {
		if c.repl.acks.tracker.Base(n) == 0 {
			if bits -= snapshot.GroupRows * entryBits; bits < 0 {
				return true
			}
		}
	}
	return false
}

// Sizes that a budget is reckoned with.
const (
	sealBytes    = 1 + 4 + 16                                                                 // of a datagram, until its sequence takes more than 4 bytes
	packageBytes = sealBytes + packet.HeaderSize + 1 + 9 + snapshot.RunBytes + 1 + maxPadding // a package after the first, without rows
)

var (
	// groupBytes is what a package may end short of full; worked out when it is first asked for, so that a tool that trains models
	// for new schemas runs while there are none.
	groupBytes = sync.OnceValue(func() int { return snapshot.MaxGroupBytes(netstate.Trained().Public) })
	entryBits  = fieldBits(netstate.Public) + 24 // a row without a baseline, its generation, gap and change of baseline
)

func fieldBits(s schema.Schema) (n int) {
	for _, f := range s.Fields {
		n += bits.Len32(uint32(f.Max - f.Min))
	}
	return n
}

// rowBits is how many bits of rows go into a snapshot of at most so many bytes of UDP payload whose first package begins with head
// bytes. Packages after the first take their part; as groups are not split, each may end short of full.
func rowBits(bytes, head int) int {
	bytes -= sealBytes + head
	if over := bytes - (packet.MaxPacketSize - head - groupBytes()); over > 0 {
		bytes -= (over/(packet.MaxPacketSize-packageBytes-groupBytes()) + 1) * packageBytes
	}
	return 8 * bytes
}

// squeeze begins a snapshot of the rows of see in so many bits. It reports whether some have to wait.
func (l *Lobby) squeeze(c *conn, see []uint64, most int) bool {
	s := &l.replication.players
	asBlocks := blockBits * l.replication.players.frames.Groups()
	if l.replication.players.encoder.Most(popcount(see))+asBlocks <= most { // as is found below, without weighing
		l.replication.players.packer.BeginRows(l.replication.players.encoder, c.repl.acks.tracker, s.with(see))
		return false
	}
	fixed := l.replication.players.packer.Weigh(l.replication.players.encoder, c.repl.acks.tracker, see, s.cost)
	left, total := most-fixed, 0
	for _, n := range s.cost[:len(see)*64] {
		total += int(n)
	}
	if total+asBlocks <= left { // also if it goes as blocks, which can be shared
		l.replication.players.packer.BeginRows(l.replication.players.encoder, c.repl.acks.tracker, s.with(see))
		return false
	}
	if total <= left {
		return false
	}
	clear(s.pick)
	left = c.repl.schedule.overdue(l, c, see, left)
	c.repl.view.interest.Select(s.cost, left)
	for i, w := range c.repl.view.interest.Selected() {
		s.pick[i] |= w
	}
	l.replication.players.packer.Pick(s.pick)
	l.Stats.Count[metrics.SnapshotsOverBudget].Inc()
	return true
}

// blockBits is what a group can take more as a block than as rows: its head, its empty slots, and up to a whole byte.
const blockBits = 2 + snapshot.GroupRows + 7

// told notes what a snapshot has said, so that it begins to wait anew.
func (l *Lobby) told(c *conn, t tick.Tick) {
	if !l.timer.Off && l.account.snapshots.Due() {
		l.lookUntold(c, t)
	}
	if !c.repl.view.byRow {
		c.repl.view.blocks = t // wake makes of it what follows, if it is ever asked for
		return
	}
	c.repl.view.blocks = 0
	if c.repl.pacing.bucket.Rate() == 0 && c.repl.join.phase == joinDone && c.repl.schedule.sentAt == nil || c.repl.schedule.allSentAt == t { // nothing waits
		return
	}
	said := l.replication.players.packer.Said(l.replication.players.said[:0])
	c.repl.view.interest.MarkSent(said)
	if c.repl.schedule.sentAt != nil {
		c.repl.schedule.materialize(l, c)
		c.repl.schedule.markSent(said, c.index(t, l))
	}
}

// index is the number of a send interval.
func (c *conn) index(t tick.Tick, l *Lobby) uint16 { return uint16(t / tick.Tick(l.cfg.SendInterval)) }

// nearest makes near the rows of see that are nearest to a slot's own, itself first. Distances fall into classes of a
// 32nd; of the last class the lowest slots have it.
func (s *crowd) nearest(see, seen []uint64, own, count int) {
	var classes [512]int32
	for i, w := range see {
		for ; w != 0; w &= w - 1 {
			classes[s.class(i*64+bits.TrailingZeros64(w), seen, own)]++
		}
	}
	last := 0
	for ; last < len(classes)-1 && int(classes[last]) <= count; last++ {
		count -= int(classes[last])
	}
	for i, w := range see {
		s.near[i] = 0
		for ; w != 0; w &= w - 1 {
			class := s.class(i*64+bits.TrailingZeros64(w), seen, own)
			if class > last {
				continue
			}
			if class == last {
				if count == 0 {
					continue
				}
				count--
			}
			s.near[i] |= w & -w
		}
	}
}

// class is a logarithm of the distance from a slot's player to own's, 0 for own.
func (s *crowd) class(slot int, seen []uint64, own int) int {
	if slot == own {
		return 0
	}
	dx, dz := s.x[slot]-s.x[own], s.z[slot]-s.z[own]
	d := 1 + float32(dx*dx) + float32(dz*dz)
	if seen[slot>>6]>>(slot&63)&1 != 0 {
		d = max(1, d*0.64)
	}
	const ones = 127 << 4 // the class of 1
	return min(1+int(math.Float32bits(d)>>19)-ones, 511)
}
