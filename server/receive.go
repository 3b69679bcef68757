package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// receiveBatches bounds how much of a flood one tick looks at; the rest waits in the socket, and what that cannot hold
// the kernel drops and counts.
const receiveBatches = 256

// receive takes in everything that has arrived, and lets go of the connections who are gone.
func (l *Lobby) receive(now time.Duration, unix int64, sock netio.Conn) error {
	for _, e := range l.gate.Update(now, unix, &l.egress.outbox) {
		l.happened(now, e)
	}
	l.expire(now)
	l.attend(now)
	l.travel(now)
	l.admit(now)
	if err := l.mail(now, sock); err != nil {
		return err
	}
	for range receiveBatches {
		n, err := sock.Receive(&l.in)
		if n == 0 || err != nil {
			return err
		}
		l.timer.Enter(metrics.StageOpen)
		l.open(now, unix)
		l.timer.Enter(metrics.StageReceive)
		accepted := 0
		for i := range l.opened {
			if l.take(now, l.opened[i]) {
				accepted++
			}
		}
		l.Stats.Count[metrics.Accepted].Add(uint64(accepted))
		l.admit(now)
		if err := l.mail(now, sock); err != nil {
			return err
		}
	}
	return nil
}

// open hands a batch to the gate and keeps what it says: sessions first, then handshakes, so that strangers never stand in
// a player's way. Every datagram is counted once: accepted, or refused for a reason, or it holds a package, which take
// accepts or drops.
func (l *Lobby) open(now time.Duration, unix int64) {
	l.opened = l.opened[:0]
	strangers := false
	l.Stats.Count[metrics.Received].Add(uint64(l.in.Len()))
	bytes := 0
	for i := range l.in.Len() {
		data := l.in.Data(i)
		bytes += len(data)
		if netcode.IsHandshake(data) {
			strangers = true
			continue
		}
		l.unseal(now, unix, l.in.From(i), data)
	}
	l.Stats.Count[metrics.BytesIn].Add(uint64(bytes))
	for i := 0; strangers && i < l.in.Len(); i++ {
		if data := l.in.Data(i); netcode.IsHandshake(data) {
			l.unseal(now, unix, l.in.From(i), data)
		}
	}
}

func (l *Lobby) unseal(now time.Duration, unix int64, from netip.AddrPort, data []byte) {
	e, err := l.gate.Receive(now, unix, from, data, &l.egress.outbox)
	if err != nil {
		l.Stats.AuthDrops[err.(netcode.Drop)].Inc() // it has no other errors
		return
	}
	if e.Kind != netcode.EventPayload {
		l.Stats.Count[metrics.Accepted].Inc()
	} else if c := l.connOf(e.Client); c != nil {
		c.session.stats.up += uint64(len(data))
	}
	if e.Kind != netcode.EventNone {
		l.opened = append(l.opened, e)
	}
}

// take does what one opened datagram says, and reports whether it held a package that was accepted.
func (l *Lobby) take(now time.Duration, e netcode.Event) (accepted bool) {
	if e.Kind != netcode.EventPayload {
		l.happened(now, e)
		return false
	}
	err := error(packet.DropState)
	if c := l.connOf(e.Client); c != nil {
		err = l.pack(now, c, e.Payload)
	}
	if err == nil {
		return true
	}
	drop, ok := err.(packet.Drop)
	if !ok {
		panic("server: a package was refused without a reason: " + err.Error())
	}
	l.Stats.PacketDrops[drop].Inc()
	return false
}

// pack takes a connection's package: acks, events, commands. What is accepted in part before an error is found, acks and
// events, stays: both are idempotent.
func (l *Lobby) pack(now time.Duration, c *conn, data []byte) error {
	rest, err := c.session.peer.Receive(now, data)
	if err != nil {
		return err
	}
	c.repl.acks.history.Open()
	for _, tag := range c.session.peer.Delivered() {
		c.delivered(now, l, ackTag(tag))
	}
	c.rewind.lagSwitch.acks += len(c.session.peer.Delivered())
	c.session.stats.taken++
	c.session.stats.delivered += uint64(len(c.session.peer.Delivered()))
	c.session.stats.lost += uint64(len(c.session.peer.Lost()))
	rest, err = c.session.peer.Sections(rest) // blobs of clients are not taken
	for note, ok := c.session.peer.NextUnreliable(); ok; note, ok = c.session.peer.NextUnreliable() {
		if n, ok := sim.ParseMispredictions(note); ok {
			c.session.stats.mispredicted = n
		}
	}
	client := c.session.client
	for e, ok := c.session.peer.NextReliable(); ok; e, ok = c.session.peer.NextReliable() {
		l.request(now, c, e)
		if l.slotOf[client] != int32(c.id.Index()) { // the event has ended the session: others of it say nothing any more
			return err
		}
	}
	if err != nil {
		return err
	}
	if _, closed := c.session.peer.Closed(); closed {
		l.quit(now, c)
	} else if packet.SectionOf(rest) == packet.SectionCommands {
		if !c.here(data) { // made on a map that is not played any more
			l.Stats.Count[metrics.StaleMapEpoch].Inc()
			return nil
		}
		return l.commands(c, data, rest[1:])
	}
	if len(rest) > 0 {
		return packet.DropSection
	}
	return nil
}

// commands offers a window of commands, the last section of a package, to the player's inbox, oldest first: all of it or
// nothing.
func (l *Lobby) commands(c *conn, pack, src []byte) error {
	n, rest, err := sim.ParseCommands(src, &l.window)
	if err != nil {
		return packet.DropCommands
	}
	if err := l.arrived(c, pack, rest, n); err != nil {
		return err
	}
	inbox := l.match.CommandBuffer(c.id)
	inbox.OfferWindow(l.window[:n])
	l.tallyOf(c, inbox)
	l.acts(c, n)
	return nil
}

// request handles a reliable event from a client: that it is ready, or wants to start anew without baselines, as its snapshots may
// have diverged from ours, or another pace, or to be another hero; others, of a newer client perhaps, are counted and ignored.
func (l *Lobby) request(now time.Duration, c *conn, event []byte) {
	if event = l.elsewhere(c, event); event == nil {
		return
	}
	if len(event) == 1 && event[0] == sim.AskResync {
		c.repl.acks.resyncRequested = true
	} else if _, ok := sim.ParseDiverged(event); ok {
		c.repl.acks.resyncRequested = true
		l.Stats.Count[metrics.ChecksumMismatches].Inc()
	} else if every, kbps, ok := sim.ParseSnapshotRate(event); ok {
		c.pace(every, int(kbps), l)
	} else if hero, ok := sim.ParseHero(event); ok && l.match.RequestHero(c.id, hero) { // it becomes one where the mode allows it
	} else if f, err := protocol.ParseFetch(event); err == nil {
		l.fetch(now, c, f.Content)
	} else if l.talk(now, c, event) || l.watchAs(c, event) {
		return
	} else if r, err := protocol.ParseReady(event); err != nil || c.session.ready || c.session.mismatch != 0 {
		l.Stats.Count[metrics.MessagesUnknown].Inc()
	} else {
		l.ready(now, c, r)
	}
}
