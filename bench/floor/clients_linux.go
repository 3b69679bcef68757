package floor

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// clients is the other side: one socket that sends as, and receives for, an address of each client.
// What it sends was sealed beforehand.
type clients struct {
	socket
	sealed [][]byte // a datagram of each client
	next   int      // client that sends next
	bytes  int      // of a datagram from the server
	owed   int      // bytes received beyond whole datagrams
	from   [batchSize]packetInfo
	out    batch
	in     batch
	server unix.RawSockaddrInet4
	took   func(datagram []byte, to [4]byte) // sees what is drained; nil but in tests
}

// packetInfo is a control message with the address that a datagram comes from.
type packetInfo struct {
	unix.Cmsghdr
	info unix.Inet4Pktinfo
	_    [4]byte
}

// openClients opens the clients' socket. It seals their datagrams and tells the server its port.
func openClients(t Traffic, s *server) (*clients, error) {
	c := &clients{bytes: headerBytes + len(s.body) + tagBytes,
		server: unix.RawSockaddrInet4{Family: unix.AF_INET, Port: s.port, Addr: [4]byte{127, 0, 0, 1}}}
	if err := c.open([4]byte{}); err != nil {
		return nil, err
	}
	// Without it the server's send would cut its datagrams apart for a socket that wants them so.
	_ = unix.SetsockoptInt(c.fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1)
	at, err := unix.Getsockname(c.fd)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("the floor's socket: %w", err)
	}
	s.peers = networkPort(at.(*unix.SockaddrInet4).Port)
	body := make([]byte, int(math.Round(t.BytesIn))-headerBytes-tagBytes)
	for i := range s.clients {
		c.sealed = append(c.sealed, s.sealer.seal(s.clients[i].receive, nil, uint32(i), body))
	}
	c.out.init(0)
	c.in.init(64 << 10)
	for i := range c.from {
		f, h := &c.from[i], &c.out.hdrs[i].hdr
		f.Level, f.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
		f.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
		h.Control = controlOf(f)
		h.SetControllen(unix.CmsgSpace(unix.SizeofInet4Pktinfo))
		c.out.names[i] = c.server
	}
	return c, nil
}

// send sends n datagrams, each as the next client.
func (c *clients) send(n int) error {
	for n > 0 {
		now := min(n, batchSize)
		for i := range now {
			c.from[i].info.Spec_dst = addressOf(c.next)
			c.out.iovs[i].Base = &c.sealed[c.next][0]
			c.out.iovs[i].SetLen(len(c.sealed[c.next]))
			if c.next++; c.next == len(c.sealed) {
				c.next = 0
			}
		}
		if err := c.out.send(c.fd, now); err != nil {
			return fmt.Errorf("the floor's clients send: %w", err)
		}
		n -= now
	}
	return nil
}

// drain takes what has come and returns the number of datagrams.
func (c *clients) drain() (datagrams int) {
	for {
		n, err := c.in.receive(c.fd)
		if n == 0 || err != nil {
			return datagrams
		}
		for i := range n {
			c.owed += int(c.in.hdrs[i].n)
			if c.took != nil {
				c.took(c.in.data(i), c.in.names[i].Addr)
			}
		}
		datagrams += c.owed / c.bytes
		c.owed %= c.bytes
	}
}
