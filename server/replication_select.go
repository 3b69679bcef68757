package server

import (
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// rowSelection is how the player rows of a snapshot were selected.
type rowSelection uint8

const (
	rowsAll       rowSelection = iota // all, in blocks that clients share
	rowsVisible                       // all visible rows
	rowsScheduled                     // as many as the byte budget carries
	rowsJoining                       // as many visible rows as Config.JoinBytes carry
	rowsJoinTurns                     // of all rows a part that Config.JoinBytes carry
	rowsTurns                         // the nearest rows and opponents, and others in turn
	rowsTeamTurns                     // all visible rows, but team mates out of sight in turn
	rowsLowDetail                     // fewer of the nearest rows, and others in turn: overload
)

// selectRows selects the player rows of the client's snapshot. The first packet has head bytes
// already.
//
//	all players are visible, no limit    blocks that clients share; no visibility is computed; in a
//	                                     large lobby half of the far players, see rowTurns
//	some are hidden, no limit            all visible rows; blocks for whole visible groups; of a
//	                                     large team half of those out of sight, see rowTurns
//	byte limit                           all visible rows if they fit; else by priority
//
// Until a client without a byte limit holds the world, or holds it again after a resync, its
// snapshots take no more than Config.JoinBytes each: rows take turns, or go by priority where some
// are hidden.
func (r *replication) selectRows(now time.Duration, c *connReplication, head int) {
	v := &c.view
	v.byRow, v.selection, v.viewpoint = true, rowsVisible, c.viewer.slot
	limited := c.pacing.bucket.Rate() != 0
	all := r.cfg.Relevance == RelevanceOff || r.seesAll(c) && !limited && !r.lowDetail()
	switch {
	case all && r.cfg.Relevance != RelevanceOff && !r.joined(c):
		c.join.sent++
		r.selectTurns(c, rowsJoinTurns, nil)
	case all && r.cfg.Relevance != RelevanceOff && c.join.turns > 1:
		r.selectTurns(c, rowsTurns, nil)
	case all:
		v.byRow, v.selection = false, rowsAll
		r.players.packer.Begin(r.players.encoder, c.acks.tracker, 0, r.players.frames.Groups())
	case limited:
		r.scheduleRows(now, c, head)
	case !c.join.done && !r.seesAll(c):
		v.selection = rowsJoining
		c.join.sent++
		visible := r.lookAtPlayers(c, lookPriority)
		r.advanceJoin(c, r.fitBudget(c, visible, r.rowBits(r.cfg.JoinBytes, head)))
	default:
		r.selectVisible(c)
	}
}

// selectVisible begins a snapshot of visible rows for a client without a byte limit.
func (r *replication) selectVisible(c *connReplication) {
	switch visible := r.lookAtPlayers(c, lookVisible); {
	case r.lowDetail():
		r.selectTurns(c, rowsLowDetail, visible)
	case r.takesTeamTurns(c):
		r.selectTeamTurns(c, visible)
	default:
		r.beginPlayerRows(c, visible)
	}
}

// beginPlayerRows begins a snapshot of all rows of a set.
func (r *replication) beginPlayerRows(c *connReplication, visible []uint64) {
	r.players.packer.BeginRows(r.players.encoder, c.acks.tracker, r.players.interest.withEmpty(visible))
}

// Sizes of packets, in bytes.
const (
	// sealBytes are the encryption's of a datagram whose sequence takes 4 bytes.
	sealBytes = 1 + 4 + 16

	// packetBytes are those of a packet after the first, without rows.
	packetBytes = sealBytes + packet.HeaderSize + 1 + 9 + snapshot.RunBytes + 1 + maxPadding
)

// blockOverheadBits is what a group takes more as a block than as rows: head, empty slots, padding.
const blockOverheadBits = 2 + snapshot.GroupRows + 7

// fullRowBits is a row without a baseline, with its generation, gap and change of baseline.
var fullRowBits = schemaBits(netstate.Public) + 24

func schemaBits(s schema.Schema) (n int) {
	for _, f := range s.Fields {
		n += bits.Len32(uint32(f.Max - f.Min))
	}
	return n
}

// rowBits is the number of bits for rows in a snapshot of bytes of UDP payload whose first
// packet begins with head bytes. Each packet after the first takes its own head, and any packet may
// end short of full.
func (r *replication) rowBits(bytes, head int) int {
	bytes -= sealBytes + head
	if over := bytes - (packet.MaxPacketSize - head - r.groupBytes); over > 0 {
		bytes -= (over/(packet.MaxPacketSize-packetBytes-r.groupBytes) + 1) * packetBytes
	}
	return 8 * bytes
}

// fitBudget begins a snapshot of the visible rows in most bits, by priority if they do not all
// fit. It reports whether some have to wait.
func (r *replication) fitBudget(c *connReplication, visible []uint64, most int) (leftOut bool) {
	p, s := &r.players, &r.players.interest
	asBlocks := blockOverheadBits * p.frames.Groups()
	if p.encoder.MaxBits(popcount(visible))+asBlocks <= most { // they fit whatever their costs
		r.beginPlayerRows(c, visible)
		return false
	}
	p.packer.BeginSelect(p.encoder, c.acks.tracker, visible)
	r.findOverdue(c, visible)
	due := r.dueRows(c, visible)
	waits := c.schedule.turn.period > 1
	total, left, all := p.weigh(c.view.interest, due, p.first, weighing{most, c.schedule.full})
	if all && !waits && total+asBlocks <= left { // also as blocks, which clients share
		r.beginPlayerRows(c, visible)
		return false
	}
	if all && total <= left {
		return waits
	}
	clear(s.pick)
	left = p.pickOverdue(left)
	c.view.interest.SelectAmong(s.among, s.cost, left)
	s.pickSelected(c.view.interest.Selected())
	p.packer.Select(s.pick)
	r.stats.Count[metrics.SnapshotsOverBudget].Inc()
	return true
}

// weighing is the room for the rows of a snapshot. If the last snapshot was full, not all rows are
// weighed.
type weighing struct {
	most int // bits
	full bool
}

const (
	meanCostShare = 64                 // the newest snapshot has this part of the mean
	leastMeanCost = 16 * meanCostShare // that is assumed
)

// weigh computes the costs of rows that the packer has planned. Where the last snapshot was full, it
// weighs those of the highest priority, and the rows of first, until they exceed the room: others
// cannot be chosen. It returns the sum of the costs, the room in bits that is left for them, and
// whether all rows were weighed.
func (p *replicatedRows) weigh(
	view *interest.Client, rows, first []uint64, w weighing,
) (total, left int, all bool) {
	s, n := &p.interest, popcount(rows)
	count := max(w.most, 0)*meanCostShare/max(p.meanCost, leastMeanCost)*5/4 + snapshot.GroupRows/2
	if !w.full {
		count = n
	}
	for ; ; count *= 2 {
		if all = count >= n; all {
			copy(s.among, rows)
		} else {
			view.Shortlist(s.among, rows, count)
			for i, f := range first {
				s.among[i] |= f
			}
		}
		sum, fixed := p.packer.Weigh(s.among[:len(rows)], s.cost)
		p.noteCost(sum, popcount(s.among[:len(rows)]))
		if left = w.most - fixed; all || sum > left {
			return sum, left, all
		}
	}
}

// noteCost adds the weight of rows to the mean.
func (p *replicatedRows) noteCost(bits, rows int) {
	if rows > 0 {
		p.meanCost += bits/rows - p.meanCost/meanCostShare
	}
}

// pickSelected adds a set to the picked rows.
func (s *interestSet) pickSelected(selected []uint64) {
	for i, w := range selected {
		s.pick[i] |= w
	}
}

// markPlayersSent resets the priority of the rows that the snapshot has sent.
func (r *replication) markPlayersSent(c *connReplication) {
	v, t := &c.view, r.match.Tick()
	if !v.byRow {
		v.blocks = t // materializeBlocks computes the rest if it is ever needed
		return
	}
	v.blocks = 0
	q := &c.schedule
	unlimited := c.pacing.bucket.Rate() == 0 && v.selection != rowsJoining && q.sentAt == nil
	if unlimited || q.allSentAt == t { // no row waits
		return
	}
	sent := r.players.packer.SentRows(r.players.interest.sent[:0])
	v.interest.MarkSent(sent)
	if q.sentAt != nil {
		r.materializeSchedule(c)
		q.markSent(sent, r.intervalOf(t))
	}
}

// lowDetail reports whether snapshots are of low detail, see rowTurns.
func (r *replication) lowDetail() bool { return r.loadLevel >= overload.LowDetail }
