package impair

// Stats counts what a link did. Pushed + Duplicated == Blackholed + Lost + QueueDrops + Delivered
// + Link.Len().
type Stats struct {
	Pushed     uint64
	Blackholed uint64 // sent into a blackhole
	Lost       uint64 // alone or in a burst
	Bursts     uint64 // bursts begun
	Duplicated uint64 // second copies made
	QueueDrops uint64 // copies for which the rate's queue had no room
	Reordered  uint64 // arrivals delayed by ReorderBy
	Corrupted  uint64 // arrivals with other bytes than were sent
	Truncated  uint64 // arrivals with fewer bytes than were sent; never also Corrupted
	Rebound    uint64 // changes of the sender's address between two datagrams
	Delivered  uint64

	PushedBytes    uint64
	DeliveredBytes uint64
}

// Add adds the counts of another link.
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
