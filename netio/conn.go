package netio

import "net/netip"

// Conn is a bound socket, or a replacement for one. One goroutine owns it; only Stats may be
// called by others. After Close, Receive and Send return net.ErrClosed.
type Conn interface {
	// Receive replaces the content of b by up to BatchSize datagrams that have arrived, without
	// waiting, and returns their number: 0 when there is none. Call it until it returns 0.
	Receive(b *Batch) (int, error)

	// Send hands every datagram of b to the network and leaves b unchanged. It never waits: a
	// datagram that the kernel does not take at once is lost and counted (Stats.SendAgain,
	// Stats.SendFailed). An error means that the connection is unusable.
	Send(b *Batch) error

	// LocalAddr returns the bound address, with the port that the kernel chose if none was
	// requested.
	LocalAddr() netip.AddrPort

	// Close releases the port, so that another Conn can bind it. A second Close does nothing.
	Close() error

	// Stats may be called from any goroutine, also after Close.
	Stats() Stats
}

// Datagram is one datagram and its peer: the sender when received, the destination when sent.
type Datagram struct {
	Addr netip.AddrPort
	Data []byte // at most MaxDatagram bytes; memory of the batch it came from
}
