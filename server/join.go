package server

import (
	"errors"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// ReconnectGrace is how long a player stays in the match after its session timed out. A fresh token
// of the same client id finds the same entity within it.
const ReconnectGrace = 30 * time.Second

// readyWithin is how long a client may take from the start of its session to its Ready. Clients
// load maps in it.
const readyWithin = 10 * time.Second

// schemasWithin is how long a client with other schemas or models may take to acknowledge the text
// of ours.
const schemasWithin = 2 * time.Second

// join gives sessions their players and takes them back: it connects, rejects, dismisses and
// expires. What joins or leaves concerns every part of the lobby, so it has the whole lobby.
type join struct {
	*core
	l        *Lobby
	arrivals []int32 // clients of netcode without a player, by arrival
	closed   bool    // the lobby takes no arrivals any more
	ended    bool    // its port has forgotten it
	awaiting awaiting
}

// event handles the session events of netcode, but for payloads.
func (j *join) event(now time.Duration, e netcode.Event) {
	c := j.ofClient(e.Client)
	switch e.Kind {
	case netcode.EventConnected:
		j.arrivals = append(j.arrivals, int32(e.Client))
		return
	case netcode.EventTakeover: // the silent session is gone, its player goes on
		if c != nil {
			j.l.transfers.done(c)
			j.l.recording.forget(c)
			j.begin(now, c, e.Client)
			j.Stats.Count[metrics.Reconnected].Inc()
			j.Stats.Count[metrics.Takeovers].Inc()
		}
		return
	case netcode.EventMigrated:
		if c != nil {
			s, _ := j.port.netcode.Session(e.Client)
			c.session.addr = s.Address
			j.Stats.Count[metrics.Migrated].Inc()
		}
		return
	case netcode.EventTimeout:
		if c != nil {
			j.disconnect(c)
			c.session.lostAt = now
			j.reconnectable = append(j.reconnectable, int32(c.id.Index()))
			j.port.keep(c.roster.user, true)
			j.Stats.Count[metrics.TimedOut].Inc()
		}
	case netcode.EventKick:
		j.Stats.Count[metrics.FloodKicked].Inc()
		if c != nil { // else netcode's next Update ends it
			j.dismiss(now, c, packet.ReasonKicked)
		}
	case netcode.EventDisconnect, netcode.EventExhausted:
		if c != nil {
			j.remove(c)
			j.Stats.Count[metrics.Left].Inc()
		}
	}
	j.forgetArrival(e.Client)
}

// empty reports whether the lobby has no arrival and the match no entity: no connection, no player
// that may reconnect, no bot.
func (j *join) empty() bool { return len(j.arrivals) == 0 && j.match.World.Len() == 0 }

// forgetArrival removes a client from the arrivals.
func (j *join) forgetArrival(client int) {
	for i, c := range j.arrivals {
		if int(c) == client {
			j.arrivals = append(j.arrivals[:i], j.arrivals[i+1:]...)
			return
		}
	}
}

// admit gives arrivals their players: the one of a session that timed out, or a new one. netcode
// has as many slots as the match, so an arrival for which no player is free waits for the end of a
// tick, at which one is.
func (j *join) admit(now time.Duration) {
	if j.awaiting.on {
		j.admitAwaited(now)
		return
	}
	for len(j.arrivals) > 0 {
		client := int(j.arrivals[0])
		if !j.admitOne(now, client) {
			return
		}
		j.forgetArrival(client)
	}
}

// admitOne gives one arrival its player, or rejects it. It reports false if the arrival has to
// wait.
func (j *join) admitOne(now time.Duration, client int) bool {
	s, ok := j.port.netcode.Session(client)
	if !ok { // gone before it got a player
		return true
	}
	r := roleOf(s.UserData[:])
	kept := j.findReconnectable(s.ClientID, r)
	if why := j.noSlot(kept >= 0, r); why != 0 { // a kept player stays until its grace ends
		j.reject(now, client, why)
		return true
	}
	var c *conn
	if kept >= 0 {
		c = j.takeReconnectable(kept)
		j.port.keep(s.ClientID, false)
		c.rewind.inboxCount = j.match.CommandBuffer(c.id).Count // what ran without it is no loss
		j.Stats.Count[metrics.Reconnected].Inc()
	} else if id := j.newPlayer(r); id != 0 {
		c = &j.conns[id.Index()]
		c.assign(id, s.ClientID, r)
	} else {
		if j.leaving == 0 && len(j.reconnectable) > 0 { // a new player takes the slot
			j.expireAt(0)
		}
		return false
	}
	j.begin(now, c, client)
	j.attach(c, client)
	j.Stats.Count[metrics.Joined].Inc()
	return true
}

// newPlayer makes a player or a spectator in the match; 0 if no slot is free.
func (j *join) newPlayer(r role) netid.ID {
	switch {
	case !j.hasSlot(r):
		return 0
	case r == roleSpectator && j.cfg.groupsTeams():
		return j.match.JoinSpectatorFrom(j.cfg.playerSlots())
	case r == roleSpectator:
		return j.match.JoinSpectator()
	case j.cfg.groupsTeams():
		return j.match.JoinFrom(j.cfg.firstSlot(j.match.NextTeam()))
	}
	return j.match.Join()
}

// hasSlot reports whether there is a slot for one more player or spectator.
func (j *join) hasSlot(r role) bool { return j.freeSlots(r) > 0 }

// freeSlots counts the slots for more players or spectators.
func (j *join) freeSlots(r role) int {
	n := j.spectators()
	switch {
	case r == rolePlayer:
		return j.cfg.playerSlots() - (len(j.live) + len(j.reconnectable) - n)
	case j.l.replication.loadLevel >= overload.NoSpectators:
		return 0
	}
	return j.cfg.Spectators - n
}

// takes reports whether one more arrival may count on a slot of its role.
func (j *join) takes(r role) bool {
	level := j.l.replication.loadLevel
	return !j.closed && !j.awaiting.on && j.freeSlots(r) > len(j.arrivals) && level < overload.NoNewPlayers
}

// isReconnectable reports whether the lobby keeps a player for a client.
func (j *join) isReconnectable(user uint64, r role) bool {
	return !j.closed && j.findReconnectable(user, r) >= 0
}

// noSlot is why an arrival cannot even wait for a slot; 0 if there is one, or one is free with the
// end of the tick. kept means that the lobby keeps a player for it. A lobby alone without spectators
// is full or closed at netcode already.
func (j *join) noSlot(kept bool, r role) packet.Reason {
	level, shared := j.l.replication.loadLevel, j.port.alone == nil
	switch {
	case shared && j.closed:
		return packet.ReasonClosing
	case r == roleSpectator && level >= overload.NoSpectators,
		shared && !kept && level >= overload.NoNewPlayers:
		return packet.ReasonOverload
	case kept || j.hasSlot(r):
		return 0
	case r == roleSpectator ||
		(shared || j.cfg.Spectators > 0) && j.leaving == 0 && len(j.reconnectable) == 0:
		return packet.ReasonFull
	}
	return 0
}

// reject ends the session of an arrival for which there is no slot, and tells it why.
func (j *join) reject(now time.Duration, client int, why packet.Reason) {
	j.port.rejectClient(now, client, why, j.l)
}

// begin starts a session for a connection's player and queues its Welcome.
func (j *join) begin(now time.Duration, c *conn, client int) {
	s, _ := j.port.netcode.Session(client)
	restored, announced := c.roster.restored, c.rewind.announced
	c.open(now, j.l)
	c.session.client, c.session.addr, c.session.token = int32(client), s.Address, s.Token
	j.forgetSlot(c.id.Index())
	if restored { // the client goes on where its session with another host ended
		c.rewind.announced, c.roster.restored = announced, false
	} else if inbox := j.match.CommandBuffer(c.id); inbox != nil {
		inbox.DropWaiting() // those of the session before
	}
	w := j.welcome(c)
	_ = c.session.peer.QueueReliable(w.Append(j.message[:0])) // the queue is empty
}

// forgetSlot has the parts of the lobby forget the session of a slot. Its player keeps its name.
func (j *join) forgetSlot(slot int) {
	j.l.roster.disconnect(slot)
	j.l.scores.disconnect(slot)
	j.l.chat.disconnect(slot)
	j.l.console.disconnect(slot)
	j.l.idle.disconnect(slot)
}

// welcome returns the Welcome of a client that joins the match.
func (k *core) welcome(c *conn) protocol.Welcome {
	w := protocol.Welcome{
		Version: protocol.Version, Schema: netstate.SchemaHash(), Model: k.cfg.Models.Hash(),
		NetID: uint32(c.id), Tick: uint32(k.match.Tick()),
		TickRate: uint8(k.cfg.Rules.Rate), SendInterval: uint8(k.cfg.SendInterval),
		MaxPlayers: uint16(k.cfg.Players), ArenaHash: k.cfg.Arena.Hash(), ArenaName: k.cfg.ArenaName,
	}
	if game := k.cfg.Rules.Game; game.Pack != [32]byte{} {
		w.Content, w.Mode = game.Pack, game.Mode.Name
	}
	return w
}

// ready takes a Ready: from now on the connection gets snapshots. A client with other schemas or
// models is sent ours, so that it can say what differs, and dismissed.
func (j *join) ready(now time.Duration, c *conn, r protocol.Ready) {
	switch {
	case r.Version != protocol.Version:
		j.dismiss(now, c, packet.ReasonVersion)
		return
	case r.Schema != netstate.SchemaHash():
		j.sendSchemas(now, c, packet.ReasonSchema)
		return
	case r.Model != j.cfg.Models.Hash():
		j.sendSchemas(now, c, packet.ReasonModel)
		return
	}
	l := j.l
	l.transfers.done(c)
	c.session.ready = true
	l.roster.add(c, r.Name)
	l.scores.add(c)
	if timescale := l.replication.loadLevel.Timescale(); timescale != protocol.FullTimescale {
		message := protocol.AppendTimescale(l.message[:0], timescale)
		_ = c.session.peer.QueueReliable(message) // there is room: the connection is new
	}
	if !j.awaiting.on { // else with the match
		l.outbound.round.sendTo(c)
	}
	c.roster.view.unsent = c.roster.role == roleSpectator
	l.queueUpdateIntervals(c)
}

// sendSchemas queues the text of our schemas and model. Once it is acknowledged, or time is up, the
// connection is dismissed.
func (j *join) sendSchemas(now time.Duration, c *conn, why packet.Reason) {
	c.session.mismatch, c.session.since = why, now
	text := j.cfg.Models.AppendText(nil)
	for len(text) > 0 {
		n := min(len(text), packet.MaxMessageSize-1)
		if c.session.peer.QueueReliable(append([]byte{protocol.MessageSchemas}, text[:n]...)) != nil {
			return // longer than that of an honest build: the reason must do
		}
		text = text[n:]
	}
}

// fetch takes a connection's request for content or killcams.
func (j *join) fetch(now time.Duration, c *conn, content protocol.Content) {
	switch {
	case content == protocol.ContentKillcam:
		j.l.recording.request(now, c)
	case j.l.transfers.start(c, content):
	case content == protocol.ContentModel && j.l.transfers.content[content] == nil:
		j.sendSchemas(now, c, packet.ReasonModel)
	default:
		j.dismiss(now, c, packet.ReasonArena)
	}
}

// expire removes the players whose session timed out too long ago, and dismisses the connections
// that do not get ready in time.
func (j *join) expire(now time.Duration) {
	for len(j.reconnectable) > 0 && now-j.conns[j.reconnectable[0]].session.lostAt >= ReconnectGrace {
		j.expireAt(0)
	}
	if j.l.replication.loadLevel >= overload.NoSpectators {
		j.kickSpectators(now)
	}
	for i := 0; i < len(j.live); i++ {
		c := &j.conns[j.live[i]]
		switch s := &c.session; {
		case s.ready:
		case s.mismatch != 0 && (s.peer.ReliablePending() == 0 || now-s.since >= schemasWithin):
			j.dismiss(now, c, s.mismatch)
			i--
		case c.overdue(now):
			j.dismiss(now, c, packet.ReasonTimeout)
			i--
		}
	}
}

// kickSpectators dismisses all spectators: an overloaded lobby does without them first.
func (j *join) kickSpectators(now time.Duration) {
	for i := 0; i < len(j.live); i++ {
		if c := &j.conns[j.live[i]]; c.roster.role == roleSpectator {
			j.dismiss(now, c, packet.ReasonOverload)
			j.Stats.Count[metrics.SpectatorsShed].Inc()
			i--
		}
	}
}

// dismiss ends a connection's session and tells it why, often enough that the loss of a few
// datagrams does not matter.
func (j *join) dismiss(now time.Duration, c *conn, why packet.Reason) {
	if j.connected(c) {
		var buf [packet.HeaderSize + 2]byte
		for range packet.CloseRepeats {
			p, _ := c.session.peer.Append(now, buf[:0]) // its sequences end before the session's do
			j.sendPacket(now, int(c.session.client), c.session.peer.AppendClose(p, why))
		}
		_ = j.port.netcode.Disconnect(now, int(c.session.client), &j.port.egress.outbox) // it is connected
	}
	j.remove(c)
	j.Stats.Count[metrics.Disconnected].Inc()
}

// quit takes the goodbye in a connection's packet.
func (j *join) quit(now time.Duration, c *conn) {
	if j.connected(c) {
		_ = j.port.netcode.Disconnect(now, int(c.session.client), &j.port.egress.outbox) // it is connected
	}
	j.remove(c)
	j.Stats.Count[metrics.Left].Inc()
}

// attach makes the connection that of a client of netcode.
func (j *join) attach(c *conn, client int) {
	slot := int32(c.id.Index())
	j.port.routes[client] = route{lobby: j.l, slot: slot}
	j.connTable.attach(slot)
}

// connected reports whether netcode's session of a connection is still that connection's: in the
// batch in hand it may have ended, and another may have its place.
func (k *core) connected(c *conn) bool {
	s, ok := k.port.netcode.Session(int(c.session.client))
	return ok && s.Token == c.session.token
}

// disconnect separates a connection from its session. Its player stays.
func (j *join) disconnect(c *conn) {
	j.l.transfers.done(c)
	j.l.recording.forget(c)
	j.tally(c)
	slot := c.id.Index()
	j.detach(int32(slot), c.session.client)
	j.forgetSlot(slot)
}

// remove separates a connection from its session and takes its player out of the match.
func (j *join) remove(c *conn) {
	j.disconnect(c)
	j.leave(c)
}

// carryOver gives the connection of a slot its player in a new match. It keeps its memory, but for
// its interest, which is made for one map.
func (j *join) carryOver(now time.Duration, slot int) {
	c := &j.conns[slot]
	join := j.match.JoinAt
	if c.roster.role == roleSpectator {
		join = j.match.JoinSpectatorAt
	}
	id := join(slot)
	if id == 0 {
		panic("server: a slot of a new match is taken")
	}
	j.l.recording.forget(c) // it asks for killcams again with its Ready
	c.changeMap(now, id, j.l.maps.previousEnd, &j.cfg)
}

// leave takes a player out of the match with the end of the tick.
func (j *join) leave(c *conn) {
	j.l.roster.remove(c)
	if !j.awaiting.on { // else there is no player yet
		j.match.Leave(c.id)
		j.leaving++
	}
}

// expireAt takes the i-th of the players that may reconnect out of the match.
func (j *join) expireAt(i int) {
	c := &j.conns[j.reconnectable[i]]
	j.leave(c)
	j.reconnectable = append(j.reconnectable[:i], j.reconnectable[i+1:]...)
	j.port.keep(c.roster.user, false)
}

// CloseSome tells some connections why the lobby ends, and reports whether there are more: a
// datagram that finds the buffer of the socket full is lost. No session begins after the first
// call.
func (l *Lobby) CloseSome(now time.Duration, sock netio.Conn, why packet.Reason) (more bool, err error) {
	return l.join.closeSome(now, sock, why)
}

// Close tells every connection why the lobby ends, and admits no more.
func (l *Lobby) Close(now time.Duration, sock netio.Conn, why packet.Reason) error {
	for more := true; more; {
		var err error
		if more, err = l.join.closeSome(now, sock, why); err != nil {
			return err
		}
	}
	return nil
}

// closeAtOnce is how many connections closeSome tells: a thousand datagrams, which a socket's
// buffer takes.
const closeAtOnce = 50

// closeSome is a part of Close and reports whether there is more: a datagram that finds the
// socket's buffer full is lost, and the twenty of one connection lie side by side.
func (j *join) closeSome(now time.Duration, sock netio.Conn, why packet.Reason) (more bool, err error) {
	p := j.port
	j.closed = true
	if p.alone != nil {
		p.netcode.StopAccepting()
	}
	defer j.traffic.flush(&j.Stats)
	for n := 0; len(j.live) > 0; n++ {
		if n == closeAtOnce {
			return true, nil
		}
		j.dismiss(now, &j.conns[j.live[len(j.live)-1]], why)
		if err := errors.Join(p.sendOutbox(now, sock), p.flush(sock)); err != nil {
			return false, err
		}
	}
	for _, client := range j.arrivals {
		p.routes[client] = noRoute
		if p.alone == nil {
			_ = p.netcode.Disconnect(now, int(client), &p.egress.outbox) // fails if the client has left
		}
	}
	j.arrivals = j.arrivals[:0]
	if p.alone != nil {
		p.netcode.Close(now, &p.egress.outbox) // arrivals
	}
	return false, errors.Join(p.sendOutbox(now, sock), p.flush(sock))
}
