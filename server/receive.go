package server

import (
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// receiveBatches bounds how much of a flood one tick reads. The rest waits in the socket, and what that cannot hold the kernel
// drops and counts.
const receiveBatches = 256

// receive takes in everything that has arrived, and ends the sessions that are over.
func (l *Lobby) receive(now time.Duration, unix int64, sock netio.Conn) error {
	for _, e := range l.netcode.Update(now, unix, &l.egress.outbox) {
		l.join.event(now, e)
	}
	l.join.expire(now)
	l.betweenTicks(now)
	l.join.admit(now)
	if err := l.sendOutbox(now, sock); err != nil {
		return err
	}
	for range receiveBatches {
		n, err := sock.Receive(&l.in)
		if n == 0 || err != nil {
			return err
		}
		l.timer.Enter(metrics.StageOpen)
		l.openBatch(now, unix)
		l.timer.Enter(metrics.StageReceive)
		accepted := 0
		for i := range l.events {
			if l.takeEvent(now, l.events[i]) {
				accepted++
			}
		}
		l.Stats.Count[metrics.Accepted].Add(uint64(accepted))
		l.join.admit(now)
		if err := l.sendOutbox(now, sock); err != nil {
			return err
		}
	}
	return nil
}

// betweenTicks does what is not urgent: lines for the console, the change of the map, and for a part of the slots, so that each
// has its turn once a second, the team in the roster and the idle player.
func (l *Lobby) betweenTicks(now time.Duration) {
	l.console.run(now)
	rate := int(l.cfg.Rules.Rate)
	for slot := int(l.match.Tick()) % rate; slot < len(l.conns); slot += rate {
		if !l.roster.viewers[slot].ready {
			continue
		}
		l.roster.updateTeam(slot)
		c := &l.conns[slot]
		switch l.idle.due(slot) {
		case idle.Warn:
			l.Stats.Count[metrics.IdleWarned].Inc()
			l.chat.tell(now, c, l.idle.warning(slot))
		case idle.Kick:
			l.Stats.Count[metrics.IdleKicked].Inc()
			l.join.dismiss(now, c, packet.ReasonIdle)
		}
	}
	l.pollMap(now)
}

// takeEvent does what one opened datagram says, and reports whether it held a packet that was accepted.
func (l *Lobby) takeEvent(now time.Duration, e netcode.Event) (accepted bool) {
	if e.Kind != netcode.EventPayload {
		l.join.event(now, e)
		return false
	}
	err := error(packet.DropState)
	if c := l.ofClient(e.Client); c != nil {
		err = l.takePacket(now, c, e.Payload)
	}
	if err == nil {
		return true
	}
	drop, ok := err.(packet.Drop)
	if !ok {
		panic("server: a packet was refused without a reason: " + err.Error())
	}
	l.Stats.PacketDrops[drop].Inc()
	return false
}

// takePacket takes a connection's packet: acks, messages, commands. Acks and messages ahead of an error are kept: both are
// idempotent.
func (l *Lobby) takePacket(now time.Duration, c *conn, data []byte) error {
	rest, err := c.session.peer.Receive(now, data)
	if err != nil {
		return err
	}
	l.takeAcks(now, c)
	rest, err = c.session.peer.Sections(rest) // fragments of clients are not taken
	for note, ok := c.session.peer.NextUnreliable(); ok; note, ok = c.session.peer.NextUnreliable() {
		if n, ok := sim.ParseMispredictions(note); ok {
			c.session.stats.mispredicted = n
		}
	}
	client := c.session.client
	for message, ok := c.session.peer.NextReliable(); ok; message, ok = c.session.peer.NextReliable() {
		l.takeMessage(now, c, message)
		if l.slotOf[client] != int32(c.id.Index()) { // the message has ended the session: later ones count for nothing
			return err
		}
	}
	if err != nil {
		return err
	}
	if _, closed := c.session.peer.Closed(); closed {
		l.join.quit(now, c)
	} else if packet.SectionOf(rest) == packet.SectionCommands {
		if !c.here(data) { // made on a map that is not played any more
			l.Stats.Count[metrics.StaleMapEpoch].Inc()
			return nil
		}
		return l.takeCommands(c, data, rest[1:])
	}
	if len(rest) > 0 {
		return packet.DropSection
	}
	return nil
}

// takeAcks takes what a packet acknowledges.
func (l *Lobby) takeAcks(now time.Duration, c *conn) {
	c.repl.acks.history.Open()
	for _, tag := range c.session.peer.Delivered() {
		c.acked(now, &l.replication, ackTag(tag))
	}
	c.rewind.lagSwitch.acks += len(c.session.peer.Delivered())
	c.session.stats.taken++
	c.session.stats.delivered += uint64(len(c.session.peer.Delivered()))
	c.session.stats.lost += uint64(len(c.session.peer.Lost()))
}

// takeCommands offers a window of commands, the last section of a packet, to the player's inbox, oldest first: all of it or
// nothing.
func (l *Lobby) takeCommands(c *conn, data, src []byte) error {
	n, rest, err := sim.ParseCommands(src, &l.window)
	if err != nil {
		return packet.DropCommands
	}
	if err := l.rewind.takeArrivals(c, data, rest, l.window[:n]); err != nil {
		return err
	}
	inbox := l.match.CommandBuffer(c.id)
	inbox.OfferWindow(l.window[:n])
	l.countInputs(c, inbox)
	if slot := c.id.Index(); l.roster.viewers[slot].ready {
		l.idle.input(slot, l.window[:n])
	}
	return nil
}

// takeMessage takes a reliable message. Messages of a newer client that mean nothing here are counted and ignored.
func (l *Lobby) takeMessage(now time.Duration, c *conn, message []byte) {
	if message = l.ofThisMap(c, message); message == nil {
		return
	}
	if tag := message[0]; (tag == protocol.MessageSay || tag == protocol.MessageConsole) && l.roster.viewers[c.id.Index()].ready {
		l.takeLine(now, c, message)
		return
	}
	if len(message) == 1 && message[0] == sim.AskResync {
		c.repl.acks.resyncRequested = true
	} else if _, ok := sim.ParseDiverged(message); ok {
		c.repl.acks.resyncRequested = true
		l.Stats.Count[metrics.ChecksumMismatches].Inc()
	} else if every, kbps, ok := sim.ParseSnapshotRate(message); ok {
		c.repl.pacing.setPace(every, int(kbps), &l.cfg)
	} else if hero, ok := sim.ParseHero(message); ok && l.match.RequestHero(c.id, hero) { // where the mode allows it
	} else if f, err := protocol.ParseFetch(message); err == nil {
		l.join.fetch(now, c, f.Content)
	} else if l.spectate.request(c, message) {
	} else if r, err := protocol.ParseReady(message); err == nil && !c.session.ready && c.session.mismatch == 0 {
		l.join.ready(now, c, r)
	} else {
		l.Stats.Count[metrics.MessagesUnknown].Inc()
	}
}

// takeLine takes a line, or a part of one, for the chat or the console.
func (l *Lobby) takeLine(now time.Duration, c *conn, message []byte) {
	text, whole := l.chat.assemble(c.id.Index(), message)
	switch {
	case !whole:
	case message[0] == protocol.MessageSay:
		l.chat.say(now, c, text)
	default:
		l.console.submit(now, c, text)
	}
}
