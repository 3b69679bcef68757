package server

import (
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// awaiting is a lobby that another host plays and that is to go on here. Its clients connect, say
// Ready and send their commands here, too, while they still play there; so the first tick after
// Resume has the commands of all of them.
type awaiting struct {
	on    bool
	seats map[awaitedUser]Seat
	// By slot: the commands of the newest packet that has any, in descending order of their ticks.
	early [][]sim.Command
	turns uint32 // calls of sendAwaited
}

// awaitedUser is a client id and its role, as a token names both.
type awaitedUser struct {
	user      uint64
	spectator bool
}

// Await makes a new lobby wait for Resume, with the seats that the other host has announced. The
// caller keeps calling Ticks or Port.Ticks; until Resume they receive and send, and play nothing.
func (l *Lobby) Await(seats []Seat) {
	a := &l.join.awaiting
	*a = awaiting{on: true, seats: make(map[awaitedUser]Seat, len(seats)),
		early: make([][]sim.Command, len(l.conns))}
	for _, s := range seats {
		if s.Slot >= 0 && s.Slot < len(l.conns) && s.ID.Index() == s.Slot {
			a.seats[awaitedUser{s.User, s.Spectator}] = s
		}
	}
}

// Awaits reports whether the lobby waits for Resume.
func (l *Lobby) Awaits() bool { return l.join.awaiting.on }

// Awaited returns how many of the awaited clients have said Ready. Call it between ticks.
func (l *Lobby) Awaited() (ready int) {
	for _, slot := range l.live {
		if l.join.awaiting.on && l.conns[slot].session.ready {
			ready++
		}
	}
	return ready
}

// admitAwaited begins the sessions of arrivals that have a seat. The others wait for Resume.
func (j *join) admitAwaited(now time.Duration) {
	waiting := j.arrivals[:0]
	for _, client := range j.arrivals {
		s, ok := j.port.netcode.Session(int(client))
		if !ok { // gone before it got its seat
			continue
		}
		seat, ok := j.awaiting.seats[awaitedUser{s.ClientID, protocol.IsSpectator(s.UserData[:])}]
		if !ok || j.isLive(seat.Slot) {
			waiting = append(waiting, client)
			continue
		}
		c := &j.conns[seat.Slot]
		c.assign(seat.ID, s.ClientID, roleOf(s.UserData[:]))
		if seat.Name != "" {
			j.l.roster.restore(c, seat.Name)
		}
		j.begin(now, c, int(client))
		j.attach(c, int(client))
	}
	j.arrivals = waiting
}

// keep keeps the commands of a connection, newest first, until there is a match.
func (a *awaiting) keep(slot int, window []sim.Command) {
	if had := a.early[slot]; len(had) == 0 || window[0].Tick >= had[0].Tick {
		a.early[slot] = append(had[:0], window...)
	}
}

// awaitEvery is after how many calls of sendAwaited a client is sent a packet although no message
// for it is due.
const awaitEvery = 4

// sendAwaited sends messages and acks to the clients of a lobby that has no match yet.
func (o *outbound) sendAwaited(now time.Duration, a *awaiting) {
	a.turns++
	for _, slot := range o.live {
		p := o.conns[slot].session.peer
		if !p.CanSend(now) || !p.ReliableDue(now) && (a.turns+uint32(slot))%awaitEvery != 0 {
			continue
		}
		buf, _ := p.Append(now, o.port.egress.packets.next())
		buf = p.AppendReliable(buf, packet.MaxSectionBytes)
		o.sendPacket(now, int(o.conns[slot].session.client), buf) // messages are due again if this fails
	}
}

// resume gives the players of a loaded match their connections. A player whose client has connected
// here goes on in that session; any other may reconnect. A client that is here and whose player has
// left the match meanwhile is rejected.
func (j *join) resume(now time.Duration, seats []savedSeat) {
	early := j.awaiting.early
	j.awaiting, j.leaving = awaiting{}, 0
	for _, slot := range j.reconnectable {
		j.port.keep(j.conns[slot].roster.user, false)
	}
	j.reconnectable = j.reconnectable[:0]
	stays := make([]bool, len(j.conns))
	for i := range seats {
		s := &seats[i]
		c := &j.conns[s.slot]
		if j.isLive(s.slot) && c.id == s.id && c.roster.user == s.user {
			stays[s.slot] = true
			j.goOn(c, s, early)
		}
	}
	for i := 0; i < len(j.live); i++ {
		if slot := j.live[i]; !stays[slot] {
			client := j.conns[slot].session.client
			j.disconnect(&j.conns[slot])
			j.l.roster.remove(&j.conns[slot])
			j.reject(now, int(client), packet.ReasonClosing)
			i--
		}
	}
	for i := range seats {
		if !stays[seats[i].slot] {
			j.restore(now, &seats[i])
		}
	}
}

// goOn takes over what the old host knew of a client that is connected here, and the commands that
// the client has sent here so far.
func (j *join) goOn(c *conn, s *savedSeat, early [][]sim.Command) {
	slot, next := s.slot, j.match.Tick()+1
	c.rewind.announced = s.announced
	c.rewind.inboxCount = j.match.CommandBuffer(c.id).Count
	j.l.roster.players[slot].Muted = s.flags&seatMuted != 0
	if early != nil && len(early[slot]) > 0 {
		window := early[slot]
		for i := range window {
			c.arrivals.add(window[i].Tick, next)
		}
		c.rewind.newestCommand = window[0].Tick
		j.match.CommandBuffer(c.id).OfferWindow(window)
	}
	if c.session.ready {
		j.l.roster.updateTeam(slot)
		j.l.outbound.round.sendTo(c)
	}
}

// isLive reports whether the connection of a slot has a session.
func (t *connTable) isLive(slot int) bool {
	_, live := slices.BinarySearch(t.live, int32(slot))
	return live
}
