package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ghost"
)

// eventBudget is the room that events may take in a datagram, so that the snapshot keeps the rest.
const eventBudget = 256

// send tells of the tick's events, and writes and sends the snapshots that are due: each guest gets one every Interval
// ticks, an equal part of them in each tick.
func (l *Lobby) send(now time.Duration, conn netio.Conn, lap *lap) error {
	lap.enter(StageSnapshot)
	l.tell()
	t := l.match.Tick()
	for _, slot := range l.live {
		g := &l.guests[slot]
		l.tally(g)
		if (uint32(t)+uint32(slot))%uint32(l.cfg.Interval) != 0 || !g.peer.Ready(now) {
			continue
		}
		g.resync(l, t)
		g.sent = t
		g.tracker.Advance(t)
		l.packer.Begin(l.encoder, g.tracker, 0, l.frames.Groups())
		from := l.out.Len()
		for first := true; first || !l.packer.Done(); first = false {
			if l.out.Full() {
				l.level(from)
				lap.enter(StageSend)
				if err := l.flush(conn); err != nil {
					return err
				}
				lap.enter(StageSnapshot)
				from = 0
			}
			l.datagramTo(now, g, t, first)
		}
		l.level(from)
	}
	lap.enter(StageSend)
	return l.flush(conn)
}

// datagramTo writes one datagram of a guest's snapshot of tick t. It stands alone: what it says needs no other.
func (l *Lobby) datagramTo(now time.Duration, g *guest, t tick.Tick, first bool) {
	buf, seq := g.peer.Append(now, l.out.Next())
	buf = g.peer.AppendEvents(buf, eventBudget)
	buf = append(buf, byte(wire.SectionSnapshot))
	buf = ghost.Head{Tick: t, Owner: first}.Append(buf)
	if first {
		self := l.self(g, t)
		ghost.OwnerRow(l.ownerRow[:], &self)
		buf = g.owner.Append(buf, t, l.ownerRow[:])
	}
	buf, group, count := l.packer.Next(buf, netio.MaxDatagram-len(buf))
	g.peer.Sent(seq, uint64(snapshot.MakeCookie(t, group, count, first)))
	l.commit(len(buf), g.addr)
}

// levelBytes is the most padding that a datagram gets for the sake of one length.
const levelBytes = 64

// level pads the datagrams of one guest, those from index from on, to the length of the longest, but for the last, which
// may be shorter: the kernel then sends them as one.
func (l *Lobby) level(from int) {
	longest := 0
	for i := from; i < l.out.Len(); i++ {
		longest = max(longest, len(l.out.At(i).Data))
	}
	for i := from; i < l.out.Len()-1; i++ {
		if short := longest - len(l.out.At(i).Data); short > 0 && short <= levelBytes {
			pad := l.out.Extend(i, short)
			for k := range pad {
				pad[k] = snapshot.Padding
			}
			l.Stats.Count[BytesOut].Add(uint64(short))
		}
	}
}

// self gathers what a guest is told of itself.
func (l *Lobby) self(g *guest, t tick.Tick) ghost.Self {
	inbox := l.match.Inbox(g.id)
	motion, weapon, vital := l.match.Self(g.id)
	s := ghost.Self{Motion: motion, Weapon: weapon, Lead: inbox.Lead(t), Starved: uint8(inbox.Count.Missing)}
	if !vital.Alive() {
		s.RespawnTicks = int32(vital.Respawn) - int32(t)
	}
	return s
}

// tell queues the tick's events with those who are to hear of them. A guest whose queue is full misses the news, not
// the truth: everything in an event can be seen in snapshots as well.
func (l *Lobby) tell() {
	out := l.match.Outcome()
	l.Stats.Count[Shots].Add(uint64(len(out.Shots)))
	l.Stats.Count[Clamped].Add(uint64(out.Clamped))
	for _, e := range out.Events {
		if e.Kind == sim.EventHit {
			l.Stats.Count[Hits].Inc()
			if g := &l.guests[e.Actor.Index()]; g.id == e.Actor {
				l.queue(g, e)
			}
			continue
		}
		l.Stats.Count[Kills].Inc()
		for _, slot := range l.live {
			l.queue(&l.guests[slot], e)
		}
	}
}

func (l *Lobby) queue(g *guest, e sim.Event) {
	if g.peer.Queue(e.Append(l.event[:0])) != nil {
		l.Stats.Count[EventsRefused].Inc()
	}
}

// tally adds a guest's new input counts to the lobby's.
func (l *Lobby) tally(g *guest) {
	c := &l.match.Inbox(g.id).Count
	l.Stats.Count[InputsUsed].Add(c.Used - g.used)
	l.Stats.Count[InputsMissing].Add(c.Missing - g.missing)
	g.used, g.missing = c.Used, c.Missing
}

func (l *Lobby) commit(n int, to netip.AddrPort) {
	l.Stats.Count[Sent].Inc()
	l.Stats.Count[BytesOut].Add(uint64(n))
	l.out.Commit(n, to)
}

// flush hands what was written to the network.
func (l *Lobby) flush(conn netio.Conn) error {
	if l.out.Len() == 0 {
		return nil
	}
	err := conn.Send(&l.out)
	l.out.Reset()
	return err
}
