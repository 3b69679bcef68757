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
	// RingDatagrams is how many datagrams may wait for the owner, rounded up to a power of two; default 4096.
	// What arrives beyond is dropped and counted. A slot takes 1.4 kB. ListenMmsg has no ring.
	RingDatagrams int

	// SocketBuffer is the size asked for of the kernel's receive and send buffers, in bytes; default 8 MiB.
	// The kernel may give less, see Stats.
	SocketBuffer int

	// Moderation is how long ListenGnet's loop lets datagrams gather in the socket before it drains them again, as
	// a network card moderates its interrupts; default 500 microseconds, negative for none. Without it, every
	// datagram of a trickle costs a wake-up of a thread.
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
	return short(at), nil
}

var errNoAddress = errors.New("no address; say host:port, or :port for every address of this machine")

// short gives an IPv4 address that wears IPv6 clothes its short form.
func short(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

func listenError(addr netip.AddrPort, err error) error {
	return fmt.Errorf("netio: listen on %v: %w", addr, err)
}
