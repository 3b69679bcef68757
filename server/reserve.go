package server

import "github.com/tickrate/tickrate/netio/packet"

// Reserve makes the memory of all slots now: 44 KB each in a lobby of 64, 172 KB in one of 2000,
// and 19 KB more if killcams may be wanted in a lobby of more than 32. Without it the memory of a
// slot is made in the tick in which it is first taken, and stays for later players. The memory for a
// later map is then made with that map. Nothing else changes. Call it while the lobby is empty and no
// map change is pending.
func (l *Lobby) Reserve() {
	l.maps.reserve = true
	for slot := range l.conns {
		c := &l.conns[slot]
		c.makeMemory(&l.cfg)
		c.session.peer.Reserve()
		c.repl.reserve(&l.cfg)
	}
	l.replication.reserve()
	l.recording.reserve()
	l.flight.arm()           // a recorder that was made and closed has ended the log of inputs
	if l.port.alone != nil { // NewPort reserves those of a shared port, which ticks use already
		l.port.reserve()
	}
}

// reserve makes the memory of the batches to send.
func (p *Port) reserve() { _, _ = p.egress.out.Next(), p.egress.packets.next() }

// makeMemory makes the memory that every connection of a slot needs, once.
func (c *conn) makeMemory(cfg *Config) {
	if c.session.peer == nil {
		c.session.peer = new(packet.Peer)
		c.repl.makeMemory(cfg)
	}
}
