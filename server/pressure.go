package server

import "github.com/tickrate/tickrate/server/overload"

// Pressure is what a lobby has to do, and what waits in it.
type Pressure struct {
	Census
	Level    overload.Level // what the lobby leaves out
	Reliable int            // messages that clients have not acked
	HeldBack []HeldBack     // connections whose snapshot is due and has not gone
}

// HeldBack is a connection without the snapshot that is due, and why.
type HeldBack struct {
	Slot int
	Why  DelayReason
}

// Pressure counts what waits in the lobby. It allocates; call it between ticks.
func (l *Lobby) Pressure() Pressure {
	p := Pressure{Census: l.join.census(), Level: l.replication.loadLevel}
	for _, slot := range l.live {
		c := &l.conns[slot]
		p.Reliable += c.session.peer.ReliablePending()
		if why := c.repl.pacing.delayed; why != DelayNone {
			p.HeldBack = append(p.HeldBack, HeldBack{int(slot), why})
		}
	}
	return p
}
