package server

import (
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/sim"
)

// receiveBatches bounds how much of a flood one tick reads. The rest waits in the socket, and what that cannot hold the kernel
// drops and counts.
const receiveBatches = 256

// receive takes in everything that has arrived, and ends the sessions that are over.
func (l *Lobby) receive(now time.Duration, unix int64, conn netio.Conn, lap *lap) error {
	for _, e := range l.netcode.Update(now, unix, &l.outbox) {
		l.join.event(now, e)
	}
	l.join.expire(now)
	l.betweenTicks(now)
	l.join.admit(now)
	if err := l.sendOutbox(now, conn); err != nil {
		return err
	}
	for range receiveBatches {
		n, err := conn.Receive(&l.in)
		if n == 0 || err != nil {
			return err
		}
		lap.enter(StageOpen)
		l.openBatch(now, unix)
		lap.enter(StageReceive)
		accepted := 0
		for i := range l.events {
			if l.takeEvent(now, l.events[i]) {
				accepted++
			}
		}
		l.Stats.Count[Accepted].Add(uint64(accepted))
		l.join.admit(now)
		if err := l.sendOutbox(now, conn); err != nil {
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
	for slot := int(l.match.Tick()) % rate; slot < len(l.guests); slot += rate {
		if !l.roster.viewers[slot].ready {
			continue
		}
		l.roster.updateTeam(slot)
		g := &l.guests[slot]
		switch l.idle.due(slot) {
		case idle.Warn:
			l.Stats.Count[IdleWarned].Inc()
			l.chat.tell(now, g, l.idle.warning(slot))
		case idle.Kick:
			l.Stats.Count[IdleKicked].Inc()
			l.join.dismiss(now, g, packet.ReasonIdle)
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
	if g := l.ofClient(e.Client); g != nil {
		err = l.takePacket(now, g, e.Payload)
	}
	if err == nil {
		return true
	}
	drop, ok := err.(packet.Drop)
	if !ok {
		panic("server: a packet was refused without a reason: " + err.Error())
	}
	l.Stats.Drops[drop].Inc()
	return false
}

// takePacket takes a connection's packet: acks, messages, commands. Acks and messages ahead of an error are kept: both are
// idempotent.
func (l *Lobby) takePacket(now time.Duration, g *guest, data []byte) error {
	rest, err := g.peer.Receive(now, data)
	if err != nil {
		return err
	}
	l.takeAcks(now, g)
	rest, err = g.peer.Sections(rest) // fragments of clients are not taken
	for note, ok := g.peer.NextNote(); ok; note, ok = g.peer.NextNote() {
		if n, ok := sim.ParseMissed(note); ok {
			g.missed = n
		}
	}
	client := g.client
	for message, ok := g.peer.NextEvent(); ok; message, ok = g.peer.NextEvent() {
		l.takeMessage(now, g, message)
		if l.slotOf[client] != int32(g.id.Index()) { // the message has ended the session: later ones count for nothing
			return err
		}
	}
	if err != nil {
		return err
	}
	if _, closed := g.peer.Closed(); closed {
		l.join.quit(now, g)
	} else if packet.SectionOf(rest) == packet.SectionCommands {
		if !g.here(data) { // made on a map that is not played any more
			l.Stats.Count[Elsewhere].Inc()
			return nil
		}
		return l.takeCommands(g, data, rest[1:])
	}
	if len(rest) > 0 {
		return packet.DropSection
	}
	return nil
}

// takeAcks takes what a packet acknowledges.
func (l *Lobby) takeAcks(now time.Duration, g *guest) {
	g.shown.Open()
	for _, c := range g.peer.Delivered() {
		g.delivered(now, l, receipt(c))
	}
	g.proofs += len(g.peer.Delivered())
	g.traffic.taken++
	g.traffic.delivered += uint64(len(g.peer.Delivered()))
	g.traffic.lost += uint64(len(g.peer.Lost()))
}

// takeCommands offers a window of commands, the last section of a packet, to the player's inbox, oldest first: all of it or
// nothing.
func (l *Lobby) takeCommands(g *guest, data, src []byte) error {
	n, rest, err := sim.ParseCommands(src, &l.window)
	if err != nil {
		return packet.DropCommands
	}
	if err := l.arrived(g, data, rest, n); err != nil {
		return err
	}
	inbox := l.match.Inbox(g.id)
	inbox.OfferWindow(l.window[:n])
	l.tallyOf(g, inbox)
	if slot := g.id.Index(); l.roster.viewers[slot].ready {
		l.idle.input(slot, l.window[:n])
	}
	return nil
}

// takeMessage takes a reliable message. Messages of a newer client that mean nothing here are counted and ignored.
func (l *Lobby) takeMessage(now time.Duration, g *guest, message []byte) {
	if message = l.ofThisMap(g, message); message == nil {
		return
	}
	if tag := message[0]; (tag == protocol.TagSay || tag == protocol.TagConsole) && l.roster.viewers[g.id.Index()].ready {
		l.takeLine(now, g, message)
		return
	}
	if len(message) == 1 && message[0] == sim.AskResync {
		g.asked = true
	} else if _, ok := sim.ParseDiverged(message); ok {
		g.asked = true
		l.Stats.Count[Diverged].Inc()
	} else if every, kbps, ok := sim.ParsePace(message); ok {
		g.pace(every, int(kbps), l)
	} else if hero, ok := sim.ParseHero(message); ok && l.match.AskHero(g.id, hero) { // where the mode allows it
	} else if f, err := protocol.ParseFetch(message); err == nil {
		l.join.fetch(now, g, f.Content)
	} else if l.spectate.request(g, message) {
	} else if r, err := protocol.ParseReady(message); err == nil && !g.ready && g.unlike == 0 {
		l.join.ready(now, g, r)
	} else {
		l.Stats.Count[EventsUnknown].Inc()
	}
}

// takeLine takes a line, or a part of one, for the chat or the console.
func (l *Lobby) takeLine(now time.Duration, g *guest, message []byte) {
	text, whole := l.chat.assemble(g.id.Index(), message)
	switch {
	case !whole:
	case message[0] == protocol.TagSay:
		l.chat.say(now, g, text)
	default:
		l.console.submit(now, g, text)
	}
}
