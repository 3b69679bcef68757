package impair

// ProxyStats counts the traffic of a Proxy.
type ProxyStats struct {
	Clients int    // present clients
	Joined  uint64 // clients since the start
	Refused uint64 // datagrams of further clients while there was no room
	Up      DirectionStats
	Down    DirectionStats
}

// DirectionStats counts one direction, of all clients.
//
//	Received             == Oversize + Overflow + Pushed
//	Pushed + Duplicated  == Blackholed + Lost + QueueDrops + Delivered + InFlight + Abandoned
//
// Rebound counts changed sockets, in the direction to the server only.
type DirectionStats struct {
	Stats
	Received   uint64
	Oversize   uint64 // longer than MaxDatagram
	Overflow   uint64 // came while the most datagrams were on their way
	InFlight   uint64 // on their way now
	Abandoned  uint64 // on their way when their client was removed or the proxy stopped
	SendFailed uint64 // delivered, but not taken by the system
}

// add adds the counts of another client.
func (w *DirectionStats) add(o DirectionStats) {
	w.Stats.Add(o.Stats)
	w.Received += o.Received
	w.Oversize += o.Oversize
	w.Overflow += o.Overflow
	w.InFlight += o.InFlight
	w.Abandoned += o.Abandoned
	w.SendFailed += o.SendFailed
}

// Stats may be called from any goroutine, also after Run.
func (p *Proxy) Stats() ProxyStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.count
	s.Clients = len(p.clients)
	for _, g := range p.clients {
		g.mu.Lock()
		s.Up.add(g.up.stats())
		s.Down.add(g.down.stats())
		g.mu.Unlock()
	}
	return s
}
