package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
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
	scores      *scoreboard
	round       roundNews
	chat        *chatLines
	transfers   *transfers
	recording   *recording
	snapshot    snapshotSize // of the snapshot being sent
}

// send queues the tick's events and sends the snapshots that are due: one to each connection every
// Config.Interval ticks, or every few intervals as the client has asked, an equal part of them in
// each tick.
func (o *outbound) send(now time.Duration, sock netio.Conn) error {
	o.timer.Enter(metrics.StageSnapshot)
	o.queueEvents(now)
	o.round.send(now, o.chat.room)
	o.transfers.send(now)
	o.recording.sendKillcams(now, o.transfers)
	for i, slot := range o.live {
		if len(o.live) > maxTogether {
			o.prefetchSnapshots(i)
		}
		if o.port.egress.packets.full() {
			if err := o.sendPackets(now, sock); err != nil {
				return err
			}
		}
		if err := o.sendTo(now, sock, &o.conns[slot]); err != nil {
			return err
		}
	}
	if err := o.port.sendOutbox(now, sock); err != nil {
		return err
	}
	err := o.sendPackets(now, sock)
	o.recordSnapshotSize()
	return err
}

// sendTo writes the packets that are due to one connection.
func (o *outbound) sendTo(now time.Duration, sock netio.Conn, c *conn) error {
	t, slot, r := o.match.Tick(), c.id.Index(), &c.repl
	second := (uint32(t) + uint32(slot)) % uint32(o.cfg.Rules.Rate)
	if second < uint32(o.replication.batchTicks) && !o.timer.Off { // once a second
		o.sampleLink(c, t)
		o.tally(c)
	}
	if !c.session.ready {
		o.sendWelcome(now, c)
		return nil
	}
	r.viewer.player = c.id
	if !o.replication.snapshotDue(r) {
		return nil
	}
	r.viewer = c.viewer()
	if why := o.replication.delay(now, r, c.session.peer); why != DelayNone {
		if why == DelayThrottled && o.replication.keepAliveDue(r) {
			o.writeKeepAlive(now, c)
		}
		return nil
	}
	o.roster.sendNames(now, c, o.replication.spacing(r))
	o.scores.send(now, c, o.replication.spacing(r))
	if o.replication.resync(r) {
		c.session.stats.resyncs++
	}
	return o.writeSnapshot(now, sock, c)
}

// writeSnapshot writes the packets of a connection's snapshot. If the batch is full, it is sent.
func (o *outbound) writeSnapshot(now time.Duration, sock netio.Conn, c *conn) error {
	r := &c.repl
	if o.cfg.EnterConn != nil {
		o.cfg.EnterConn(c.id.Index())
	}
	o.account.pending.Snapshots++
	o.replication.beginSnapshot(r)
	from := o.port.egress.packets.len()
	for first := true; first || o.replication.more(); first = false {
		if o.port.egress.packets.full() {
			o.port.egress.packets.padForGSO(from)
			if err := o.sendPackets(now, sock); err != nil {
				return err
			}
			from = 0
		}
		buf, seq := c.session.peer.Append(now, o.port.egress.packets.next())
		c.noteFirstSnapshot(seq)
		buf = c.session.peer.AppendReliable(buf, reliableBudget)
		out := snapshotPacket{seq: seq, ends: metrics.SectionEnds{First: first}}
		buf = o.replication.appendSnapshot(now, buf, r, &out)
		c.session.peer.SetAckTag(seq, uint64(out.tag))
		o.port.egress.packets.commit(len(buf), c.id.Index(), out.ends)
	}
	o.port.egress.packets.padForGSO(from)
	if !o.timer.Off && o.account.snapshots.Due() {
		o.replication.sample(r, &o.account.replication)
	}
	o.replication.endSnapshot(r)
	return nil
}

// sendWelcome sends a connection that is not ready the reliable messages that are due, which begin
// with its Welcome. Until the client has been heard, netcode confirms the session first.
func (o *outbound) sendWelcome(now time.Duration, c *conn) {
	if !c.session.peer.ReliableDue(now) || !c.session.peer.CanSend(now) {
		return
	}
	buf, _ := c.session.peer.Append(now, o.port.egress.packets.next())
	buf = c.session.peer.AppendReliable(buf, packet.MaxSectionBytes)
	o.sendPacket(now, int(c.session.client), buf) // the messages are due again if this fails
}

// writeKeepAlive writes a packet of acks and reliable messages. It counts against the budget like
// any other.
func (o *outbound) writeKeepAlive(now time.Duration, c *conn) {
	buf, _ := c.session.peer.Append(now, o.port.egress.packets.next())
	buf = c.session.peer.AppendReliable(buf, reliableBudget)
	c.repl.pacing.lastSend = o.match.Tick()
	o.port.egress.packets.commit(len(buf), c.id.Index(), metrics.SectionEnds{})
}

// queueEvents queues the tick's events with the connections that are to hear of them. A connection
// with a full queue misses the event; what it is about can be seen in snapshots, too.
func (o *outbound) queueEvents(now time.Duration) {
	out := o.match.Outcome()
	o.countShots(out)
	for i := range out.Events {
		e := &out.Events[i]
		if e.Kind == sim.EventHit {
			o.Stats.Count[metrics.Hits].Inc()
			if e.Actor == 0 {
				continue // the map's areas and fires are no opponents
			}
			actor := &o.conns[e.Actor.Index()]
			o.replication.noteHit(e, &actor.repl, &o.conns[e.Victim.Index()].repl)
			if actor.id == e.Actor {
				o.queueEvent(actor, e)
			}
			continue
		}
		o.Stats.Count[metrics.Kills].Inc()
		o.recording.markDeath(e)
		for _, slot := range o.live {
			o.roster.sendPair(now, &o.conns[slot], e.Actor, e.Victim)
			o.queueEvent(&o.conns[slot], e)
		}
	}
}

func (o *outbound) queueEvent(c *conn, e *sim.Event) {
	if c.session.peer.QueueReliable(e.Append(o.message[:0])) != nil {
		o.Stats.Count[metrics.ReliableDropped].Inc()
	}
}

// countShots counts the tick's shots, and records how far they were clamped and rewound.
func (o *outbound) countShots(out *sim.Outcome) {
	o.Stats.Count[metrics.Shots].Add(uint64(len(out.Shots)))
	o.Stats.Count[metrics.ShotsClamped].Add(uint64(out.Clamped))
	o.Stats.Count[metrics.ShotsStaleView].Add(uint64(out.ViewsExpired))
	o.Stats.Count[metrics.HitsFiltered].Add(uint64(out.NotShown))
	period := int64(o.cfg.Rules.Rate.Period())
	for i := range out.Hits {
		if s := &out.Shots[i]; s.Clamped && s.Claimed.Valid() {
			by := lagcomp.Instant(s.View) - lagcomp.Instant(s.Claimed)
			o.Stats.ViewClamp.Record(min(max(by, -by), lagcomp.MaxDelay) * period / 256)
		}
		if out.Hits[i].ID != 0 {
			o.Stats.Rewind.Record(int64(lagcomp.Delay(o.match.Tick(), out.Shots[i].Judged)) * period / 256)
		}
	}
}

// sampleLink records a connection's round trip, command lead and aim. send calls it once a second
// for each.
func (o *outbound) sampleLink(c *conn, t tick.Tick) {
	s := &o.Stats
	if rtt := c.session.peer.RTT(); rtt.Smoothed > 0 {
		s.RTT.Record(int64(rtt.Smoothed))
		s.RTTVar.Record(int64(rtt.Var))
	}
	if c.session.ready {
		s.InputBuffer.Record(int64(o.match.CommandBuffer(c.id).Lead(t)) * int64(o.cfg.Rules.Rate.Period()))
		if f := o.rewind.aim.Features(c.id.Index()); f.Hits > 0 {
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
	if l.timer.Off {
		return
	}
	if missing := inbox.Count.Missing - c.rewind.inboxCount.Missing; missing > 0 {
		l.Stats.SlotMissing[c.id.Index()].Add(missing)
	}
	l.account.pending.AddInputs(&inbox.Count, &c.rewind.inboxCount)
}
