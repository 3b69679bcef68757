package netcode

import "net/netip"

// Outbox collects datagrams to send. Servers and clients append to it; the owner sends its
// content and calls Reset. It reuses its memory and stops allocating once it is large enough. The
// zero value is empty.
type Outbox struct {
	bytes []byte
	list  []outgoing
}

type outgoing struct {
	to  netip.AddrPort
	end int
}

// Len returns the number of datagrams.
func (o *Outbox) Len() int { return len(o.list) }

// At returns a datagram and its destination; the memory is valid until Reset.
func (o *Outbox) At(i int) (to netip.AddrPort, datagram []byte) {
	start := 0
	if i > 0 {
		start = o.list[i-1].end
	}
	end := o.list[i].end
	return o.list[i].to, o.bytes[start:end:end]
}

// Reset empties the outbox.
func (o *Outbox) Reset() { o.bytes, o.list = o.bytes[:0], o.list[:0] }

// commit takes o.bytes with one datagram appended.
func (o *Outbox) commit(bytes []byte, to netip.AddrPort) {
	o.bytes = bytes
	o.list = append(o.list, outgoing{to, len(bytes)})
}
