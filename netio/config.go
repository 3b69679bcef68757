package netio

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Config adjusts a Conn. The zero value of each field is a good default.
type Config struct {
	// RingDatagrams is how many datagrams may wait for the owner, rounded up to a power of two; default 4096, which
	// is 5.7 MB. What arrives beyond waits in the socket's receive buffer, and what that cannot hold the kernel
	// drops and counts (Stats.KernelDrops). ListenNet drops what the ring cannot hold (Stats.RingFull). ListenMmsg
	// has no ring.
	RingDatagrams int

	// SocketBuffer is the size asked for of the kernel's receive and send buffers, in bytes; default 8 MiB, which
	// holds some 20,000 short datagrams, since the kernel charges 768 bytes for the least of them. A process that
	// may administrate the network (CAP_NET_ADMIN) gets that much. Any other gets no more than the system's limit,
	// on many 208 KiB, and Stats tells how much: raise the limit with
	//
	//	sysctl -w net.core.rmem_max=8388608 net.core.wmem_max=8388608
	SocketBuffer int

	// Filter, if any, looks at each datagram as it comes out of the socket, before it takes a place in the ring, and
	// reports whether the owner shall see it; the others are counted (Stats.Filtered). It is for what is cheap to
	// tell: a length or a first byte that the protocol does not know. ListenGnet and ListenNet call it on their own
	// goroutine, so it must not touch what the owner changes; it may not keep the slice nor write to it.
	Filter func(datagram []byte) bool

	// Moderation is how long ListenGnet's loop lets datagrams gather in the socket before it drains them again, as
	// a network card moderates its interrupts; default 500 microseconds, negative for none. Without it, every
	// datagram of a trickle costs a wake-up of a thread. While few come it is up to four times as long.
	Moderation time.Duration
}

// Defaults of Config.
const (
	DefaultRingDatagrams = 4096
	DefaultSocketBuffer  = 8 << 20
	DefaultModeration    = 500 * time.Microsecond
)

func (c Config) withDefaults() Config {
	if c.RingDatagrams <= 0 {
		c.RingDatagrams = DefaultRingDatagrams
	}
	if c.SocketBuffer <= 0 {
		c.SocketBuffer = DefaultSocketBuffer
	}
	if c.Moderation == 0 {
		c.Moderation = DefaultModeration
	}
	return c
}

// resolve turns "host:port" into an address to bind. An empty host means every address of the machine, as [::] does.
func resolve(addr string) (netip.AddrPort, error) {
	u, err := net.ResolveUDPAddr("udp", addr)
	if err == nil && addr == "" { // which package net takes for ":0"
		err = errNoAddress
	}
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("netio: listen on %q: %w", addr, err)
	}
	at := u.AddrPort()
	if !at.Addr().IsValid() {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), at.Port()), nil
	}
	return canonical(at), nil
}

var errNoAddress = errors.New("no address; say host:port, or :port for every address of this machine")

// canonical gives an IPv4 address that wears IPv6 clothes its short form.
func canonical(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func listenError(addr netip.AddrPort, err error) error {
	return fmt.Errorf("netio: listen on %v: %w", addr, err)
}
