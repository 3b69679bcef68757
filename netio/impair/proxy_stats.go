package impair

// ProxyStats counts what a Proxy did.
type ProxyStats struct {
	Clients int    // there now
	Joined  uint64 // that ever came
	Refused uint64 // datagrams of strangers while there was no room for another client
	Up      DirectionStats
	Down    DirectionStats
}

// DirectionStats counts one direction, of all clients.
//
//	Received             == Oversize + Overflow + Pushed
//	Pushed + Duplicated  == Blackholed + Lost + Choked + Delivered + Flying + Stranded
//
// Rebound counts sockets changed, of the way up only.
type DirectionStats struct {
	Stats
	Received   uint64
	Oversize   uint64 // longer than MaxDatagram
	Overflow   uint64 // came while as many were on their way as the proxy keeps
	InFlight   uint64 // on their way now
	Abandoned  uint64 // were on their way when their client was forgotten or the proxy stopped
	SendFailed uint64 // of those delivered, what the system did not take
}

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
