package netio

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Config adjusts a Conn. The zero value of each field means its default.
type Config struct {
	// RingDatagrams is how many datagrams may wait for the owner, rounded up to a power of two;
	// default 4096, which is 5.7 MB. Further datagrams wait in the socket's receive buffer; the
	// kernel drops and counts what that cannot hold (Stats.KernelDrops). ListenNet drops what the
	// ring cannot hold (Stats.RingFull). ListenMmsg has no ring.
	RingDatagrams int

	// SocketBuffer is the size requested for the kernel's receive and send buffers, in bytes;
	// default 8 MiB, which holds about 20,000 short datagrams, because the kernel charges at
	// least 768 bytes for one. A process with CAP_NET_ADMIN gets that much. Others get at most
	// the system's limit, often 208 KiB, and Stats tells how much. Raise the limit with
	//
	//	sysctl -w net.core.rmem_max=8388608 net.core.wmem_max=8388608
	SocketBuffer int

	// Filter, if any, reports whether the owner shall see a datagram that came out of the socket,
	// before it takes a place in the ring; dropped ones are counted (Stats.Filtered). It is for
	// cheap tests: of a length, or of a first byte. ListenGnet and ListenNet call it on their own
	// goroutine, so it must not touch the owner's state, keep the slice or write to it.
	Filter func(datagram []byte) bool

	// Moderation is how long ListenGnet's loop lets datagrams gather in the socket before it
	// drains them again, like the interrupt moderation of a network card; default 500
	// microseconds, negative for none. Without it every datagram of a trickle costs a wake-up of
	// a thread. While few come, it is up to four times as long.
	Moderation time.Duration

	// ReusePort lets several Conns of one user have the same address (SO_REUSEPORT). The kernel
	// picks one of them for a datagram by its source address, so that all datagrams of a source
	// come out of the same Conn while none is opened or closed. Linux only. See ListenShared.
	ReusePort bool
}

// Defaults of Config.
const (
	DefaultRingDatagrams = 4096
	DefaultSocketBuffer  = 8 << 20
	DefaultModeration    = 500 * time.Microsecond
)

// ListenShared opens n Conns on one address with Config.ReusePort, each by listen: one of ListenGnet,
// ListenMmsg and ListenNet. It first finds the port free of other sockets: a second server on it
// would take a part of the datagrams. Of several Conns either all are open or none.
func ListenShared(n int, listen func(string, Config) (Conn, error), addr string, cfg Config) (
	conns []Conn, err error) {
	cfg.ReusePort = n > 1
	if n == 1 {
		c, err := listen(addr, cfg)
		return []Conn{c}, err
	}
	free, err := ListenNet(addr, Config{RingDatagrams: 1, SocketBuffer: 1 << 12})
	if err != nil {
		return nil, err
	}
	at := free.LocalAddr()
	if err = free.Close(); err != nil {
		return nil, err
	}
	for range n {
		c, err := listen(at.String(), cfg)
		if err != nil {
			for _, c := range conns {
				err = errors.Join(err, c.Close())
			}
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

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

// resolve turns "host:port" into an address to bind. An empty host means all addresses of the
// machine, like [::].
func resolve(addr string) (netip.AddrPort, error) {
	u, err := net.ResolveUDPAddr("udp", addr)
	if err == nil && addr == "" { // package net takes it for ":0"
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

// canonical returns an IPv4 address in IPv6 form as plain IPv4.
func canonical(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func listenError(addr netip.AddrPort, err error) error {
	return fmt.Errorf("netio: listen on %v: %w", addr, err)
}
