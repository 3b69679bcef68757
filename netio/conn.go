package netio

import "net/netip"

// Conn is a bound socket, or something that behaves like one. One goroutine owns it; only Stats may be called by
// others. After Close, Receive and Send return net.ErrClosed.
type Conn interface {
	// Receive replaces what b holds by up to BatchSize datagrams that have arrived, without waiting, and returns
	// how many: 0 when there is none. Call it until it returns 0. What b held before is invalid afterwards.
	Receive(b *Batch) (int, error)

	// Send hands every datagram of b to the network and leaves b as it is. It never waits: what the kernel does
	// not take at once is lost, as on the wire, and counted (Stats.SendAgain, Stats.SendFailed). An error means
	// that the connection itself is of no more use.
	Send(b *Batch) error

	// LocalAddr is the address bound to, with the port the kernel chose if none was asked for.
	LocalAddr() netip.AddrPort

	// Close releases the port: once it has returned, another Conn can have it. A second Close does nothing.
	Close() error

	// Stats may be called from any goroutine, also after Close.
	Stats() Stats
}

// Datagram is one packet and its peer: the sender when received, the destination when sent.
type Datagram struct {
	Addr netip.AddrPort
	Data []byte // at most MaxDatagram bytes; memory of the batch it came from
}
