package server

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/snapshot"
)

// A join burst is the snapshots of a client without a byte limit until it holds the world. Each of
// them takes at most Config.JoinBytes. Where walls or distance hide players from the client, rows
// go by priority (advanceJoin). Where none are hidden, the groups are sent in turns (joined): with
// four turns, each snapshot has a quarter of the groups, and each group is in every fourth
// snapshot.

// advanceJoin updates the join burst of a client from which players are hidden, after a snapshot.
// The burst is over when the client acknowledges a packet of that snapshot or a later one, once a
// snapshot had room for everything.
func (r *replication) advanceJoin(c *connReplication, leftOut bool) {
	j := &c.join
	switch {
	case leftOut:
		j.completeAt = 0
	case j.completeAt == 0:
		j.completeAt = r.match.Tick()
	case c.acks.sinceResync >= j.completeAt:
		*j = connJoin{done: true}
	}
}

// Divisors of Config.JoinBytes. They bound the bytes of groups for which the client has no
// baseline.
const (
	lackingShare = 8 // below an eighth, the burst is over
	expiredShare = 2 // above a half, another begins
)

// joined reports whether a client that may see all players is past its join burst, and updates the
// number of its turns, j.turns, which is 0 until the first snapshot. In order:
//
//	nearly all groups would have baselines in half as many turns   the turns halve
//	all players fit into one snapshot without baselines            the burst is over
//	it is the first snapshot, or many baselines have expired       a burst begins
//	nearly all groups have baselines in two turns                  the burst is over
//
// A client with a round trip of more than three send intervals keeps two turns: of the greater ages
// of baselines only even ones are in use. A client that acknowledges a part of each snapshot only
// begins burst after burst, which unackedTooLong slows down.
func (r *replication) joined(c *connReplication) bool {
	j, least := &c.join, r.leastTurns(c)
	most := max(least, farTurns) // turns of a client past its burst
	switch fewer := max(least, j.turns/2); {
	case j.turns != 0 && !r.lacks(c, fewer, lackingShare):
		j.turns = fewer
		j.done = j.done || fewer <= most
	case r.worldFits():
		j.done, j.turns = true, least
	case j.turns == 0 || j.done && r.lacks(c, j.turns, expiredShare):
		*j = connJoin{turns: uint8(r.joinTurns().turns), sent: j.sent}
	case j.turns <= most && !r.lacks(c, j.turns, lackingShare):
		j.done = true
	}
	if j.done {
		j.sent = 0
	}
	return j.done
}

// After unackedForTwo snapshots without an acknowledgement a client has at least two turns, and
// after twice as many four.
const unackedForTwo = 8

// leastTurns is the least number of turns of a client that may see all players. A client that
// acknowledges seldom has more: changes since old baselines take more bytes, so it is sent fewer.
func (r *replication) leastTurns(c *connReplication) uint8 {
	turns := uint8(1) << min(c.acks.unacked/unackedForTwo, 2)
	if r.takesTurns() {
		return max(turns, farTurns)
	}
	return turns
}

// worldFits reports whether all players fit into one join snapshot without baselines. Half of the
// least JoinBytes is kept for what else a snapshot has.
func (r *replication) worldFits() bool {
	members, most := r.match.Score().Members, r.cfg.JoinBytes-minJoinBytes/2
	return int(members[0])+int(members[1]) <= 8*most/fullRowBits || r.players.encoder.FullBlocksFit(most)
}

// lacks reports whether groups without a baseline, sent in a number of turns, take more than
// Config.JoinBytes divided by share.
func (r *replication) lacks(c *connReplication, turns uint8, share int) bool {
	n := r.lacking(c, c.acks.tracker, r.players.frames.Groups(), int(turns))
	return n*snapshot.GroupRows*fullRowBits > 8*r.cfg.JoinBytes/share
}

// lacking is the number of groups that will have no baseline of a tracker when they are next sent,
// in a number of turns.
func (r *replication) lacking(c *connReplication, k *snapshot.Tracker, groups, turns int) (n int) {
	due := r.partDue(c, turns)
	for part := range turns {
		first, end := joinPart(part, turns, groups)
		n += k.Lacking(first, end, (part-due+turns)%turns*int(r.every(c)))
	}
	return n
}

// joinPart is the groups first to end-1, which are sent in the part-th of a number of turns, a
// power of two. Parts are numbered by reversed bits. With four turns the quarters go in the order
// 0, 2, 1, 3, so quarters 0 and 1 are sent when the first half is with two turns. Their baselines
// then still have ages in use when the number of turns halves.
func joinPart(part, turns, groups int) (first, end int) {
	i := int(bits.Reverse64(uint64(part)) >> (64 - bits.Len(uint(turns-1))))
	return i * groups / turns, (i + 1) * groups / turns
}

// maxJoinTurns is the most turns: a baseline 16 send intervals old has an age in use.
const maxJoinTurns = 16

// joinTurns is the fewest turns, up to maxJoinTurns, with which a snapshot without baselines takes
// at most Config.JoinBytes, and the number of nearest players in each of them. These may take half.
func (r *replication) joinTurns() (n rowTurns) {
	room := 8 * r.cfg.JoinBytes
	n.nearest = min(max(0, r.cfg.NearestPlayers), room/2/fullRowBits)
	world := r.players.frames.Groups() * snapshot.GroupRows * fullRowBits
	room -= n.nearest * fullRowBits
	n.turns = turnsWithin(world, room)
	return n
}

// turnsWithin is the fewest turns, a power of two up to maxJoinTurns, that send a total in parts of
// at most room. Both are in bits.
func turnsWithin(total, room int) (turns int) {
	for turns = 1; turns < maxJoinTurns && total > turns*room; turns *= 2 {
	}
	return turns
}
