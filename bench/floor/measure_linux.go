package floor

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Measure runs the loop with the traffic of a turn and returns the cost of a turn in each sample. An
// error says what could not be played. It takes about Samples+1/2 times Config.Time.
func Measure(ctx context.Context, t Traffic, c Config) ([]Cost, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	// A turn that the sockets' buffers cannot hold is played in parts.
	srv, err := openServer(t)
	if err != nil {
		return nil, err
	}
	defer srv.close()
	crowd, err := openClients(t, srv)
	if err != nil {
		return nil, err
	}
	defer crowd.close()
	bursts := 1 + int(max(t.In, t.Out))/min(srv.room(), crowd.room())
	part := t.part(bursts)
	loop := loop{clients: crowd, in: spread{mean: part.In}, out: spread{mean: part.Out},
		orders: make(chan int), results: make(chan result)}
	go srv.serve(c.Server, loop.orders, loop.results)
	defer close(loop.orders)
	if r := <-loop.results; r.err != nil { // of its processors
		return nil, r.err
	}
	if _, err := loop.sample(ctx, c.Time/2); err != nil {
		return nil, err
	}
	var all []Cost
	for range c.Samples {
		cost, err := loop.sample(ctx, c.Time)
		if err != nil {
			return nil, err
		}
		all = append(all, cost.times(float64(bursts)))
	}
	return all, nil
}

// loop gives the two sides their turns.
type loop struct {
	clients *clients
	in, out spread
	orders  chan int // datagrams to send in a turn; closed at the end
	results chan result
}

// result is what a turn of the server did and cost.
type result struct {
	cost Cost
	in   int
	err  error
}

// minTurns is the least number of turns in a sample.
const minTurns = 5

// sample plays for a time and returns the mean cost of a turn. Two datagrams in a hundred may be
// lost.
func (l *loop) sample(ctx context.Context, length time.Duration) (mean Cost, err error) {
	turns, sent, came, left, arrived := 0, 0, 0, 0, 0
	for begin := time.Now(); turns < minTurns || time.Since(begin) < length; turns++ {
		if err := ctx.Err(); err != nil {
			return mean, err
		}
		in, out := l.in.next(), l.out.next()
		if err := l.clients.send(in); err != nil {
			return mean, err
		}
		l.orders <- out
		r := <-l.results
		if r.err != nil {
			return mean, r.err
		}
		mean.add(r.cost)
		sent, came, left, arrived = sent+in, came+r.in, left+out, arrived+l.clients.drain()
	}
	if lost := max(sent-came, left-arrived); lost*50 > max(sent, left) {
		return mean, fmt.Errorf("the floor lost datagrams: %d of %d reached the server and %d of %d the clients",
			came, sent, arrived, left)
	}
	return mean.times(1 / float64(turns)), nil
}

// serve plays a turn for each order, on a thread of its own that ends with it.
func (s *server) serve(cpus []int, orders <-chan int, results chan<- result) {
	runtime.LockOSThread() // and never unlocked: the thread goes with its affinity
	var err error
	if len(cpus) > 0 {
		var set unix.CPUSet
		for _, n := range cpus {
			set.Set(n)
		}
		if err = unix.SchedSetaffinity(0, &set); err != nil {
			err = fmt.Errorf("pin the floor to processors %v: %w", cpus, err)
		}
	}
	results <- result{err: err}
	for out := range orders {
		results <- s.turn(out)
	}
}

// threadCPU is the CPU time of the calling thread, ns.
func threadCPU() float64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at) // does not fail
	return float64(at.Nano())
}
