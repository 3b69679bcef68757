package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
)

// receiveBatches bounds how much of a flood one tick looks at; the rest waits in the ring, and what the ring cannot
// hold is dropped there, counted.
const receiveBatches = 256

// receive takes in everything that has arrived, and drops the guests who are gone.
func (l *Lobby) receive(now time.Duration, conn netio.Conn) error {
	if err := l.expire(now, conn); err != nil {
		return err
	}
	l.strangers = 0
	for range receiveBatches {
		n, err := conn.Receive(&l.in)
		if n == 0 || err != nil {
			return err
		}
		for i := range n {
			l.datagram(now, l.in.At(i))
			if l.out.Full() {
				if err := l.flush(conn); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// datagram takes one datagram and counts it once, as accepted or by the reason for which it was dropped. What is
// accepted in part before an error is found, acks and events, stays: both are idempotent.
func (l *Lobby) datagram(now time.Duration, d netio.Datagram) {
	l.Stats.Count[Received].Inc()
	l.Stats.Count[BytesIn].Add(uint64(len(d.Data)))
	var err error
	kind := wire.KindOf(d.Data)
	if slot, known := l.addrs.Get(d.Addr); known && (kind == wire.KindPayload || kind == wire.KindDisconnect) {
		err = l.payload(now, &l.guests[slot], d.Data)
	} else {
		err = l.stranger(now, d)
	}
	if err == nil {
		l.Stats.Count[Accepted].Inc()
		return
	}
	drop, ok := err.(wire.Drop)
	if !ok {
		panic("server: a datagram was refused without a reason: " + err.Error())
	}
	l.Stats.Drops[drop].Inc()
}

// payload takes a datagram of a guest: acks, events, commands.
func (l *Lobby) payload(now time.Duration, g *guest, data []byte) error {
	rest, err := g.peer.Receive(now, data)
	if err != nil {
		return err
	}
	if _, closed := g.peer.Closed(); closed {
		l.remove(g, Left)
		return nil
	}
	for _, c := range g.peer.Delivered() {
		g.delivered(snapshot.Cookie(c))
	}
	rest, err = g.peer.Sections(rest) // clients have no notes that matter, and their blobs are not taken
	for e, ok := g.peer.NextEvent(); ok; e, ok = g.peer.NextEvent() {
		l.request(g, e)
	}
	if err != nil {
		return err
	}
	if wire.SectionOf(rest) == wire.SectionCommands {
		if rest, err = l.commands(g, rest[1:]); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return wire.DropSection
	}
	return nil
}

// commands offers a window of commands to the player's inbox, oldest first.
func (l *Lobby) commands(g *guest, src []byte) (rest []byte, err error) {
	n, rest, err := sim.ParseCommands(src, &l.window)
	if err != nil {
		return nil, wire.DropCommands
	}
	inbox := l.match.Inbox(g.id)
	for i := n - 1; i >= 0; i-- {
		inbox.Offer(l.window[i])
	}
	return rest, nil
}

// request handles a reliable event from a client: the request to start anew without baselines, or for another pace;
// others are of a newer client and ignored.
func (l *Lobby) request(g *guest, event []byte) {
	if len(event) == 1 && event[0] == sim.AskResync {
		g.asked = true
	}
	if every, kbps, ok := sim.ParsePace(event); ok {
		g.pace(every, int(kbps), l)
	}
}
