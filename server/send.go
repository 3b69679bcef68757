package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// eventBudget is the room that events may take in a datagram, so that the snapshot keeps the rest.
const eventBudget = packet.MaxMessageSize + 5

// send tells of the tick's events, and writes and sends the snapshots that are due: each connection gets one every Interval
// ticks, or as many Intervals as it asked for, an equal part of them in each tick.
func (l *Lobby) send(now time.Duration, sock netio.Conn) error {
	l.timer.Enter(metrics.StageSnapshot)
	if planted.On(planted.TickAllocates) {
		l.live = append(l.live[:0:0], l.live...)
	}
	l.tell(now)
	l.round.send(now, l.chat.room)
	l.transfers.send(now)
	l.recording.sendKillcams(now, &l.transfers)
	t := l.match.Tick()
	for _, slot := range l.live {
		c := &l.conns[slot]
		if !l.timer.Off && (uint32(t)+uint32(slot))%uint32(l.cfg.Rules.Rate) < uint32(l.replication.batch) { // once a second, whatever ticks a batch skips
			l.survey(c, t)
			l.tally(c)
		}
		if l.egress.packets.full() {
			if err := l.deliver(now, sock); err != nil {
				return err
			}
		}
		if !c.session.ready {
			l.greet(now, c)
			continue
		}
		if !l.due(now, c, t) {
			continue
		}
		l.roster.sendNames(now, c, c.share(l))
		c.resync(l, t)
		c.turn(t, l)
		l.account.pending.Snapshots++
		c.repl.acks.tracker.Advance(t)
		c.repl.acks.history.Begin(t)
		c.sum(l)
		from := l.egress.packets.len()
		for first := true; first || !l.replication.players.packer.Done() || l.replication.objects.more(); first = false {
			if l.egress.packets.full() {
				l.egress.packets.padForGSO(from)
				if err := l.deliver(now, sock); err != nil {
					return err
				}
				from = 0
			}
			l.draft(now, c, t, first)
		}
		l.egress.packets.padForGSO(from)
		l.told(c, t)
		l.replication.objects.told(c)
	}
	if err := l.sendOutbox(now, sock); err != nil {
		return err
	}
	err := l.deliver(now, sock)
	l.weighed()
	return err
}

// draft writes one package of a connection's snapshot of tick t. It stands alone: what it says needs no other. What the snapshot
// has room for is chosen with the first, behind what must be in it.
func (l *Lobby) draft(now time.Duration, c *conn, t tick.Tick, first bool) {
	buf, seq := c.session.peer.Append(now, l.egress.packets.next())
	c.opens(seq)
	buf = c.session.peer.AppendReliable(buf, eventBudget)
	ends := metrics.SectionEnds{Reliable: uint16(len(buf)), First: first}
	buf = append(buf, byte(packet.SectionSnapshot))
	at, head := len(buf), netstate.Header{Tick: t, Owner: first, Checked: c.repl.checksum.on}
	buf = head.Append(buf)
	ends.Head, ends.Owner = uint16(len(buf)), uint16(len(buf))
	if first {
		var self netstate.Self
		self.Gather(l.match, c.id)
		netstate.OwnerRow(l.replication.ownerRow[:], &self)
		buf = c.repl.acks.owner.Append(buf, t, l.replication.ownerRow[:])
		ends.Owner = uint16(len(buf))
		l.plan(c, t, l.thingRoom(now, c, len(buf)))
	}
	room := packet.MaxPacketSize - len(buf)
	if first {
		room -= reserve()
	}
	before := len(buf)
	buf, objects := l.replication.objects.appendPart(buf, &head, room)
	c.repl.acks.objects.savedBytes = max(0, c.repl.acks.objects.savedBytes-(len(buf)-before))
	ends.Objects = uint16(len(buf))
	if head.Objects {
		ends.ObjectHead = uint16(head.ObjectsHeadSize())
	}
	if first {
		l.choose(now, c, len(buf))
	}
	buf, group, count := l.replication.players.packer.Next(buf, packet.MaxPacketSize-len(buf))
	ends.Rows = uint16(len(buf))
	if c.repl.checksum.on {
		head.Sum = l.replication.players.packer.Sum(&l.replication.players.sums, group, count)
	}
	head.Append(buf[:at])
	var whole *snapshot.Frame
	if !c.repl.view.byRow {
		whole = l.replication.players.frames.At(t)
	}
	c.repl.acks.history.Sent(seq, group, count, whole)
	c.session.peer.SetAckTag(seq, uint64(makeAckTag(t, first, groupRange{group, count}, objects)))
	l.egress.packets.commit(len(buf), c.id.Index(), ends)
}

// sum decides whether the snapshot at hand has a checksum.
func (c *conn) sum(l *Lobby) {
	c.repl.checksum.on = false
	if l.cfg.ChecksumEvery > 0 {
		if c.repl.checksum.countdown--; c.repl.checksum.countdown <= 0 {
			c.repl.checksum.on, c.repl.checksum.countdown = true, l.cfg.ChecksumEvery
		}
	}
}

// greet sends a connection that is not ready yet the events that are due: its Welcome. While the connection has not been heard, the
// gate's own word that it is in goes before.
func (l *Lobby) greet(now time.Duration, c *conn) {
	if !c.session.peer.ReliableDue(now) || !c.session.peer.CanSend(now) {
		return
	}
	buf, _ := c.session.peer.Append(now, l.egress.packets.next())
	l.dispatch(now, c, c.session.peer.AppendReliable(buf, packet.MaxSectionBytes)) // the event is due again if this fails
}

// dispatch sends a connection a package without a snapshot, by way of the gate: it may get lost, and what is in it is due again then.
func (l *Lobby) dispatch(now time.Duration, c *conn, pack []byte) {
	l.sendPacket(now, int(c.session.client), pack)
}

// tell queues the tick's events with those who are to hear of them. A connection whose queue is full misses the news, not
// the truth: everything in an event can be seen in snapshots as well.
func (l *Lobby) tell(now time.Duration) {
	out := l.match.Outcome()
	l.Stats.Count[metrics.Shots].Add(uint64(len(out.Shots)))
	l.Stats.Count[metrics.ShotsClamped].Add(uint64(out.Clamped))
	l.Stats.Count[metrics.ShotsStaleView].Add(uint64(out.ViewsExpired))
	for i := range out.Hits {
		if s := &out.Shots[i]; s.Clamped && s.Claimed.Valid() {
			l.Stats.ViewClamp.Record(moved(s) * int64(l.cfg.Rules.Rate.Period()) / 256)
		}
		if out.Hits[i].ID != 0 {
			l.Stats.Rewind.Record(int64(lagcomp.Delay(l.match.Tick(), out.Shots[i].Judged)) * int64(l.cfg.Rules.Rate.Period()) / 256)
		}
	}
	l.Stats.Count[metrics.HitsFiltered].Add(uint64(out.NotShown))
	for _, e := range out.Events {
		if e.Kind == sim.EventHit {
			l.Stats.Count[metrics.Hits].Inc()
			l.fought(e)
			if c := &l.conns[e.Actor.Index()]; c.id == e.Actor {
				l.queue(c, e)
			}
			continue
		}
		l.Stats.Count[metrics.Kills].Inc()
		l.recording.markDeath(&e)
		for _, slot := range l.live {
			l.roster.sendPair(now, &l.conns[slot], e.Actor, e.Victim)
			l.queue(&l.conns[slot], e)
		}
	}
}

func (l *Lobby) queue(c *conn, e sim.Event) {
	if c.session.peer.QueueReliable(e.Append(l.message[:0])) != nil {
		l.Stats.Count[metrics.ReliableDropped].Inc()
	}
}

// tally adds a connection's new input counts to the tick's. It is called once a second, as no commands may come, and before a connection or its
// match goes: a look into 500 inboxes in every tick would be a percent of it.
func (l *Lobby) tally(c *conn) {
	if l.timer.Off {
		return
	}
	if inbox := l.match.CommandBuffer(c.id); inbox != nil {
		l.tallyOf(c, inbox)
	}
}

// tallyOf is tally where the inbox is at hand anyway: when commands come.
func (l *Lobby) tallyOf(c *conn, inbox *sim.CommandBuffer) {
	if l.timer.Off {
		return
	}
	l.account.pending.AddInputs(&inbox.Count, &c.rewind.inboxCount)
}

// deliver seals the drafts and sends them.
func (l *Lobby) deliver(now time.Duration, sock netio.Conn) error {
	l.timer.Enter(metrics.StageSeal)
	for i := range l.egress.packets.len() {
		slot, pack := l.egress.packets.at(i)
		if planted.On(planted.WrongEnvelope) && i > 0 {
			slot, _ = l.egress.packets.at(i - 1)
		}
		c := &l.conns[slot]
		sealed, err := l.netcode.Seal(now, int(c.session.client), pack, l.egress.out.Next())
		if err != nil { // its sequences are used up: the gate is about to end it
			l.Stats.Count[metrics.SealFailed].Inc()
			continue
		}
		c.repl.pacing.bucket.Take(now, len(sealed))
		c.session.stats.down += uint64(len(sealed))
		if !l.timer.Off {
			l.account.bandwidth.AddSnapshot(pack, sealed, &l.egress.packets.ends[i], l.encoders(c))
			l.weigh(slot, len(sealed), l.egress.packets.ends[i].First)
		}
		l.commit(len(sealed), c.session.addr)
	}
	l.egress.packets.reset()
	l.timer.Enter(metrics.StageSend)
	err := l.flush(sock)
	l.timer.Enter(metrics.StageSnapshot)
	return err
}

// moved is by how much a shot's claimed view was moved, in 1/256 tick.
func moved(s *sim.Shot) int64 {
	by := lagcomp.Instant(s.View) - lagcomp.Instant(s.Claimed)
	return min(max(by, -by), lagcomp.MaxDelay)
}
