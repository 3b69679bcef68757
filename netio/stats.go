package netio

import "github.com/tickrate/tickrate/internal/meter"

// Stats counts what passed a Conn since it was opened. Every datagram that came out of the socket is counted once:
//
//	DatagramsIn  ==  Delivered + Oversize + Refused + RingFull + (what still waits in the ring)
//
// and so is every datagram of a batch given to Send: DatagramsOut, SendAgain or SendFailed.
type Stats struct {
	DatagramsIn uint64 // taken from the socket, whatever became of them
	BytesIn     uint64 // their payload
	Delivered   uint64 // handed to the owner by Receive
	Oversize    uint64 // dropped: longer than MaxDatagram
	Filtered    uint64 // dropped: Config.Filter did not want it
	RingFull    uint64 // dropped: the owner was too slow and the ring was full
	KernelDrops uint64 // never reached us: the socket's own buffer was full; 0 where the kernel does not tell

	DatagramsOut uint64 // taken by the kernel
	BytesOut     uint64 // their payload
	SendAgain    uint64 // lost: the kernel had no room at that moment (EAGAIN, ENOBUFS)
	SendFailed   uint64 // lost: the kernel refused this one (no route, wrong address family, ...)

	Wakeups  uint64 // callbacks of the event loop, each of which costs gnet five small allocations; 0 for others
	Receives uint64 // system calls that asked for datagrams
	Sends    uint64 // system calls that sent datagrams

	Buffers
}

// Buffers are the sizes of a socket's buffers in bytes: what was asked for (Config.SocketBuffer), and what the kernel
// gave for receiving and for sending; 0 where unknown. Linux sets aside twice that, for its own bookkeeping.
type Buffers struct {
	BufferRequested, ReceiveBuffer, SendBuffer int
}

// SmallBuffers reports whether the kernel gave less than was asked for, so that bursts may be lost that the socket was
// meant to hold. Config.SocketBuffer says what to do about it.
func (s Stats) SmallBuffers() bool {
	return s.ReceiveBuffer > 0 && s.ReceiveBuffer < s.BufferRequested || s.SendBuffer > 0 && s.SendBuffer < s.BufferRequested
}

// Lost is the number of datagrams known to be lost on this side, for any reason but that Config.Filter did not want them.
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

// received counts the datagrams that came out of a socket into slots, moves those that are too long, or that keep (if
// any) does not want, behind the others, and returns how many others there are.
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
