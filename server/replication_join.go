package server

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/snapshot"
)

// advanceJoin moves the join burst of a client that is not sent all players on after a snapshot. It
// is done once the client has acknowledged anything of a snapshot that left out nothing.
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

// Shares of Config.JoinBytes.
const (
	lackingShare = 8 // part without a baseline that ends a join burst
	expiredShare = 2 // part that begins another
)

// joined reports whether a client that sees all players is past its join burst: the whole world fits
// into one join snapshot, or nearly all groups have baselines when their turn comes. The turns of a
// burst halve each time that groups would have baselines in half as many turns. A client with a long
// round-trip time keeps two turns, as baselines of odd ages are not in use beyond three intervals. A
// client whose baselines expire, because it acknowledges a part of each snapshot only, begins
// another burst: else it would be sent most of the world in full each time.
func (r *replication) joined(c *connReplication) bool {
	j, least := &c.join, r.leastTurns(c)
	most := max(least, farTurns) // past the burst
	switch fewer := max(least, j.turns/2); {
	case j.turns != 0 && !r.lacks(c, fewer, lackingShare):
		j.turns = fewer
		j.done = j.done || fewer <= most
	case r.worldFits():
		j.done, j.turns = true, least
	case j.turns == 0 || j.done && r.lacks(c, j.turns, expiredShare):
		*j = connJoin{turns: uint8(r.joinTurns().turns)}
	case j.turns <= most && !r.lacks(c, j.turns, lackingShare):
		j.done = true
	}
	if j.done {
		j.sent = 0
	}
	return j.done
}

// unackedPerTurn is the number of snapshots without an acknowledgement that doubles the turns of a
// client.
const unackedPerTurn = 8

// leastTurns is in how many turns a client that sees all players is sent far ones. Changes since old
// baselines are large: a client that acknowledges seldom is sent them as often as their bytes allow.
func (r *replication) leastTurns(c *connReplication) uint8 {
	turns := uint8(1) << min(c.acks.unacked/unackedPerTurn, 2)
	if r.takesTurns() {
		return max(turns, farTurns)
	}
	return turns
}

// worldFits reports whether all players fit into one join snapshot without baselines.
func (r *replication) worldFits() bool {
	members, most := r.match.Score().Members, r.cfg.JoinBytes-minJoinBytes/2
	return int(members[0])+int(members[1]) <= 8*most/fullRowBits || r.players.encoder.FullBlocksFit(most)
}

// lacks reports whether the groups that will have no baseline when their turn comes take more than a
// part of Config.JoinBytes.
func (r *replication) lacks(c *connReplication, turns uint8, share int) bool {
	n := r.lacking(c, c.acks.tracker, r.players.frames.Groups(), int(turns))
	return n*snapshot.GroupRows*fullRowBits > 8*r.cfg.JoinBytes/share
}

// lacking is the number of groups that will have no baseline when their turn comes.
func (r *replication) lacking(c *connReplication, k *snapshot.Tracker, groups, turns int) (n int) {
	due := r.partDue(c, turns)
	for part := range turns {
		first, end := joinPart(part, turns, groups)
		n += k.Lacking(first, end, (part-due+turns)%turns*int(r.every(c)))
	}
	return n
}

// joinPart is the groups of a part of a join burst, or of rowsTurns. Parts go in the order of
// reversed bits: so half as many parts of twice the size are due in the same intervals, and have
// baselines of the ages in use.
func joinPart(part, turns, groups int) (first, end int) {
	i := int(bits.Reverse64(uint64(part)) >> (64 - bits.Len(uint(turns-1))))
	return i * groups / turns, (i + 1) * groups / turns
}

// maxJoinTurns bounds the turns of a join burst: baselines that lie so far apart are still of the
// ages in use.
const maxJoinTurns = 16

// joinTurns are as few turns as keep snapshots without baselines within Config.JoinBytes. Their
// number is a power of two: the groups of a part then have baselines of the ages in use.
func (r *replication) joinTurns() (n rowTurns) {
	room := 8 * r.cfg.JoinBytes
	n.nearest = min(max(0, r.cfg.NearestPlayers), room/2/fullRowBits)
	world := r.players.frames.Groups() * snapshot.GroupRows * fullRowBits
	room -= n.nearest * fullRowBits
	n.turns = turnsWithin(world, room)
	return n
}

// turnsWithin is in how many turns a number of bits takes no more than room bits each.
func turnsWithin(bits, room int) (turns int) {
	for turns = 1; turns < maxJoinTurns && bits > turns*room; turns *= 2 {
	}
	return turns
}
