package impair

// Stats counts what a link did. Pushed + Duplicated == Blackholed + Lost + Choked + Delivered + Link.Len().
type Stats struct {
	Pushed     uint64
	Blackholed uint64 // sent into a blackhole
	Lost       uint64 // alone or in a burst
	Bursts     uint64 // bursts begun
	Duplicated uint64 // second copies made
	QueueDrops uint64 // copies for which the queue before the rate had no room
	Reordered  uint64 // arrivals held back
	Corrupted  uint64 // arrivals with other bytes than were sent
	Truncated  uint64 // arrivals with fewer bytes than were sent; none is both
	Rebound    uint64 // changes of the sender's address that a datagram has seen
	Delivered  uint64

	PushedBytes    uint64
	DeliveredBytes uint64
}

// Add sums the counts of two links.
func (s *Stats) Add(o Stats) {
	s.Pushed += o.Pushed
	s.Blackholed += o.Blackholed
	s.Lost += o.Lost
	s.Bursts += o.Bursts
	s.Duplicated += o.Duplicated
	s.QueueDrops += o.QueueDrops
	s.Reordered += o.Reordered
	s.Corrupted += o.Corrupted
	s.Truncated += o.Truncated
	s.Rebound += o.Rebound
	s.Delivered += o.Delivered
	s.PushedBytes += o.PushedBytes
	s.DeliveredBytes += o.DeliveredBytes
}
