package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// inbound turns received datagrams into commands of the match and messages for the parts of a
// lobby. Packets concern every part, so it has the whole lobby.
type inbound struct {
	*core
	l      *Lobby
	window [sim.MaxWindow]sim.Command // scratch
	kept   tick.Tick                  // up to which housekeeping is done
}

// prepare does what is due between two ticks: it ends the sessions that are over, and gives
// arrivals their players.
func (in *inbound) prepare(now time.Duration) {
	in.prefetch()
	in.l.join.expire(now)
	in.housekeeping(now)
	in.pollMap(now)
	in.l.join.admit(now)
}

// housekeeping does between two ticks what is not urgent: lines for the console, and for a part of
// the slots the team in the roster and the idle player, so that each slot is looked at once a second
// however many ticks are played at once.
func (in *inbound) housekeeping(now time.Duration) {
	in.l.console.run(now)
	t, rate := in.match.Tick(), tick.Tick(in.cfg.Rules.Rate)
	for in.kept = max(in.kept, t-min(t, rate)); in.kept < t; {
		in.kept++
		for slot := in.kept % rate; int(slot) < len(in.conns); slot += rate {
			in.keepSlot(now, int(slot))
		}
	}
}

// keepSlot is housekeeping for one slot.
func (in *inbound) keepSlot(now time.Duration, slot int) {
	l := in.l
	l.scores.update(slot)
	if !l.roster.viewers[slot].ready {
		return
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

// pollMap changes to the pending map once it is loaded.
func (in *inbound) pollMap(now time.Duration) {
	loaded, err := in.l.maps.poll()
	if loaded == nil && err == nil {
		return
	}
	if err == nil {
		err = in.l.InstallMap(now, *loaded)
	}
	in.l.maps.finish(err)
}

// takePayload takes an opened payload, and counts whether it held a packet that was accepted.
func (in *inbound) takePayload(now time.Duration, e netcode.Event) {
	err := error(packet.DropState)
	if c := in.ofClient(e.Client); c != nil {
		err = in.takePacket(now, c, e.Payload)
	}
	if err == nil {
		in.traffic.accepted++
		return
	}
	drop, ok := err.(packet.Drop)
	if !ok {
		panic("server: a packet was refused without a reason: " + err.Error())
	}
	in.Stats.PacketDrops[drop].Inc()
}

// takePacket takes a connection's packet: acks, messages, commands. Acks and messages ahead of an
// error are kept: both are idempotent.
func (in *inbound) takePacket(now time.Duration, c *conn, data []byte) error {
	rest, err := c.session.peer.Receive(now, data)
	if err != nil {
		return err
	}
	in.takeAcks(now, c)
	rest, err = c.session.peer.Sections(rest) // fragments of clients are not taken
	for note, ok := c.session.peer.NextUnreliable(); ok; note, ok = c.session.peer.NextUnreliable() {
		if n, ok := sim.ParseMispredictions(note); ok {
			c.session.stats.mispredicted = n
		}
	}
	client := c.session.client
	for message, ok := c.session.peer.NextReliable(); ok; message, ok = c.session.peer.NextReliable() {
		in.takeMessage(now, c, message)
		if in.ofClient(int(client)) != c { // the message has ended the session
			return err
		}
	}
	if err != nil {
		return err
	}
	if _, closed := c.session.peer.Closed(); closed {
		in.l.join.quit(now, c)
	} else if packet.SectionOf(rest) == packet.SectionCommands {
		if !c.onCurrentMap(data) { // made on a map that is not played any more
			in.Stats.Count[metrics.StaleMapEpoch].Inc()
			return nil
		}
		return in.takeCommands(c, data, rest[1:])
	}
	if len(rest) > 0 {
		return packet.DropSection
	}
	return nil
}

// takeAcks takes what a packet acknowledges.
func (in *inbound) takeAcks(now time.Duration, c *conn) {
	delivered := c.session.peer.Delivered()
	if len(delivered) > 0 { // most packets acknowledge nothing new
		c.repl.acks.packets.BeginAcks()
	}
	for _, tag := range delivered {
		c.acked(now, &in.l.replication, ackTag(tag))
	}
	c.rewind.lagSwitch.acks += len(delivered)
	c.session.stats.taken++
	c.session.stats.delivered += uint64(len(delivered))
	c.session.stats.lost += uint64(len(c.session.peer.Lost()))
}

// takeCommands offers a window of commands, the last section of a packet, to the player's inbox,
// oldest first: all of it or nothing.
func (in *inbound) takeCommands(c *conn, data, src []byte) error {
	n, rest, err := sim.ParseCommands(src, &in.window)
	if err != nil {
		return packet.DropCommands
	}
	if a := &in.l.join.awaiting; a.on {
		a.keep(c.id.Index(), in.window[:n])
		return nil
	}
	if err := in.l.rewind.takeArrivals(c, data, rest, in.window[:n]); err != nil {
		return err
	}
	inbox := in.match.CommandBuffer(c.id)
	inbox.OfferWindow(in.window[:n])
	in.countInputs(c, inbox)
	if slot := c.id.Index(); in.l.roster.viewers[slot].ready {
		in.l.idle.input(slot, in.window[:n])
	}
	return nil
}

// takeMessage takes a reliable message. Messages of a newer client that mean nothing here are
// counted and ignored.
func (in *inbound) takeMessage(now time.Duration, c *conn, message []byte) {
	if message = in.ofThisMap(c, message); message == nil {
		return
	}
	if tag := message[0]; tag == protocol.MessageSay || tag == protocol.MessageConsole {
		if in.l.roster.viewers[c.id.Index()].ready {
			in.takeLine(now, c, message)
		} else {
			in.Stats.Count[metrics.MessagesUnknown].Inc()
		}
		return
	}
	if len(message) == 1 && message[0] == sim.AskResync {
		c.repl.acks.resyncRequested = true
	} else if _, ok := sim.ParseDiverged(message); ok {
		c.repl.acks.resyncRequested = true
		in.Stats.Count[metrics.ChecksumMismatches].Inc()
	} else if every, kbps, ok := sim.ParseSnapshotRate(message); ok {
		c.repl.pacing.setRate(every, int(kbps), &in.cfg)
	} else if hero, ok := sim.ParseHero(message); ok && in.match.RequestHero(c.id, hero) {
	} else if f, err := protocol.ParseFetch(message); err == nil {
		in.l.join.fetch(now, c, f.Content)
	} else if in.l.spectate.request(c, message) {
	} else if r, err := protocol.ParseReady(message); err == nil && c.awaitsReady() {
		in.l.join.ready(now, c, r)
	} else {
		in.Stats.Count[metrics.MessagesUnknown].Inc()
	}
}

// takeLine takes a line, or a part of one, for the chat or the console.
func (in *inbound) takeLine(now time.Duration, c *conn, message []byte) {
	text, whole := in.l.chat.assemble(c.id.Index(), message)
	switch {
	case !whole:
	case message[0] == protocol.MessageSay:
		in.l.chat.say(now, c, text)
	default:
		in.l.console.submit(now, c, text)
	}
}
