package server

// Steering leads the datagrams of one UDP port to the workers that own their sessions. Each worker
// has a Port and a socket of its own (netio.Config.ReusePort); the kernel picks the socket by the
// source address, and a Port hands what belongs to another one over. All methods may be called from
// any goroutine.
type Steering struct {
	workers []steeredWorker
}

// steeredWorker is what the workers know of one of them.
type steeredWorker struct{}

// MaxWorkers is the most workers of a Steering.
const MaxWorkers = 64

// NewSteering returns the steering of a number of workers, 1 to MaxWorkers, whose Ports have at most
// that many sessions each.
func NewSteering(workers, most int) *Steering {
	return &Steering{workers: make([]steeredWorker, workers)}
}

// HandOvers counts the datagrams that a worker has handed over or got.
type HandOvers struct {
	Handed  uint64 // to other workers
	Got     uint64 // from other workers
	Dropped uint64 // to be handed over, lost as the ring of their owner was full
}

// HandOvers returns the counts of a worker.
func (s *Steering) HandOvers(worker int) HandOvers { return HandOvers{} }

// WorkerOf returns the worker that has a lobby; not ok if there is none. While a lobby moves, it is
// the worker from which it moves.
func (s *Steering) WorkerOf(lobby uint32) (worker int, ok bool) { return 0, false }
