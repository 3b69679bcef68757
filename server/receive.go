package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// receiveBatches bounds how much of a flood one tick looks at; the rest waits in the socket, and what that cannot hold
// the kernel drops and counts.
const receiveBatches = 256

// receive takes in everything that has arrived, and lets go of the guests who are gone.
func (l *Lobby) receive(now time.Duration, unix int64, conn netio.Conn) error {
	for _, e := range l.gate.Update(now, unix, &l.post) {
		l.happened(now, e)
	}
	l.expire(now)
	l.attend(now)
	l.travel(now)
	l.admit(now)
	if err := l.mail(now, conn); err != nil {
		return err
	}
	for range receiveBatches {
		n, err := conn.Receive(&l.in)
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
		if err := l.mail(now, conn); err != nil {
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
		if netcode.Handshake(data) {
			strangers = true
			continue
		}
		l.unseal(now, unix, l.in.From(i), data)
	}
	l.Stats.Count[metrics.BytesIn].Add(uint64(bytes))
	for i := 0; strangers && i < l.in.Len(); i++ {
		if data := l.in.Data(i); netcode.Handshake(data) {
			l.unseal(now, unix, l.in.From(i), data)
		}
	}
}

func (l *Lobby) unseal(now time.Duration, unix int64, from netip.AddrPort, data []byte) {
	e, err := l.gate.Receive(now, unix, from, data, &l.post)
	if err != nil {
		l.Stats.AuthDrops[err.(netcode.Drop)].Inc() // it has no other errors
		return
	}
	if e.Kind != netcode.EventPayload {
		l.Stats.Count[metrics.Accepted].Inc()
	} else if g := l.guestOf(e.Client); g != nil {
		g.traffic.up += uint64(len(data))
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
	err := error(wire.DropState)
	if g := l.guestOf(e.Client); g != nil {
		err = l.pack(now, g, e.Payload)
	}
	if err == nil {
		return true
	}
	drop, ok := err.(wire.Drop)
	if !ok {
		panic("server: a package was refused without a reason: " + err.Error())
	}
	l.Stats.PacketDrops[drop].Inc()
	return false
}

// pack takes a guest's package: acks, events, commands. What is accepted in part before an error is found, acks and
// events, stays: both are idempotent.
func (l *Lobby) pack(now time.Duration, g *guest, data []byte) error {
	rest, err := g.peer.Receive(now, data)
	if err != nil {
		return err
	}
	g.shown.Open()
	for _, c := range g.peer.Delivered() {
		g.delivered(now, l, receipt(c))
	}
	g.proofs += len(g.peer.Delivered())
	g.traffic.taken++
	g.traffic.delivered += uint64(len(g.peer.Delivered()))
	g.traffic.lost += uint64(len(g.peer.Lost()))
	rest, err = g.peer.Sections(rest) // blobs of clients are not taken
	for note, ok := g.peer.NextNote(); ok; note, ok = g.peer.NextNote() {
		if n, ok := sim.ParseMissed(note); ok {
			g.missed = n
		}
	}
	client := g.client
	for e, ok := g.peer.NextEvent(); ok; e, ok = g.peer.NextEvent() {
		l.request(now, g, e)
		if l.seats[client] != int32(g.id.Index()) { // the event has ended the session: others of it say nothing any more
			return err
		}
	}
	if err != nil {
		return err
	}
	if _, closed := g.peer.Closed(); closed {
		l.quit(now, g)
	} else if wire.SectionOf(rest) == wire.SectionCommands {
		if !g.here(data) { // made on a map that is not played any more
			l.Stats.Count[metrics.StaleMapEpoch].Inc()
			return nil
		}
		return l.commands(g, data, rest[1:])
	}
	if len(rest) > 0 {
		return wire.DropSection
	}
	return nil
}

// commands offers a window of commands, the last section of a package, to the player's inbox, oldest first: all of it or
// nothing.
func (l *Lobby) commands(g *guest, pack, src []byte) error {
	n, rest, err := sim.ParseCommands(src, &l.window)
	if err != nil {
		return wire.DropCommands
	}
	if err := l.arrived(g, pack, rest, n); err != nil {
		return err
	}
	inbox := l.match.Inbox(g.id)
	inbox.OfferWindow(l.window[:n])
	l.tallyOf(g, inbox)
	l.acts(g, n)
	return nil
}

// request handles a reliable event from a client: that it is ready, or wants to start anew without baselines, as its snapshots may
// have diverged from ours, or another pace, or to be another hero; others, of a newer client perhaps, are counted and ignored.
func (l *Lobby) request(now time.Duration, g *guest, event []byte) {
	if event = l.elsewhere(g, event); event == nil {
		return
	}
	if len(event) == 1 && event[0] == sim.AskResync {
		g.asked = true
	} else if _, ok := sim.ParseDiverged(event); ok {
		g.asked = true
		l.Stats.Count[metrics.ChecksumMismatches].Inc()
	} else if every, kbps, ok := sim.ParsePace(event); ok {
		g.pace(every, int(kbps), l)
	} else if hero, ok := sim.ParseHero(event); ok && l.match.AskHero(g.id, hero) { // it becomes one where the mode allows it
	} else if f, err := wire.ParseFetch(event); err == nil {
		l.fetch(now, g, f.Content)
	} else if l.talk(now, g, event) || l.watchAs(g, event) {
		return
	} else if r, err := wire.ParseReady(event); err != nil || g.ready || g.unlike != 0 {
		l.Stats.Count[metrics.MessagesUnknown].Inc()
	} else {
		l.ready(now, g, r)
	}
}
