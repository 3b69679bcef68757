package server

import (
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// scoreboard has what the score board says of each player besides its name, and which rows each
// connection still has to be sent. Rows travel as state, like names: what a client cannot see or has
// missed is on its board, too, and a full queue loses nothing. A tick looks at one slot in
// Config.Rules.Rate, so a row is at most a second old.
type scoreboard struct {
	*core
	roster *roster
	rows   []protocol.Score // by slot, as connections are sent them; NetID 0: no player
	links  []linkLook       // by slot
	due    []time.Duration  // by slot: when its connection may be sent the next message
	dirty  dirtyRows

	message [packet.MaxMessageSize]byte
}

// linkLook is what was last seen of the link of a slot.
type linkLook struct {
	since            time.Duration // start of the session
	lost, delivered  uint64        // packets to the client
	newest, received uint64        // packets from it
	looks            uint8
	loss             float32 // percent, smoothed
}

const (
	scoresEvery   = time.Second // between two messages to a connection with nothing left to be sent
	linkLooks     = 4           // looks, one a second, from one measurement of a link to the next
	lossSmoothing = 0.25        // weight of a measurement
	lossStep      = 2           // percent: smaller changes are not sent
)

func newScoreboard(c *core, r *roster) scoreboard {
	n := c.cfg.Players
	return scoreboard{
		core: c, roster: r, rows: make([]protocol.Score, n), links: make([]linkLook, n),
		due: make([]time.Duration, n), dirty: newDirtyRows(n),
	}
}

// add has all rows sent to a connection that gets ready.
func (b *scoreboard) add(c *conn) {
	slot := c.id.Index()
	b.due[slot] = 0
	b.update(slot)
	for i := range b.rows {
		if b.rows[i].NetID != 0 {
			b.dirty.mark(slot, i)
		}
	}
}

// disconnect forgets the connection of a slot.
func (b *scoreboard) disconnect(slot int) { b.dirty.clear(slot) }

// newMatch forgets all rows: each connection gets the new ones with its Ready.
func (b *scoreboard) newMatch() {
	for slot := range b.rows {
		b.rows[slot], b.links[slot] = protocol.Score{}, linkLook{}
		b.dirty.clear(slot)
	}
}

// update looks at the player of a slot.
func (b *scoreboard) update(slot int) {
	c, was := &b.conns[slot], &b.rows[slot]
	v := b.match.Vital(c.id)
	if v == nil {
		*was, b.links[slot] = protocol.Score{}, linkLook{}
		return
	}
	is := protocol.Score{NetID: uint32(c.id), Kills: v.Kills, Deaths: v.Deaths, Ping: protocol.PingAway}
	if b.roster.viewers[slot].ready {
		is.Ping, is.Loss = b.look(c, was)
	}
	if is == *was {
		return
	}
	*was = is
	for _, other := range b.live {
		if b.roster.viewers[other].ready {
			b.dirty.mark(int(other), slot)
		}
	}
}

// look measures a link now and then. Small changes leave the row as it was.
func (b *scoreboard) look(c *conn, was *protocol.Score) (ping protocol.Ping, loss uint8) {
	l, s := &b.links[c.id.Index()], &c.session.stats
	known := was.NetID == uint32(c.id) && was.Ping != protocol.PingAway && l.since == c.session.since
	if l.since != c.session.since {
		*l = linkLook{since: c.session.since}
	}
	if l.looks++; known && l.looks%linkLooks != 0 {
		return was.Ping, was.Loss
	}
	newest := c.session.peer.Newest()
	down := lossPercent(s.lost-l.lost, s.lost-l.lost+s.delivered-l.delivered)
	sent, came := newest-l.newest, s.taken-l.received
	up := lossPercent(max(sent, came)-came, sent)
	l.lost, l.delivered, l.newest, l.received = s.lost, s.delivered, newest, s.taken
	l.loss += float32(lossSmoothing * (max(down, up) - l.loss))
	ping, loss = protocol.PingOf(c.session.peer.RTT().Smoothed), uint8(l.loss+0.5)
	if !known {
		return ping, loss
	}
	if step := max(2, was.Ping/8); max(ping, was.Ping)-min(ping, was.Ping) < step {
		ping = was.Ping
	}
	if loss != 0 && max(loss, was.Loss)-min(loss, was.Loss) < lossStep {
		loss = was.Loss
	}
	return ping, loss
}

func lossPercent(lost, of uint64) float32 {
	if of == 0 {
		return 0
	}
	return min(100*float32(lost)/float32(of), 100)
}

// send queues a message of rows that a connection has not been sent, after all names, if one is due
// and its link has room. Call it before a snapshot: the message travels in it.
func (b *scoreboard) send(now time.Duration, c *conn, interval time.Duration) {
	slot := c.id.Index()
	if b.dirty.count[slot] == 0 || now < b.due[slot] || b.roster.dirty.count[slot] > 0 ||
		now < b.roster.viewers[slot].clear || c.session.peer.ReliablePending() >= rosterQueue {
		return
	}
	most := b.roster.messageRoom(c, interval, protocol.ScoreSize)
	message := append(b.message[:0], protocol.MessageScores)
	at := b.dirty.next(slot, 0)
	for ; at >= 0 && len(message)+protocol.ScoreSize <= most; at = b.dirty.next(slot, at+1) {
		b.dirty.sent(slot, at)
		if b.rows[at].NetID != 0 { // else the player has left since
			message = b.rows[at].Append(message)
		}
	}
	if at < 0 {
		b.due[slot] = now + scoresEvery
	}
	if len(message) == 1 {
		return
	}
	if c.session.peer.QueueReliable(message) != nil {
		panic("server: no room for scores in a queue that had some")
	}
	b.Stats.Count[metrics.ScoreBytes].Add(uint64(len(message)))
	b.roster.viewers[slot].charge(now, c, len(message))
}
