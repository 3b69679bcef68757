package server

import (
	"encoding/binary"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim/ghost"
)

// openDoor makes what stands between the lobby and strangers.
func (l *Lobby) openDoor() {
	l.door = session.NewDoor(l.cfg.Secret)
	l.door.Schema = ghost.SchemaHash()
	l.door.Model = l.cfg.Models.Hash()
	l.door.Arena = l.cfg.Arena.Hash()
	l.addrs = session.NewAddresses(l.cfg.Players, [2]uint64{
		binary.LittleEndian.Uint64(l.cfg.Secret[:]), binary.LittleEndian.Uint64(l.cfg.Secret[8:])})
}

// strangersPerTick bounds what strangers may cost: a handshake is a hash, and players are worth more. Honest strangers
// repeat themselves.
const strangersPerTick = 512

// stranger takes a datagram that belongs to no session: a step of the handshake, or nothing.
func (l *Lobby) stranger(now time.Duration, d netio.Datagram) error {
	if l.strangers++; l.strangers > strangersPerTick {
		return wire.DropBudget
	}
	reply, join, err := l.door.Handle(now, d.Addr, d.Data, l.out.Next())
	if join != nil {
		reply, err = l.join(now, join, reply)
	}
	if len(reply) > 0 {
		l.commit(len(reply), d.Addr)
	}
	return err
}

// join gives a proven stranger a place, or repeats the answer it got before, which may have been lost.
func (l *Lobby) join(now time.Duration, j *session.Join, dst []byte) ([]byte, error) {
	if slot, known := l.addrs.Get(j.From); known {
		g := &l.guests[slot]
		if g.peer.Token() == j.Token {
			return l.accept(g, dst), nil
		}
		if g.peer.Silent(now) < time.Second { // perhaps a stray copy of an old Response
			return dst, wire.DropState
		}
		l.remove(g, TimedOut)
	}
	id := l.match.Join()
	if id == 0 && l.leaving > 0 { // a place is free from the end of this tick; the client repeats its Response
		return dst, wire.DropState
	}
	if id == 0 {
		return session.Deny(dst, j.Nonce, wire.ReasonFull), wire.DropFull
	}
	g := &l.guests[id.Index()]
	g.open(id, j, now, l)
	l.addrs.Put(j.From, int32(id.Index()))
	l.seat(int32(id.Index()))
	l.Stats.Count[Joined].Inc()
	return l.accept(g, dst), nil
}

func (l *Lobby) accept(g *guest, dst []byte) []byte {
	a := wire.Accept{
		Nonce: g.nonce, Token: g.peer.Token(), Slot: uint16(g.id.Index()), NetID: uint32(g.id),
		TickRate: uint8(l.cfg.Rules.Rate), SendInterval: uint8(l.cfg.Interval), Tick: uint32(l.match.Tick()),
		MaxPlayers: uint16(l.cfg.Players), ArenaHash: l.door.Arena, ArenaName: l.cfg.ArenaName,
	}
	return a.Append(dst)
}

// expire removes the guests who have been silent for too long, and tells them: perhaps they can hear.
func (l *Lobby) expire(now time.Duration, conn netio.Conn) error {
	for i := 0; i < len(l.live); i++ {
		g := &l.guests[l.live[i]]
		if !g.peer.TimedOut(now) {
			continue
		}
		for range wire.DisconnectRepeats {
			l.commit(len(g.peer.AppendDisconnect(l.out.Next(), wire.ReasonTimeout)), g.addr)
			if l.out.Full() {
				if err := l.flush(conn); err != nil {
					return err
				}
			}
		}
		l.remove(g, TimedOut)
		i--
	}
	return nil
}

// remove ends a guest's session on this side and takes its player out of the match.
func (l *Lobby) remove(g *guest, why Count) {
	l.Stats.Count[why].Inc()
	l.addrs.Delete(g.addr)
	l.unseat(int32(g.id.Index()))
	l.match.Leave(g.id)
	l.leaving++
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
	for i, s := range l.live {
		if s == slot {
			l.live = append(l.live[:i], l.live[i+1:]...)
			return
		}
	}
}

// Close tells every guest that the lobby ends, often enough that the loss of a few datagrams does not matter, and
// admits nobody any more.
func (l *Lobby) Close(now time.Duration, conn netio.Conn) error {
	l.door.Closing = true
	for range wire.DisconnectRepeats {
		for _, slot := range l.live {
			g := &l.guests[slot]
			l.commit(len(g.peer.AppendDisconnect(l.out.Next(), wire.ReasonClosing)), g.addr)
			if l.out.Full() {
				if err := l.flush(conn); err != nil {
					return err
				}
			}
		}
	}
	return l.flush(conn)
}
