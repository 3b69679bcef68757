package netio

import "github.com/tickrate/tickrate/internal/meter"

// Stats counts the datagrams of a Conn since it was opened. Every datagram that came out of the
// socket is counted once:
//
//	DatagramsIn  ==  Delivered + Oversize + Filtered + RingFull + (datagrams in the ring)
//
// and so is every datagram of a batch given to Send: DatagramsOut, SendAgain or SendFailed.
type Stats struct {
	DatagramsIn uint64 // taken from the socket
	BytesIn     uint64 // their payload
	Delivered   uint64 // handed to the owner by Receive
	Oversize    uint64 // dropped: longer than MaxDatagram
	Filtered    uint64 // dropped by Config.Filter
	RingFull    uint64 // dropped: the ring was full
	KernelDrops uint64 // dropped by the kernel: the socket's buffer was full; 0 if unknown

	DatagramsOut uint64 // taken by the kernel
	BytesOut     uint64 // their payload
	SendAgain    uint64 // lost: the kernel had no room at that moment (EAGAIN, ENOBUFS)
	SendFailed   uint64 // lost: refused by the kernel (no route, wrong address family, ...)

	Wakeups  uint64 // callbacks of gnet's event loop, five small allocations each
	Receives uint64 // system calls that received
	Sends    uint64 // system calls that sent

	Buffers
}

// Buffers are the sizes of a socket's buffers in bytes: what was requested (Config.SocketBuffer),
// and what the kernel gave for receiving and for sending; 0 where unknown. Linux reserves twice
// that, for its own bookkeeping.
type Buffers struct {
	BufferRequested, ReceiveBuffer, SendBuffer int
}

// SmallBuffers reports whether the kernel gave less than requested, so that bursts may be lost.
// Config.SocketBuffer says what to do about it.
func (s Stats) SmallBuffers() bool {
	return s.ReceiveBuffer > 0 && s.ReceiveBuffer < s.BufferRequested || s.SendBuffer > 0 &&
		s.SendBuffer < s.BufferRequested
}

// Lost returns the number of datagrams lost on this side, without those that Config.Filter
// dropped.
func (s Stats) Lost() uint64 {
	return s.Oversize + s.RingFull + s.KernelDrops + s.SendAgain + s.SendFailed
}

// counters is the running form of Stats.
type counters struct {
	in, bytesIn, delivered, oversize, refused, ringFull meter.Counter
	out, bytesOut, sendAgain, sendFailed                meter.Counter
	wakes, receives, sends                              meter.Counter
}

func (c *counters) stats() Stats {
	return Stats{
		DatagramsIn: c.in.Load(), BytesIn: c.bytesIn.Load(), Delivered: c.delivered.Load(),
		Oversize: c.oversize.Load(), Filtered: c.refused.Load(), RingFull: c.ringFull.Load(),
		DatagramsOut: c.out.Load(), BytesOut: c.bytesOut.Load(),
		SendAgain: c.sendAgain.Load(), SendFailed: c.sendFailed.Load(),
		Wakeups: c.wakes.Load(), Receives: c.receives.Load(), Sends: c.sends.Load(),
	}
}

// received counts the datagrams that came out of a socket into slots. It moves those that are too
// long, or that filter drops, after the others, and returns how many others there are.
func (c *counters) received(slots []slot, keep func([]byte) bool) (kept int) {
	var sum, long, refused uint64
	for i := range slots {
		s := &slots[i]
		sum += uint64(s.n)
		switch {
		case s.n > MaxDatagram:
			long++
			continue
		case keep != nil && !keep(s.buf[:s.n:s.n]):
			refused++
			continue
		}
		if i != kept {
			slots[i], slots[kept] = slots[kept], slots[i]
		}
		kept++
	}
	c.in.Add(uint64(len(slots)))
	c.bytesIn.Add(sum)
	if long > 0 {
		c.oversize.Add(long)
	}
	if refused > 0 {
		c.refused.Add(refused)
	}
	return kept
}

// Add adds the figures of another Conn.
func (s *Stats) Add(o *Stats) {
	s.DatagramsIn += o.DatagramsIn
	s.BytesIn += o.BytesIn
	s.Delivered += o.Delivered
	s.Oversize += o.Oversize
	s.Filtered += o.Filtered
	s.RingFull += o.RingFull
	s.KernelDrops += o.KernelDrops
	s.DatagramsOut += o.DatagramsOut
	s.BytesOut += o.BytesOut
	s.SendAgain += o.SendAgain
	s.SendFailed += o.SendFailed
	s.Wakeups += o.Wakeups
	s.Receives += o.Receives
	s.Sends += o.Sends
	s.BufferRequested += o.BufferRequested
	s.ReceiveBuffer += o.ReceiveBuffer
	s.SendBuffer += o.SendBuffer
}
