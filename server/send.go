package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ghost"
)

// eventBudget is the room that events may take in a datagram, so that the snapshot keeps the rest.
const eventBudget = packet.MaxEventSize + 5

// send tells of the tick's events, and writes and sends the snapshots that are due: each guest gets one every Interval
// ticks, or as many Intervals as it asked for, an equal part of them in each tick.
func (l *Lobby) send(now time.Duration, conn netio.Conn, lap *lap) error {
	lap.enter(StageSnapshot)
	if planted.On(planted.TickAllocates) {
		l.live = append(l.live[:0:0], l.live...)
	}
	l.tell(now)
	l.round.send(now, l.chat.room)
	l.transfers.send(now)
	l.recording.sendKillcams(now, &l.transfers)
	t := l.match.Tick()
	marked := false // as StageDelta
	for _, slot := range l.live {
		g := &l.guests[slot]
		if !l.unobserved && (uint32(t)+uint32(slot))%uint32(l.cfg.Rules.Rate) < uint32(l.batch) { // once a second, whatever ticks a batch skips
			l.survey(g, t)
			l.tally(g)
		}
		if l.drafts.full() {
			if err := l.deliver(now, conn, lap); err != nil {
				return err
			}
			marked = false
		}
		if !g.ready {
			l.greet(now, g)
			continue
		}
		if !l.due(now, g, t) {
			continue
		}
		l.roster.sendNames(now, g, g.share(l))
		g.resync(l, t)
		g.turn(t, l)
		l.fresh.snapshots++
		g.tracker.Advance(t)
		g.shown.Begin(t)
		g.sum(l)
		from := l.drafts.len()
		if !marked {
			l.enter(StageDelta)
			marked = true
		}
		for first := true; first || !l.packer.Done() || l.things.more(); first = false {
			if l.drafts.full() {
				l.drafts.level(from)
				if err := l.deliver(now, conn, lap); err != nil {
					return err
				}
				from, marked = 0, false
			}
			l.draft(now, g, t, first)
		}
		l.drafts.level(from)
		l.told(g, t)
		l.things.told(g)
	}
	if err := l.sendOutbox(now, conn); err != nil {
		return err
	}
	err := l.deliver(now, conn, lap)
	l.weighed()
	return err
}

// draft writes one package of a guest's snapshot of tick t. It stands alone: what it says needs no other. What the snapshot
// has room for is chosen with the first, behind what must be in it.
func (l *Lobby) draft(now time.Duration, g *guest, t tick.Tick, first bool) {
	buf, seq := g.peer.Append(now, l.drafts.next())
	g.opens(seq)
	buf = g.peer.AppendEvents(buf, eventBudget)
	cut := cuts{events: uint16(len(buf)), first: first}
	buf = append(buf, byte(packet.SectionSnapshot))
	at, head := len(buf), ghost.Head{Tick: t, Owner: first, Checked: g.checked}
	buf = head.Append(buf)
	cut.head, cut.owner = uint16(len(buf)), uint16(len(buf))
	if first {
		var self ghost.Self
		self.Tell(l.match, g.id)
		ghost.OwnerRow(l.ownerRow[:], &self)
		buf = g.owner.Append(buf, t, l.ownerRow[:])
		cut.owner = uint16(len(buf))
		l.plan(g, t, l.thingRoom(now, g, len(buf)))
	}
	room := packet.MaxPackage - len(buf)
	if first {
		room -= reserve()
	}
	before := len(buf)
	buf, objects := l.things.write(buf, &head, room)
	g.things.saved = max(0, g.things.saved-(len(buf)-before))
	cut.things = uint16(len(buf))
	if head.Things {
		cut.thingsHead = uint16(head.ThingsHead())
	}
	if first {
		l.choose(now, g, len(buf))
	}
	buf, group, count := l.packer.Next(buf, packet.MaxPackage-len(buf))
	cut.rows = uint16(len(buf))
	if g.checked {
		head.Sum = l.packer.Sum(&l.sums, group, count)
	}
	head.Append(buf[:at])
	var whole *snapshot.Frame
	if !g.byRow {
		whole = l.frames.At(t)
	}
	g.shown.Sent(seq, group, count, whole)
	g.peer.Sent(seq, uint64(makeReceipt(t, first, span{group, count}, objects)))
	l.drafts.commit(len(buf), g.id.Index(), cut)
}

// sum decides whether the snapshot at hand has a checksum.
func (g *guest) sum(l *Lobby) {
	g.checked = false
	if l.cfg.ChecksumEvery > 0 {
		if g.check--; g.check <= 0 {
			g.checked, g.check = true, l.cfg.ChecksumEvery
		}
	}
}

// greet sends a guest that is not ready yet the events that are due: its Welcome. While the guest has not been heard, the
// gate's own word that it is in goes before.
func (l *Lobby) greet(now time.Duration, g *guest) {
	if !g.peer.Due(now) || !g.peer.Ready(now) {
		return
	}
	buf, _ := g.peer.Append(now, l.drafts.next())
	l.dispatch(now, g, g.peer.AppendEvents(buf, packet.MaxSections)) // the event is due again if this fails
}

// dispatch sends a guest a package without a snapshot, by way of the gate: it may get lost, and what is in it is due again then.
func (l *Lobby) dispatch(now time.Duration, g *guest, pack []byte) {
	l.sendPacket(now, int(g.client), pack)
}

// tell queues the tick's events with those who are to hear of them. A guest whose queue is full misses the news, not
// the truth: everything in an event can be seen in snapshots as well.
func (l *Lobby) tell(now time.Duration) {
	out := l.match.Outcome()
	l.Stats.Count[Shots].Add(uint64(len(out.Shots)))
	l.Stats.Count[Clamped].Add(uint64(out.Clamped))
	l.Stats.Count[Faded].Add(uint64(out.Faded))
	for i := range out.Hits {
		if s := &out.Shots[i]; s.Clamped && s.Claimed.Valid() {
			l.Stats.Moved.Record(moved(s) * int64(l.cfg.Rules.Rate.Period()) / 256)
		}
		if out.Hits[i].ID != 0 {
			l.Stats.Rewind.Record(int64(lagcomp.Delay(l.match.Tick(), out.Shots[i].Judged)) * int64(l.cfg.Rules.Rate.Period()) / 256)
		}
	}
	l.Stats.Count[Unseen].Add(uint64(out.Unshown))
	for _, e := range out.Events {
		if e.Kind == sim.EventHit {
			l.Stats.Count[Hits].Inc()
			l.fought(e)
			if g := &l.guests[e.Actor.Index()]; g.id == e.Actor {
				l.queue(g, e)
			}
			continue
		}
		l.Stats.Count[Kills].Inc()
		l.recording.markDeath(&e)
		for _, slot := range l.live {
			l.roster.sendPair(now, &l.guests[slot], e.Actor, e.Victim)
			l.queue(&l.guests[slot], e)
		}
	}
}

func (l *Lobby) queue(g *guest, e sim.Event) {
	if g.peer.Queue(e.Append(l.message[:0])) != nil {
		l.Stats.Count[EventsRefused].Inc()
	}
}

// tally adds a guest's new input counts to the tick's. It is called once a second, as no commands may come, and before a guest or its
// match goes: a look into 500 inboxes in every tick would be a percent of it.
func (l *Lobby) tally(g *guest) {
	if l.unobserved {
		return
	}
	if inbox := l.match.Inbox(g.id); inbox != nil {
		l.tallyOf(g, inbox)
	}
}

// tallyOf is tally where the inbox is at hand anyway: when commands come.
func (l *Lobby) tallyOf(g *guest, inbox *sim.Inbox) {
	if l.unobserved {
		return
	}
	c, was, n := &inbox.Count, &g.inputs, &l.fresh.inputs
	n.Used += c.Used - was.Used
	n.Missing += c.Missing - was.Missing
	n.Duplicate += c.Duplicate - was.Duplicate
	n.Stale += c.Stale - was.Stale
	n.Future += c.Future - was.Future
	n.Conflict += c.Conflict - was.Conflict
	n.Clamped += c.Clamped - was.Clamped
	*was = *c
}

// deliver seals the drafts and sends them.
func (l *Lobby) deliver(now time.Duration, conn netio.Conn, lap *lap) error {
	lap.enter(StageSeal)
	for i := range l.drafts.len() {
		slot, pack := l.drafts.at(i)
		if planted.On(planted.WrongEnvelope) && i > 0 {
			slot, _ = l.drafts.at(i - 1)
		}
		g := &l.guests[slot]
		sealed, err := l.netcode.Seal(now, int(g.client), pack, l.out.Next())
		if err != nil { // its sequences are used up: the gate is about to end it
			l.Stats.Count[Unsent].Inc()
			continue
		}
		g.bucket.Take(now, len(sealed))
		g.traffic.down += uint64(len(sealed))
		if !l.unobserved {
			l.ledger.draft(l, g, pack, sealed, &l.drafts.cuts[i])
			l.weigh(slot, len(sealed), l.drafts.cuts[i].first)
		}
		l.commit(len(sealed), g.addr)
	}
	l.drafts.reset()
	lap.enter(StageSend)
	err := l.flush(conn)
	lap.enter(StageSnapshot)
	return err
}

// moved is by how much a shot's claimed view was moved, in 1/256 tick.
func moved(s *sim.Shot) int64 {
	by := lagcomp.Instant(s.View) - lagcomp.Instant(s.Claimed)
	return min(max(by, -by), lagcomp.MaxDelay)
}
