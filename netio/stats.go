package netio

import "github.com/tickrate/tickrate/internal/meter"

// Stats counts what passed a Conn since it was opened. Every datagram that came out of the socket is counted once:
//
//	DatagramsIn  ==  Delivered + Oversize + RingFull + (what still waits in the ring)
//
// and so is every datagram of a batch given to Send: DatagramsOut, SendAgain or SendFailed.
type Stats struct {
	DatagramsIn uint64 // taken from the socket, whatever became of them
	BytesIn     uint64 // their payload
	Delivered   uint64 // handed to the owner by Receive
	Oversize    uint64 // dropped: longer than MaxDatagram
	RingFull    uint64 // dropped: the owner was too slow and the ring was full
	KernelDrops uint64 // never reached us: the socket's own buffer was full; 0 where the kernel does not tell

	DatagramsOut uint64 // taken by the kernel
	BytesOut     uint64 // their payload
	SendAgain    uint64 // lost: the kernel had no room at that moment (EAGAIN, ENOBUFS)
	SendFailed   uint64 // lost: the kernel refused this one (no route, wrong address family, ...)

	Wakes    uint64 // callbacks of the event loop, each of which costs gnet five small allocations; 0 for others
	Receives uint64 // system calls that asked for datagrams
	Sends    uint64 // system calls that sent datagrams

	ReceiveBuffer int // the socket's buffers as the kernel set them up, in bytes; 0 where unknown
	SendBuffer    int
}

// Lost is the number of datagrams known to be lost on this side, for any reason.
func (s Stats) Lost() uint64 {
	return s.Oversize + s.RingFull + s.KernelDrops + s.SendAgain + s.SendFailed
}

// counters is the running form of Stats.
type counters struct {
	in, bytesIn, delivered, oversize, ringFull meter.Counter
	out, bytesOut, sendAgain, sendFailed       meter.Counter
	wakes, receives, sends                     meter.Counter
}

func (c *counters) stats() Stats {
	return Stats{
		DatagramsIn: c.in.Load(), BytesIn: c.bytesIn.Load(), Delivered: c.delivered.Load(),
		Oversize: c.oversize.Load(), RingFull: c.ringFull.Load(),
		DatagramsOut: c.out.Load(), BytesOut: c.bytesOut.Load(),
		SendAgain: c.sendAgain.Load(), SendFailed: c.sendFailed.Load(),
		Wakes: c.wakes.Load(), Receives: c.receives.Load(), Sends: c.sends.Load(),
	}
}

// arrived counts n datagrams that came out of a socket into slots, and marks those that are too long as holes.
func (c *counters) arrived(slots []slot) {
	var sum, long uint64
	for i := range slots {
		s := &slots[i]
		sum += uint64(s.n)
		if s.n > MaxDatagram {
			s.n = hole
			long++
		}
	}
	c.in.Add(uint64(len(slots)))
	c.bytesIn.Add(sum)
	if long > 0 {
		c.oversize.Add(long)
	}
}
