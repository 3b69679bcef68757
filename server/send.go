package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// reliableBudget is the room for reliable messages in a packet with a snapshot, which keeps the
// rest.
const reliableBudget = packet.MaxMessageSize + 5

// outbound turns the state of a lobby into packets: events, snapshots, transfers.
type outbound struct {
	*core
	replication *replication
	rewind      *rewind
	roster      *roster
	round       roundNews
	chat        *chatLines
	transfers   *transfers
	recording   *recording
}

// send queues the tick's events and sends the snapshots that are due: one to each connection every
// Config.Interval ticks, or every few intervals as the client has asked, an equal part of them in
// each tick.
func (l *outbound) send(now time.Duration, sock netio.Conn) error {
	l.timer.Enter(metrics.StageSnapshot)
	if planted.On(planted.TickAllocates) {
		l.live = append(l.live[:0:0], l.live...)
	}
	l.queueEvents(now)
	l.round.send(now, l.chat.room)
	l.transfers.send(now)
	l.recording.sendKillcams(now, l.transfers)
	for _, slot := range l.live {
		if l.egress.packets.full() {
			if err := l.sendPackets(now, sock); err != nil {
				return err
			}
		}
		if err := l.sendTo(now, sock, &l.conns[slot]); err != nil {
			return err
		}
	}
	if err := l.sendOutbox(now, sock); err != nil {
		return err
	}
	err := l.sendPackets(now, sock)
	l.recordSnapshotSize()
	return err
}

// sendTo writes the packets that are due to one connection.
func (l *outbound) sendTo(now time.Duration, sock netio.Conn, c *conn) error {
	t, slot, r := l.match.Tick(), c.id.Index(), &c.repl
	second := (uint32(t) + uint32(slot)) % uint32(l.cfg.Rules.Rate)
	if second < uint32(l.replication.batch) && !l.timer.Off { // once a second
		l.sampleLink(c, t)
		l.tally(c)
	}
	if !c.session.ready {
		l.sendWelcome(now, c)
		return nil
	}
	r.viewer = c.viewer()
	if !l.replication.snapshotDue(r) {
		return nil
	}
	if why := l.replication.delay(now, r, c.session.peer); why != DelayNone {
		if why == DelayThrottled && l.replication.keepAliveDue(r) {
			l.writeKeepAlive(now, c)
		}
		return nil
	}
	l.roster.sendNames(now, c, l.replication.spacing(r))
	if l.replication.resync(r) {
		c.session.stats.resyncs++
	}
	return l.writeSnapshot(now, sock, c)
}

// writeSnapshot writes the packets of a connection's snapshot. If the batch is full, it is sent.
func (l *outbound) writeSnapshot(now time.Duration, sock netio.Conn, c *conn) error {
	r := &c.repl
	l.account.pending.Snapshots++
	l.replication.beginSnapshot(r)
	from := l.egress.packets.len()
	for first := true; first || l.replication.more(); first = false {
		if l.egress.packets.full() {
			l.egress.packets.padForGSO(from)
			if err := l.sendPackets(now, sock); err != nil {
				return err
			}
			from = 0
		}
		buf, seq := c.session.peer.Append(now, l.egress.packets.next())
		c.noteFirstSnapshot(seq)
		buf = c.session.peer.AppendReliable(buf, reliableBudget)
		out := snapshotPacket{seq: seq, ends: metrics.SectionEnds{First: first}}
		buf = l.replication.appendSnapshot(now, buf, r, &out)
		c.session.peer.SetAckTag(seq, uint64(out.tag))
		l.egress.packets.commit(len(buf), c.id.Index(), out.ends)
	}
	l.egress.packets.padForGSO(from)
	if !l.timer.Off && l.account.snapshots.Due() {
		l.replication.sample(r, &l.account.replication)
	}
	l.replication.endSnapshot(r)
	return nil
}

// sendWelcome sends a connection that is not ready the reliable messages that are due, which begin
// with its Welcome. Until the client has been heard, netcode confirms the session first.
func (l *outbound) sendWelcome(now time.Duration, c *conn) {
	if !c.session.peer.ReliableDue(now) || !c.session.peer.CanSend(now) {
		return
	}
	buf, _ := c.session.peer.Append(now, l.egress.packets.next())
	buf = c.session.peer.AppendReliable(buf, packet.MaxSectionBytes)
	l.sendPacket(now, int(c.session.client), buf) // the messages are due again if this fails
}

// writeKeepAlive writes a packet of acks and reliable messages. It counts against the budget like
// any other.
func (l *outbound) writeKeepAlive(now time.Duration, c *conn) {
	buf, _ := c.session.peer.Append(now, l.egress.packets.next())
	buf = c.session.peer.AppendReliable(buf, reliableBudget)
	c.repl.pacing.lastSend = l.match.Tick()
	l.egress.packets.commit(len(buf), c.id.Index(), metrics.SectionEnds{})
}

// queueEvents queues the tick's events with the connections that are to hear of them. A connection
// with a full queue misses the event; what it is about can be seen in snapshots, too.
func (l *outbound) queueEvents(now time.Duration) {
	out := l.match.Outcome()
	l.countShots(out)
	for i := range out.Events {
		e := &out.Events[i]
		if e.Kind == sim.EventHit {
			l.Stats.Count[metrics.Hits].Inc()
			actor := &l.conns[e.Actor.Index()]
			l.replication.noteHit(e, &actor.repl, &l.conns[e.Victim.Index()].repl)
			if actor.id == e.Actor {
				l.queueEvent(actor, e)
			}
			continue
		}
		l.Stats.Count[metrics.Kills].Inc()
		l.recording.markDeath(e)
		for _, slot := range l.live {
			l.roster.sendPair(now, &l.conns[slot], e.Actor, e.Victim)
			l.queueEvent(&l.conns[slot], e)
		}
	}
}

func (l *outbound) queueEvent(c *conn, e *sim.Event) {
	if c.session.peer.QueueReliable(e.Append(l.message[:0])) != nil {
		l.Stats.Count[metrics.ReliableDropped].Inc()
	}
}

// countShots counts the tick's shots, and records how far they were clamped and rewound.
func (l *outbound) countShots(out *sim.Outcome) {
	l.Stats.Count[metrics.Shots].Add(uint64(len(out.Shots)))
	l.Stats.Count[metrics.ShotsClamped].Add(uint64(out.Clamped))
	l.Stats.Count[metrics.ShotsStaleView].Add(uint64(out.ViewsExpired))
	l.Stats.Count[metrics.HitsFiltered].Add(uint64(out.NotShown))
	period := int64(l.cfg.Rules.Rate.Period())
	for i := range out.Hits {
		if s := &out.Shots[i]; s.Clamped && s.Claimed.Valid() {
			by := lagcomp.Instant(s.View) - lagcomp.Instant(s.Claimed)
			l.Stats.ViewClamp.Record(min(max(by, -by), lagcomp.MaxDelay) * period / 256)
		}
		if out.Hits[i].ID != 0 {
			l.Stats.Rewind.Record(int64(lagcomp.Delay(l.match.Tick(), out.Shots[i].Judged)) * period / 256)
		}
	}
}

// sampleLink records a connection's round trip, command lead and aim. send calls it once a second
// for each.
func (l *outbound) sampleLink(c *conn, t tick.Tick) {
	s := &l.Stats
	if rtt := c.session.peer.RTT(); rtt.Smoothed > 0 {
		s.RTT.Record(int64(rtt.Smoothed))
		s.RTTVar.Record(int64(rtt.Var))
	}
	if c.session.ready {
		s.InputBuffer.Record(int64(l.match.CommandBuffer(c.id).Lead(t)) * int64(l.cfg.Rules.Rate.Period()))
		if f := l.rewind.aim.Features(c.id.Index()); f.Hits > 0 {
			s.Aim.Record(int64(1000 * f.Score()))
		}
	}
}

// tally adds a connection's new command counts to the tick's: once a second, as commands may fail
// to come, and before a connection or its match goes. To read 500 command buffers in every tick
// would be a percent of it.
func (l *core) tally(c *conn) {
	if l.timer.Off {
		return
	}
	if inbox := l.match.CommandBuffer(c.id); inbox != nil {
		l.countInputs(c, inbox)
	}
}

// countInputs is tally for a buffer that is at hand.
func (l *core) countInputs(c *conn, inbox *sim.CommandBuffer) {
	if !l.timer.Off {
		l.account.pending.AddInputs(&inbox.Count, &c.rewind.inboxCount)
	}
}
