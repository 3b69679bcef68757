package simbench

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
)

// helloBytes is the size of the datagrams with a client's index, before the traffic begins:
//
//	4  mark
//	4  index of the client
const (
	helloBytes = 8
	helloMark  = 0x68656c6f
)

// SocketCost is what the socket of a live server process costs, without its lobbies. A tick is one
// of all its lobbies.
type SocketCost struct {
	Ticks         int     `json:"ticks"`
	ReceiveMillis float64 `json:"receive_ms"` // CPU time of the worker's thread, a tick
	SendMillis    float64 `json:"send_ms"`    // likewise
	// CPU time of the rest of the process, a tick: drainer, wake-ups, meters, runtime.
	BesideMillis float64 `json:"beside_ms"`
	DatagramsIn  float64 `json:"datagrams_in"`
	DatagramsOut float64 `json:"datagrams_out"`
	Receives     float64 `json:"receive_calls"` // system calls a tick
	Sends        float64 `json:"send_calls"`    // likewise
	// Share of rounds that began over half a period late.
	Late float64 `json:"late_ticks"`
}

// ServeTraffic is the server's end: it plays rounds by the pacer, as a worker does, receives what has
// arrived, keeps the processor busy as the lobbies would, and sends the datagrams of each round in
// its batches. busy is the CPU time of the lobbies in a tick, and no part of the cost. Ready is called
// once all clients are known. The first second of the traffic warms up, and all of its rounds are then
// measured.
func ServeTraffic(ctx context.Context, conn netio.Conn, t Traffic, busy time.Duration,
	ready func()) (SocketCost, error) {
	s := trafficServer{conn: conn, t: t, busy: busy / time.Duration(len(t.Gaps)), pacer: clock.New(),
		period: t.period(), to: make([]netip.AddrPort, t.Clients),
		yardstick: clock.NewYardstick(clock.ThreadCPU)}
	read := clockCost()
	if err := s.awaitClients(ctx); err != nil {
		return SocketCost{}, err
	}
	ready()
	if err := s.play(ctx, min(len(t.Gaps)*int(time.Second/s.period), len(t.Rounds))); err != nil {
		return SocketCost{}, err
	}
	s.spent = spent{}
	process, before := clock.ProcessCPU(), conn.Stats()
	if err := s.play(ctx, len(t.Rounds)); err != nil {
		return SocketCost{}, err
	}
	process = clock.ProcessCPU() - process
	after, ticks := conn.Stats(), float64(t.ticks())
	perTick := func(d time.Duration) float64 { return float64(d) / 1e6 / ticks }
	count := func(a, b uint64) float64 { return float64(a-b) / ticks }
	u := s.spent
	inTick := u.receive + u.send + u.work + time.Duration(u.reads)*read
	return SocketCost{
		Ticks: t.ticks(), ReceiveMillis: perTick(u.receive), SendMillis: perTick(u.send),
		BesideMillis: perTick(process - inTick),
		DatagramsIn:  count(after.Delivered, before.Delivered), DatagramsOut: count(after.DatagramsOut,
			before.DatagramsOut),
		Receives: count(after.Receives, before.Receives), Sends: count(after.Sends, before.Sends),
		Late: float64(u.late) / float64(len(t.Rounds)),
	}, nil
}

// busyBytes is the memory that keepBusy touches: as much as a tick of a small lobby, and a quarter
// of the second-level cache of most processors. With more, system calls would cost more than they
// do live.
const busyBytes = 256 << 10

// trafficServer is the server's end while it runs. Its goroutine is bound to a thread.
type trafficServer struct {
	conn   netio.Conn
	t      Traffic
	busy   time.Duration
	memory [busyBytes]byte
	at     int // in memory
	pacer  *clock.Pacer
	period time.Duration
	to     []netip.AddrPort // by client
	in     netio.Batch
	out    netio.Batch
	pay    [netio.MaxDatagram]byte
	known  int
	due    time.Duration // of the next round

	yardstick *clock.Yardstick // measures the processor's speed, as in a server that is measured
	spent     spent
}

// spent is the CPU time of the measured ticks.
type spent struct {
	receive, send, work time.Duration
	late                int // rounds that began over half a period late
	reads               int // of the thread's clock that are in none of the three times
}

// awaitClients receives until every client has sent its index.
func (s *trafficServer) awaitClients(ctx context.Context) error {
	for end := s.pacer.Now() + 15*time.Second; s.known < s.t.Clients; {
		if s.pacer.Now() > end {
			return fmt.Errorf("%d of %d clients answered within 15 s", s.known, s.t.Clients)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.receiveAll(s.hello); err != nil {
			return err
		}
		s.pacer.Until(s.pacer.Now() + s.period)
	}
	return nil
}

// hello learns the address of a client.
func (s *trafficServer) hello(d netio.Datagram) {
	if len(d.Data) != helloBytes || binary.LittleEndian.Uint32(d.Data) != helloMark {
		return
	}
	if i := binary.LittleEndian.Uint32(d.Data[4:]); int(i) < len(s.to) && !s.to[i].IsValid() {
		s.to[i] = d.Addr
		s.known++
	}
}

// receiveAll receives what has arrived; each, if not nil, gets every datagram.
func (s *trafficServer) receiveAll(each func(netio.Datagram)) error {
	for {
		n, err := s.conn.Receive(&s.in)
		if n == 0 || err != nil {
			return err
		}
		for i := 0; each != nil && i < n; i++ {
			each(s.in.At(i))
		}
	}
}

// play plays rounds of the traffic, from its first on.
func (s *trafficServer) play(ctx context.Context, rounds int) error {
	if s.due == 0 {
		s.due = (s.pacer.Now()/s.period + 1) * s.period
	}
	for i := range rounds {
		s.due += s.t.Gaps[i%len(s.t.Gaps)]
		if now := s.pacer.Until(s.due); now-s.due > s.period/2 {
			s.spent.late++
		}
		begun := clock.ThreadCPU()
		if err := s.receiveAll(nil); err != nil {
			return err
		}
		received := clock.ThreadCPU()
		s.spent.receive += received - begun
		s.spent.reads++
		if err := s.sendRound(received, &s.t.Rounds[i]); err != nil {
			return err
		}
		s.yardstick.Slowdown(s.pacer.Now())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// sendRound sends the batches of a round. The lobbies work before each. from is the thread's clock.
func (s *trafficServer) sendRound(from time.Duration, r *Round) error {
	out, batches := r.Out, max(1, len(r.Sends))
	for k := range batches {
		worked := s.keepBusy(from, s.busy/time.Duration(batches))
		s.spent.work += worked - from
		s.spent.reads++
		from = worked
		if k < len(r.Sends) {
			if err := s.sendBatch(out[:r.Sends[k]]); err != nil {
				return err
			}
			out = out[r.Sends[k]:]
			from = clock.ThreadCPU()
			s.spent.send += from - worked
			s.spent.reads++
		}
	}
	return nil
}

// keepBusy takes the place of the lobbies: it touches their memory until a CPU time has passed since
// from, and returns the thread's clock.
func (s *trafficServer) keepBusy(from, busy time.Duration) time.Duration {
	const lines = 256 // of a cache, between two reads of the clock
	for {
		for range lines {
			s.memory[s.at]++
			if s.at += 64; s.at >= len(s.memory) {
				s.at = 0
			}
		}
		if now := clock.ThreadCPU(); now-from >= busy {
			return now
		}
	}
}

// sendBatch sends the datagrams of a batch.
func (s *trafficServer) sendBatch(out []Packet) error {
	for _, p := range out {
		if s.out.Full() {
			if err := s.flush(); err != nil {
				return err
			}
		}
		s.out.Add(s.pay[:p.Bytes], s.to[p.Client])
	}
	return s.flush()
}

// flush sends the batch.
func (s *trafficServer) flush() error {
	if s.out.Len() == 0 {
		return nil
	}
	err := s.conn.Send(&s.out)
	s.out.Reset()
	return err
}

// SendTraffic is the clients' end, for several servers at once, until ctx ends: it sends each
// server the clients' indices until started reports that all are known, then the datagrams of each
// tick, spread over the tick, and drains the sockets as a swarm does. It binds the calling
// goroutine to its thread.
func SendTraffic(ctx context.Context, at []netip.AddrPort, all []Traffic, started func() bool) error {
	c := trafficClients{pacer: clock.New(), period: all[0].period()}
	defer c.close()
	for i, t := range all {
		pool, err := netio.OpenClientPool(at[i], t.Clients)
		if err != nil {
			return err
		}
		c.pools = append(c.pools, pool)
		c.ticks = append(c.ticks, bySlot(t))
	}
	for ctx.Err() == nil && !started() {
		c.hello()
		c.pacer.Until(c.pacer.Now() + 50*time.Millisecond)
		c.drain()
	}
	c.play(ctx)
	return nil
}

// slots is the number of parts of a tick that clients are spread over, as a swarm spreads its
// players.
const slots = 32

// bySlot deals the datagrams to the server of each tick out to slots: those of a round to the slots
// of the time before it.
func bySlot(t Traffic) (all [][slots][]Packet) {
	for tick := range t.ticks() {
		var by [slots][]Packet
		first, passed := 0, time.Duration(0)
		for k, gap := range t.Gaps {
			passed += gap
			end := max(first+1, int(slots*passed/t.period()))
			for _, p := range t.Rounds[tick*len(t.Gaps)+k].In {
				slot := first + int(p.Client)%(end-first)
				by[slot] = append(by[slot], p)
			}
			first = end
		}
		all = append(all, by)
	}
	return all
}

// trafficClients are the clients' ends.
type trafficClients struct {
	pools  []*netio.ClientPool
	ticks  [][][slots][]Packet // by server
	pacer  *clock.Pacer
	period time.Duration
	pay    [netio.MaxDatagram]byte
}

// hello sends every client's index.
func (c *trafficClients) hello() {
	for _, pool := range c.pools {
		for i := range pool.Len() {
			var hello [helloBytes]byte
			binary.LittleEndian.PutUint32(hello[:], helloMark)
			binary.LittleEndian.PutUint32(hello[4:], uint32(i))
			_ = pool.Send(i, hello[:]) // it is sent again
		}
	}
}

// play sends the traffic again and again until ctx ends.
func (c *trafficClients) play(ctx context.Context) {
	slot := c.period / slots
	begin := c.pacer.Now()
	for k := 0; ctx.Err() == nil; k++ {
		c.pacer.Until(begin + time.Duration(k)*slot)
		for l, pool := range c.pools {
			tick := c.ticks[l][k/slots%len(c.ticks[l])]
			for _, p := range tick[k%slots] {
				// Refused once the server has ended: it counts what arrives.
				_ = pool.Send(int(p.Client), c.pay[:p.Bytes])
			}
		}
		c.drain()
	}
}

// drain takes in what has arrived, and forgets it.
func (c *trafficClients) drain() {
	for _, pool := range c.pools {
		for more := true; more; {
			_, more = pool.Poll(64, func(int, []byte) {})
		}
	}
}

// close closes all sockets.
func (c *trafficClients) close() {
	for _, pool := range c.pools {
		_ = pool.Close() // nothing is lost with it
	}
}
