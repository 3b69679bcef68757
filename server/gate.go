package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/ghost"
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
		if g := l.guestOf(e.Client); g != nil {
			l.served(g)
			l.begin(now, g, e.Client)
			l.Stats.Count[metrics.Reconnected].Inc()
			l.Stats.Count[metrics.Takeovers].Inc()
		}
	case netcode.EventMoved:
		if g := l.guestOf(e.Client); g != nil {
			s, _ := l.gate.Session(e.Client)
			g.addr = s.Address
			l.Stats.Count[metrics.Migrated].Inc()
		}
	case netcode.EventTimeout:
		if g := l.guestOf(e.Client); g != nil {
			l.part(g)
			g.away = now
			l.away = append(l.away, int32(g.id.Index()))
			l.Stats.Count[metrics.TimedOut].Inc()
		}
	case netcode.EventKick:
		l.Stats.Count[metrics.FloodKicked].Inc()
		if g := l.guestOf(e.Client); g != nil { // else the gate's next Update ends it
			l.dismiss(now, g, wire.ReasonKicked)
		}
	case netcode.EventDisconnect, netcode.EventExhausted:
		if g := l.guestOf(e.Client); g != nil {
			l.remove(g)
			l.Stats.Count[metrics.Left].Inc()
		}
	}
	if e.Kind != netcode.EventConnected && e.Kind != netcode.EventTakeover && e.Kind != netcode.EventMoved {
		l.forgetArrival(e.Client)
	}
}

// guestOf is the guest of a gate's client, nil while it has none.
func (l *Lobby) guestOf(client int) *guest {
	if slot := l.seats[client]; slot >= 0 {
		return &l.guests[slot]
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
		watches := ok && wire.Spectates(s.UserData[:])
		if !ok { // gone before it got a player
			l.arrivals = append(l.arrivals[:0], l.arrivals[1:]...)
			continue
		}
		g := l.returning(s.ClientID, watches)
		if why := l.noPlace(g, watches); why != 0 {
			l.arrivals = append(l.arrivals[:0], l.arrivals[1:]...)
			l.turnAway(now, client, why)
			continue
		}
		if g != nil {
			g.inputs = l.match.Inbox(g.id).Count // what went on without it is no loss
			l.Stats.Count[metrics.Reconnected].Inc()
		} else if id := l.join(watches); id != 0 {
			g = &l.guests[id.Index()]
			*g = guest{id: id, watches: watches, user: s.ClientID, peer: g.peer, tracker: g.tracker, shown: g.shown, owner: g.owner, eyes: g.eyes, things: g.things, fights: g.fights, thin: g.thin}
		} else {
			if l.leaving == 0 && len(l.away) > 0 { // the players of the absent keep nobody out
				l.forsake(0)
			}
			return
		}
		l.arrivals = append(l.arrivals[:0], l.arrivals[1:]...)
		l.begin(now, g, client)
		l.seat(int32(g.id.Index()))
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
func (l *Lobby) noPlace(g *guest, watches bool) wire.Reason {
	switch {
	case watches && l.loadLevel >= overload.NoSpectators:
		return wire.ReasonOverload
	case g != nil || l.room(watches):
		return 0
	case watches || l.cfg.Spectators > 0 && l.leaving == 0 && len(l.away) == 0:
		return wire.ReasonFull
	}
	return 0
}

// returning takes the guest with this client id from the absent.
func (l *Lobby) returning(user uint64, watches bool) *guest {
	for i, slot := range l.away {
		if g := &l.guests[slot]; g.user == user && g.watches == watches {
			l.away = append(l.away[:i], l.away[i+1:]...)
			return g
		}
	}
	return nil
}

// begin starts a session for a guest's player and tells it who it is.
func (l *Lobby) begin(now time.Duration, g *guest, client int) {
	s, _ := l.gate.Session(client)
	g.open(now, l)
	g.client, g.addr, g.tag = int32(client), s.Address, s.Token
	l.seats[client] = int32(g.id.Index())
	l.social.rise(g.id.Index())
	w := l.welcome(g)
	_ = g.peer.Queue(w.Append(l.event[:0])) // the queue is empty
}

// welcome is what a guest is told of what is played.
func (l *Lobby) welcome(g *guest) wire.Welcome {
	w := wire.Welcome{
		Version: wire.Version, Schema: ghost.SchemaHash(), Model: l.cfg.Models.Hash(),
		NetID: uint32(g.id), TickRate: uint8(l.cfg.Rules.Rate), SendInterval: uint8(l.cfg.Interval), Tick: uint32(l.match.Tick()),
		MaxPlayers: uint16(l.cfg.Players), ArenaHash: l.cfg.Arena.Hash(), ArenaName: l.cfg.ArenaName,
	}
	if game := l.cfg.Rules.Game; game.Pack != [32]byte{} {
		w.Content, w.Mode = game.Pack, game.Mode.Name
	}
	return w
}

// ready takes a guest's Ready: from now on it gets snapshots. One that has other schemas or models is told ours, so that it
// can say what differs, and sent away.
func (l *Lobby) ready(now time.Duration, g *guest, r wire.Ready) {
	switch {
	case r.Version != wire.Version:
		l.dismiss(now, g, wire.ReasonVersion)
	case r.Schema != ghost.SchemaHash():
		l.explain(now, g, wire.ReasonSchema)
	case r.Model != l.cfg.Models.Hash():
		l.explain(now, g, wire.ReasonModel)
	default:
		l.served(g)
		g.ready = true
		l.enrol(g, r.Name)
		l.situate(g)
		g.watch.owed = g.watches
		l.tellPaces(g)
	}
}

// heardWithin is how long a guest with other schemas or models may take to hear what ours are.
const heardWithin = 2 * time.Second

// explain queues the text of our schemas and model. Once it is heard, or time is up, the guest is dismissed.
func (l *Lobby) explain(now time.Duration, g *guest, why wire.Reason) {
	g.unlike, g.since = why, now
	text := l.cfg.Models.AppendText(nil)
	for len(text) > 0 {
		n := min(len(text), session.MaxEventSize-1)
		if g.peer.Queue(append([]byte{wire.TagSchemas}, text[:n]...)) != nil {
			return // more than an honest build has; the reason must do
		}
		text = text[n:]
	}
}

// expire lets go of those who were away for too long, and of those who do not get ready.
func (l *Lobby) expire(now time.Duration) {
	for len(l.away) > 0 && now-l.guests[l.away[0]].away >= Grace {
		l.forsake(0)
	}
	if l.loadLevel >= overload.NoSpectators {
		l.sendHome(now)
	}
	for i := 0; i < len(l.live); i++ {
		switch g := &l.guests[l.live[i]]; {
		case g.ready:
		case g.unlike != 0 && (g.peer.Queued() == 0 || now-g.since >= heardWithin):
			l.dismiss(now, g, g.unlike)
			i--
		case g.overdue(now):
			l.dismiss(now, g, wire.ReasonTimeout)
			i--
		}
	}
}

// dismiss ends a guest's session and tells it why, often enough that the loss of a few datagrams does not matter.
func (l *Lobby) dismiss(now time.Duration, g *guest, why wire.Reason) {
	if l.connected(g) {
		var pack [wire.HeaderSize + 2]byte
		for range session.CloseRepeats {
			p, _ := g.peer.Append(now, pack[:0])
			l.dispatch(now, g, g.peer.AppendClose(p, why)) // its sequences end before a session's do
		}
		_ = l.gate.Disconnect(now, int(g.client), &l.post) // it is connected
	}
	l.remove(g)
	l.Stats.Count[metrics.Disconnected].Inc()
}

// quit takes the goodbye that came in a guest's package.
func (l *Lobby) quit(now time.Duration, g *guest) {
	if l.connected(g) {
		_ = l.gate.Disconnect(now, int(g.client), &l.post) // it is connected
	}
	l.remove(g)
	l.Stats.Count[metrics.Left].Inc()
}

// connected reports whether the gate's session of a guest is still the guest's: in the batch in hand it may have left already,
// and another may have its place at the gate.
func (l *Lobby) connected(g *guest) bool {
	s, ok := l.gate.Session(int(g.client))
	return ok && s.Token == g.tag
}

// part separates a guest from its session. Its player stays.
func (l *Lobby) part(g *guest) {
	l.served(g)
	l.uncamera(g)
	l.seats[g.client] = -1
	l.unseat(int32(g.id.Index()))
	l.social.rise(g.id.Index())
}

// remove separates a guest from its session and takes its player out of the match.
func (l *Lobby) remove(g *guest) {
	l.part(g)
	l.leave(g)
}

func (l *Lobby) leave(g *guest) {
	l.match.Leave(g.id)
	l.unenrol(g)
	l.leaving++
}

// forsake takes the player of the i-th of the absent out of the match.
func (l *Lobby) forsake(i int) {
	l.leave(&l.guests[l.away[i]])
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

// seat keeps the list of live slots ascending, so that every run visits guests in one order.
func (l *Lobby) seat(slot int32) {
	i := len(l.live)
	l.live = append(l.live, slot)
	for ; i > 0 && l.live[i-1] > slot; i-- {
		l.live[i] = l.live[i-1]
	}
	l.live[i] = slot
}

func (l *Lobby) unseat(slot int32) {
	l.tally(&l.guests[slot])
	for i, s := range l.live {
		if s == slot {
			l.live = append(l.live[:i], l.live[i+1:]...)
			return
		}
	}
}

// Close tells every guest why the lobby ends and admits nobody any more.
func (l *Lobby) Close(now time.Duration, conn netio.Conn, why wire.Reason) error {
	for more := true; more; {
		var err error
		if more, err = l.closeSome(now, conn, why); err != nil {
			return err
		}
	}
	return nil
}

// closeGuests is how many guests closeSome tells: a thousand datagrams, which a socket's buffer takes.
const closeGuests = 50

// closeSome is a part of Close and reports whether there is more: a datagram that finds the socket's buffer full is lost, and the
// twenty of one guest lie side by side.
func (l *Lobby) closeSome(now time.Duration, conn netio.Conn, why wire.Reason) (more bool, err error) {
	l.gate.Refuse()
	for n := 0; len(l.live) > 0; n++ {
		if n == closeGuests {
			return true, nil
		}
		l.dismiss(now, &l.guests[l.live[len(l.live)-1]], why)
		if err := l.mail(now, conn); err != nil {
			return false, err
		}
	}
	l.arrivals = l.arrivals[:0]
	l.gate.Close(now, &l.post) // those who wait for a player
	return false, l.mail(now, conn)
}
