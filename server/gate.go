package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Grace is how long a player stays in the match after its session timed out: whoever comes back with a fresh token of the
// same client id within it finds the same entity.
const Grace = 30 * time.Second

// readyWithin is how long a client may take from the beginning of its session to its Ready. Maps are loaded in it.
const readyWithin = 10 * time.Second

// happened does what the gate says has become of a session. Payloads are not for it.
func (l *Lobby) happened(now time.Duration, e netcode.Event) {
	switch e.Kind {
	case netcode.EventConnected:
		l.arrivals = append(l.arrivals, int32(e.Client))
	case netcode.EventTakeover: // the silent session is gone, its player goes on
		if c := l.connOf(e.Client); c != nil {
			l.served(c)
			l.begin(now, c, e.Client)
			l.Stats.Count[metrics.Reconnected].Inc()
			l.Stats.Count[metrics.Takeovers].Inc()
		}
	case netcode.EventMoved:
		if c := l.connOf(e.Client); c != nil {
			s, _ := l.gate.Session(e.Client)
			c.session.addr = s.Address
			l.Stats.Count[metrics.Migrated].Inc()
		}
	case netcode.EventTimeout:
		if c := l.connOf(e.Client); c != nil {
			l.part(c)
			c.session.lostAt = now
			l.away = append(l.away, int32(c.id.Index()))
			l.Stats.Count[metrics.TimedOut].Inc()
		}
	case netcode.EventKick:
		l.Stats.Count[metrics.FloodKicked].Inc()
		if c := l.connOf(e.Client); c != nil { // else the gate's next Update ends it
			l.dismiss(now, c, packet.ReasonKicked)
		}
	case netcode.EventDisconnect, netcode.EventExhausted:
		if c := l.connOf(e.Client); c != nil {
			l.remove(c)
			l.Stats.Count[metrics.Left].Inc()
		}
	}
	if e.Kind != netcode.EventConnected && e.Kind != netcode.EventTakeover && e.Kind != netcode.EventMoved {
		l.forgetArrival(e.Client)
	}
}

// connOf is the connection of a gate's client, nil while it has none.
func (l *Lobby) connOf(client int) *conn {
	if slot := l.slotOf[client]; slot >= 0 {
		return &l.conns[slot]
	}
	return nil
}

// admit gives players to those who have arrived: the one they had, if they were away, or a new one. The gate has as many
// slots as the match, so whoever finds no player free waits for the end of a tick, at which one is.
func (l *Lobby) admit(now time.Duration) {
	if planted.On(planted.JoinOrder) {
		all := map[int32]bool{}
		for _, client := range l.arrivals {
			all[client] = true
		}
		l.arrivals = l.arrivals[:0]
		for client := range all {
			l.arrivals = append(l.arrivals, client)
		}
	}
	for len(l.arrivals) > 0 {
		client := int(l.arrivals[0])
		s, ok := l.gate.Session(client)
		watches := ok && protocol.Spectates(s.UserData[:])
		if !ok { // gone before it got a player
			l.arrivals = append(l.arrivals[:0], l.arrivals[1:]...)
			continue
		}
		c := l.returning(s.ClientID, watches)
		if why := l.noPlace(c, watches); why != 0 {
			l.arrivals = append(l.arrivals[:0], l.arrivals[1:]...)
			l.turnAway(now, client, why)
			continue
		}
		if c != nil {
			c.rewind.inboxCount = l.match.Inbox(c.id).Count // what went on without it is no loss
			l.Stats.Count[metrics.Reconnected].Inc()
		} else if id := l.join(watches); id != 0 {
			c = &l.conns[id.Index()]
			c.assign(id, s.ClientID, watches)
		} else {
			if l.leaving == 0 && len(l.away) > 0 { // the players of the absent keep nobody out
				l.forsake(0)
			}
			return
		}
		l.arrivals = append(l.arrivals[:0], l.arrivals[1:]...)
		l.begin(now, c, client)
		l.seat(int32(c.id.Index()))
		l.Stats.Count[metrics.Joined].Inc()
	}
}

// join gives somebody who comes in a player, or a place to look on; 0 if none is free.
func (l *Lobby) join(watches bool) netid.ID {
	switch {
	case !l.room(watches):
		return 0
	case watches:
		return l.match.Watch()
	}
	return l.match.Join()
}

// noPlace says why somebody cannot wait for a place either, who is not g, back from absence: 0 if there is one, or one will be free
// with the end of the tick. Only a lobby with places of two kinds gets so far, others are full at the gate.
func (l *Lobby) noPlace(c *conn, watches bool) packet.Reason {
	switch {
	case watches && l.loadLevel >= overload.NoSpectators:
		return packet.ReasonOverload
	case c != nil || l.room(watches):
		return 0
	case watches || l.cfg.Spectators > 0 && l.leaving == 0 && len(l.away) == 0:
		return packet.ReasonFull
	}
	return 0
}

// returning takes the connection with this client id from the absent.
func (l *Lobby) returning(user uint64, watches bool) *conn {
	for i, slot := range l.away {
		if c := &l.conns[slot]; c.roster.user == user && c.roster.spectates == watches {
			l.away = append(l.away[:i], l.away[i+1:]...)
			return c
		}
	}
	return nil
}

// begin starts a session for a connection's player and tells it who it is.
func (l *Lobby) begin(now time.Duration, c *conn, client int) {
	s, _ := l.gate.Session(client)
	c.open(now, l)
	c.session.client, c.session.addr, c.session.token = int32(client), s.Address, s.Token
	l.slotOf[client] = int32(c.id.Index())
	l.social.rise(c.id.Index())
	w := l.welcome(c)
	_ = c.session.peer.Queue(w.Append(l.event[:0])) // the queue is empty
}

// welcome is what a connection is told of what is played.
func (l *Lobby) welcome(c *conn) protocol.Welcome {
	w := protocol.Welcome{
		Version: protocol.Version, Schema: netstate.SchemaHash(), Model: l.cfg.Models.Hash(),
		NetID: uint32(c.id), TickRate: uint8(l.cfg.Rules.Rate), SendInterval: uint8(l.cfg.Interval), Tick: uint32(l.match.Tick()),
		MaxPlayers: uint16(l.cfg.Players), ArenaHash: l.cfg.Arena.Hash(), ArenaName: l.cfg.ArenaName,
	}
	if game := l.cfg.Rules.Game; game.Pack != [32]byte{} {
		w.Content, w.Mode = game.Pack, game.Mode.Name
	}
	return w
}

// ready takes a connection's Ready: from now on it gets snapshots. One that has other schemas or models is told ours, so that it
// can say what differs, and sent away.
func (l *Lobby) ready(now time.Duration, c *conn, r protocol.Ready) {
	switch {
	case r.Version != protocol.Version:
		l.dismiss(now, c, packet.ReasonVersion)
	case r.Schema != netstate.SchemaHash():
		l.explain(now, c, packet.ReasonSchema)
	case r.Model != l.cfg.Models.Hash():
		l.explain(now, c, packet.ReasonModel)
	default:
		l.served(c)
		c.session.ready = true
		l.enrol(c, r.Name)
		l.situate(c)
		c.roster.watch.owed = c.roster.spectates
		l.tellPaces(c)
	}
}

// heardWithin is how long a connection with other schemas or models may take to hear what ours are.
const heardWithin = 2 * time.Second

// explain queues the text of our schemas and model. Once it is heard, or time is up, the connection is dismissed.
func (l *Lobby) explain(now time.Duration, c *conn, why packet.Reason) {
	c.session.mismatch, c.session.since = why, now
	text := l.cfg.Models.AppendText(nil)
	for len(text) > 0 {
		n := min(len(text), packet.MaxEventSize-1)
		if c.session.peer.Queue(append([]byte{protocol.TagSchemas}, text[:n]...)) != nil {
			return // more than an honest build has; the reason must do
		}
		text = text[n:]
	}
}

// expire lets go of those who were away for too long, and of those who do not get ready.
func (l *Lobby) expire(now time.Duration) {
	for len(l.away) > 0 && now-l.conns[l.away[0]].session.lostAt >= Grace {
		l.forsake(0)
	}
	if l.loadLevel >= overload.NoSpectators {
		l.sendHome(now)
	}
	for i := 0; i < len(l.live); i++ {
		switch c := &l.conns[l.live[i]]; {
		case c.session.ready:
		case c.session.mismatch != 0 && (c.session.peer.Queued() == 0 || now-c.session.since >= heardWithin):
			l.dismiss(now, c, c.session.mismatch)
			i--
		case c.overdue(now):
			l.dismiss(now, c, packet.ReasonTimeout)
			i--
		}
	}
}

// dismiss ends a connection's session and tells it why, often enough that the loss of a few datagrams does not matter.
func (l *Lobby) dismiss(now time.Duration, c *conn, why packet.Reason) {
	if l.connected(c) {
		var pack [packet.HeaderSize + 2]byte
		for range packet.CloseRepeats {
			p, _ := c.session.peer.Append(now, pack[:0])
			l.dispatch(now, c, c.session.peer.AppendClose(p, why)) // its sequences end before a session's do
		}
		_ = l.gate.Disconnect(now, int(c.session.client), &l.post) // it is connected
	}
	l.remove(c)
	l.Stats.Count[metrics.Disconnected].Inc()
}

// quit takes the goodbye that came in a connection's package.
func (l *Lobby) quit(now time.Duration, c *conn) {
	if l.connected(c) {
		_ = l.gate.Disconnect(now, int(c.session.client), &l.post) // it is connected
	}
	l.remove(c)
	l.Stats.Count[metrics.Left].Inc()
}

// connected reports whether the gate's session of a connection is still the connection's: in the batch in hand it may have left already,
// and another may have its place at the gate.
func (l *Lobby) connected(c *conn) bool {
	s, ok := l.gate.Session(int(c.session.client))
	return ok && s.Token == c.session.token
}

// part separates a connection from its session. Its player stays.
func (l *Lobby) part(c *conn) {
	l.served(c)
	l.uncamera(c)
	l.slotOf[c.session.client] = -1
	l.unseat(int32(c.id.Index()))
	l.social.rise(c.id.Index())
}

// remove separates a connection from its session and takes its player out of the match.
func (l *Lobby) remove(c *conn) {
	l.part(c)
	l.leave(c)
}

func (l *Lobby) leave(c *conn) {
	l.match.Leave(c.id)
	l.unenrol(c)
	l.leaving++
}

// forsake takes the player of the i-th of the absent out of the match.
func (l *Lobby) forsake(i int) {
	l.leave(&l.conns[l.away[i]])
	l.away = append(l.away[:i], l.away[i+1:]...)
}

// forgetArrival strikes a client off the list of those who wait for a player.
func (l *Lobby) forgetArrival(client int) {
	for i, c := range l.arrivals {
		if int(c) == client {
			l.arrivals = append(l.arrivals[:i], l.arrivals[i+1:]...)
			return
		}
	}
}

// seat keeps the list of live slots ascending, so that every run visits connections in one order.
func (l *Lobby) seat(slot int32) {
	i := len(l.live)
	l.live = append(l.live, slot)
	for ; i > 0 && l.live[i-1] > slot; i-- {
		l.live[i] = l.live[i-1]
	}
	l.live[i] = slot
}

func (l *Lobby) unseat(slot int32) {
	l.tally(&l.conns[slot])
	for i, s := range l.live {
		if s == slot {
			l.live = append(l.live[:i], l.live[i+1:]...)
			return
		}
	}
}

// Close tells every connection why the lobby ends and admits nobody any more.
func (l *Lobby) Close(now time.Duration, sock netio.Conn, why packet.Reason) error {
	for more := true; more; {
		var err error
		if more, err = l.CloseSome(now, sock, why); err != nil {
			return err
		}
	}
	return nil
}

// closeGuests is how many connections CloseSome tells: a thousand datagrams, which a socket's buffer takes.
const closeGuests = 50

// CloseSome is a part of Close and reports whether there is more: a datagram that finds the socket's buffer full is lost, and the
// twenty of one connection lie side by side.
func (l *Lobby) CloseSome(now time.Duration, sock netio.Conn, why packet.Reason) (more bool, err error) {
	l.gate.Refuse()
	for n := 0; len(l.live) > 0; n++ {
		if n == closeGuests {
			return true, nil
		}
		l.dismiss(now, &l.conns[l.live[len(l.live)-1]], why)
		if err := l.mail(now, sock); err != nil {
			return false, err
		}
	}
	l.arrivals = l.arrivals[:0]
	l.gate.Close(now, &l.post) // those who wait for a player
	return false, l.mail(now, sock)
}
