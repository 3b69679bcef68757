package netcode

import "net/netip"

// Outbox collects datagrams to be sent. Servers and clients append to it; its owner sends what is in it and calls
// Reset. It uses its memory again: once it has held as much as it ever will, it allocates nothing. The zero value is empty.
type Outbox struct {
	bytes []byte
	list  []outgoing
}

type outgoing struct {
	to  netip.AddrPort
	end int
}

// Len is the number of datagrams.
func (o *Outbox) Len() int { return len(o.list) }

// At returns a datagram and where it goes; its memory is the outbox's until Reset.
func (o *Outbox) At(i int) (to netip.AddrPort, datagram []byte) {
	start := 0
	if i > 0 {
		start = o.list[i-1].end
	}
	end := o.list[i].end
	return o.list[i].to, o.bytes[start:end:end]
}

// Reset empties it.
func (o *Outbox) Reset() { o.bytes, o.list = o.bytes[:0], o.list[:0] }

// commit takes bytes, which are o.bytes with one datagram appended.
func (o *Outbox) commit(bytes []byte, to netip.AddrPort) {
	o.bytes = bytes
	o.list = append(o.list, outgoing{to, len(bytes)})
}
