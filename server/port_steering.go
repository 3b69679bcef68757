package server

import (
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// portSteering is a port's part in the steering of its workers.
type portSteering struct {
	*Steering
	worker int
	hops   uint8         // of the datagram in hand: 0 for one of the socket
	roomAt time.Duration // when the room is counted next
}

// roomEvery is how often a port counts its room for players anew.
const roomEvery = 200 * time.Millisecond

// steer makes the port that of a worker, and its netcode server a member of their group.
func (p *Port) steer(s *Steering, worker int, c *netcode.ServerConfig) error {
	if s == nil {
		return nil
	}
	p.steering = &portSteering{Steering: s, worker: worker}
	c.Group = netcode.Group{Place: p.place, TakeOver: p.askTakeOver}
	return s.join(worker, c)
}

// place returns the worker that is to have the session of an opened token: that of the lobby that
// the token names, else the one that has the client already, else this one if it has room, else the
// one with the most room. Its own number means that the lobby moves: try later.
func (p *Port) place(clientID uint64, user *[netcode.UserDataSize]byte) (worker int) {
	s := p.steering
	if ref, named := protocol.LobbyOf(user[:], p.host); named {
		if !p.isHost(ref) || p.Find(ref.Lobby) != nil {
			return netcode.Here
		}
		if worker, ok := s.WorkerOf(ref.Lobby); ok {
			return worker
		}
		return netcode.Here // rejected: no such lobby
	}
	_, connected := p.netcode.Find(clientID)
	if connected || s.hops >= maxHops-passHop {
		return netcode.Here
	}
	if worker, ok := p.keeper(clientID); ok {
		return worker
	}
	if worker, ok := s.index.FindNumber(netcode.IndexClient, clientID, s.worker); ok {
		return worker
	}
	r := roleOf(user[:])
	if s.hops == 0 && s.workers[s.worker].room[r].Load() <= 0 {
		if worker, ok := s.roomiest(r); ok && worker != s.worker {
			return worker
		}
	}
	return netcode.Here
}

// keeper returns the worker that keeps a player for a client: netcode.Here for this one, its own
// number while the player's lobby moves. Without an entry in the table it looks at no lobby.
func (p *Port) keeper(user uint64) (worker int, ok bool) {
	s := p.steering
	if s.index.HasNumber(indexKept, user, s.worker) && p.keeps(user) {
		return netcode.Here, true
	}
	if worker, ok = s.index.FindNumber(indexKept, user, s.worker); ok && worker != s.worker {
		return worker, true
	}
	return s.index.FindNumber(indexKeptMoving, user, s.worker)
}

// elsewhere hands a datagram to the worker of its session. It reports false if the datagram is lost:
// the ring is full or takes no more of its source, or the datagram has come too far.
func (p *Port) elsewhere(worker int, from netip.AddrPort, data []byte) bool {
	s := p.steering
	me := &s.workers[s.worker]
	hop, count := uint8(passHop), &me.handed
	if worker == s.worker {
		hop, count = 1, &me.waited
	}
	ring := s.ring(s.worker, worker)
	h, memory := ring.next()
	if h == nil || s.hops+hop > maxHops || len(data) > maxHandover || !ring.admits(from, s.seed) {
		me.dropped.Inc()
		return false
	}
	*h = handover{hops: s.hops + hop, bytes: uint16(copy(memory[:], data)), from: from}
	ring.push()
	count.Inc()
	return true
}

// askTakeOver asks another worker to end the silent session of a client with a new token. Without
// room in the ring the client asks again.
func (p *Port) askTakeOver(worker int, clientID uint64, user *[netcode.UserDataSize]byte) {
	ring := p.steering.ring(p.steering.worker, worker)
	if h, _ := ring.next(); h != nil && worker != p.steering.worker {
		*h = handover{kind: handTakeOver, client: clientID, lobby: -1}
		if ref, named := protocol.LobbyOf(user[:], p.host); named {
			h.lobby = int64(ref.Lobby)
		}
		ring.push()
	}
}

// takeOver ends the silent session of a client, which begins a new one at another worker. Its player
// waits for that as after a timeout, unless the new token names another lobby.
func (p *Port) takeOver(now time.Duration, h *handover) {
	e, ok := p.netcode.EndSilent(now, h.client)
	if !ok {
		return
	}
	if l := p.routes[e.Client].lobby; l != nil && h.lobby >= 0 && h.lobby != int64(l.cfg.ID) {
		e.Kind = netcode.EventDisconnect
	}
	p.ingress.events = append(p.ingress.events, portEvent{Event: e})
}

// handSession gives a session that has no lobby here to the worker of its lobby. It reports false if
// that is not possible: the session stays.
func (p *Port) handSession(client, worker int) bool {
	s := p.steering
	ring := s.ring(s.worker, worker)
	h, _ := ring.next()
	if h == nil {
		return false
	}
	session, ok := p.netcode.Release(client)
	if !ok {
		return false
	}
	*h = handover{kind: handSession, session: &moveSession{session, s.worker}}
	ring.push()
	return true
}

// receiveHanded takes in what other workers have handed over, and what has waited here. What comes
// while it does waits for the next call.
func (p *Port) receiveHanded(now time.Duration, unix int64, sock netio.Conn) error {
	s := p.steering
	if s == nil {
		return nil
	}
	defer func() { s.hops = 0 }()
	for from := range s.workers {
		ring := s.ring(from, s.worker)
		for left := ring.len(); left > 0; {
			slots, data := ring.ready(min(left, netio.BatchSize))
			left -= len(slots)
			p.timer.Enter(metrics.StageOpen)
			p.openHanded(now, unix, slots, data)
			p.timer.Enter(metrics.StageReceive)
			p.takeEvents(now)
			p.admit(now)
			err := p.sendOutbox(now, sock)
			clear(slots)
			ring.release(len(slots))
			if from != s.worker {
				s.workers[s.worker].got.Add(uint64(len(slots)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// openHanded is openBatch for what was handed over.
func (p *Port) openHanded(now time.Duration, unix int64, slots []handover, data [][maxHandover]byte) {
	for pass := range 2 {
		for i := range slots {
			h, d := &slots[i], data[i][:slots[i].bytes]
			if late := h.kind == handDatagram && netcode.IsHandshake(d); late != (pass == 1) {
				continue
			}
			p.steering.hops = h.hops
			switch h.kind {
			case handDatagram:
				p.openDatagram(now, unix, h.from, d)
			case handSession:
				p.takeHandedSession(now, h.session)
			case handTakeOver:
				p.takeOver(now, h)
			}
		}
	}
}

// takeHandedSession makes a session one of this port, or rejects it: the port is full.
func (p *Port) takeHandedSession(now time.Duration, s *moveSession) {
	if p.netcode.Connected() == p.netcode.Clients() {
		p.rejectHanded(now, s)
		return
	}
	client := p.netcode.Adopt(&s.MovingSession, s.member)
	p.ingress.events = append(p.ingress.events,
		portEvent{Event: netcode.Event{Kind: netcode.EventConnected, Client: client}})
}

// rejectHanded ends a session that has no slot here, and tells its client that the server is full.
func (p *Port) rejectHanded(now time.Duration, s *moveSession) {
	p.resetReject(now)
	var buf [packet.HeaderSize + 2]byte
	for range packet.CloseRepeats {
		pkt, _ := p.reject.Append(now, buf[:0])
		pkt = p.reject.AppendClose(pkt, packet.ReasonFull)
		sealed, err := p.netcode.SendMoving(now, &s.MovingSession, pkt, &p.egress.outbox)
		if err == nil {
			p.traffic.send(len(sealed))
		}
	}
	p.netcode.Discard(now, &s.MovingSession, s.member, &p.egress.outbox)
	p.stats.Count[metrics.RejectedFull].Inc()
}

// returnElsewhere gives a new session to the worker that keeps the player of its client, if its token
// names no lobby. It reports false if there is none: no worker, or this one.
func (p *Port) returnElsewhere(client int, s *netcode.Session) bool {
	if _, named := protocol.LobbyOf(s.UserData[:], p.host); named || p.steering == nil {
		return false
	}
	worker, ok := p.keeper(s.ClientID)
	return ok && worker != netcode.Here && worker != p.steering.worker && p.handSession(client, worker)
}

// connectElsewhere gives a new session without a lobby here to another worker: that of the lobby
// that its token names, or one with room. It reports false if there is none.
func (p *Port) connectElsewhere(client int, user []byte) bool {
	s := p.steering
	if s == nil {
		return false
	}
	if ref, named := protocol.LobbyOf(user, p.host); named {
		worker, ok := s.WorkerOf(ref.Lobby)
		return ok && p.isHost(ref) && p.handSession(client, worker)
	}
	worker, ok := s.roomiest(roleOf(user))
	return ok && worker != s.worker && p.handSession(client, worker)
}

// keep tells all workers that a lobby keeps a player for a client, or no longer does.
func (p *Port) keep(user uint64, kept bool) {
	switch s := p.steering; {
	case s == nil:
	case kept:
		s.index.PutNumber(indexKept, user, s.worker)
	case !p.keeps(user):
		s.index.RemoveNumber(indexKept, user, s.worker)
	}
}

// endKept forgets the players that a lobby that ends keeps. It may have panicked.
func (p *Port) endKept(l *Lobby) {
	if p.steering == nil {
		return
	}
	defer func() { _ = recover() }()
	for _, slot := range l.reconnectable {
		p.keep(l.conns[slot].roster.user, false)
	}
}

// keeps reports whether a lobby of the port keeps a player for a client.
func (p *Port) keeps(user uint64) bool {
	return slices.ContainsFunc(p.lobbies, func(l *Lobby) bool { return l.keeps(user) })
}

// countRoom tells the other workers how many more players fit the lobbies and the sessions.
func (p *Port) countRoom(now time.Duration) {
	s := p.steering
	if s == nil || now < s.roomAt {
		return
	}
	s.roomAt = now + roomEvery
	room := [numRoles]int{}
	for _, l := range p.lobbies {
		for r := range room {
			if l.join.takes(role(r)) {
				room[r] += l.join.freeSlots(role(r)) - len(l.join.arrivals)
			}
		}
	}
	free := p.netcode.Clients() - p.netcode.Connected()
	for r, n := range room {
		s.workers[s.worker].room[r].Store(int32(min(n, free)))
	}
}

// takeRoom counts one slot less until the room is counted anew.
func (p *Port) takeRoom(r role) {
	if s := p.steering; s != nil {
		s.workers[s.worker].room[r].Add(-1)
	}
}

// noRoom tells the other workers that all lobbies are full.
func (p *Port) noRoom(r role) {
	if s := p.steering; s != nil {
		s.workers[s.worker].room[r].Store(0)
	}
}

// isHost reports whether a token may name a lobby of this host.
func (p *Port) isHost(ref protocol.LobbyRef) bool {
	return ref.Host == 0 || p.host == 0 || ref.Host == p.host
}

// named returns the lobby that the user data of a token names, or why there is none.
func (p *Port) named(user []byte) (named bool, l *Lobby, why packet.Reason) {
	ref, named := protocol.LobbyOf(user, p.host)
	switch {
	case !named:
		return false, nil, 0
	case !p.isHost(ref):
		return true, nil, packet.ReasonOtherHost
	}
	if l = p.Find(ref.Lobby); l == nil {
		return true, nil, packet.ReasonNoLobby
	}
	return true, l, 0
}
