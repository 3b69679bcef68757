package floor

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// server is the side that is measured.
type server struct {
	socket
	port    uint16 // in network order
	clients []client
	sealer  sealer
	body    []byte // of each datagram that is sent
	run     spread // datagrams to the next address
	next    int    // client that is sent to next
	in, out batch
}

// openServer opens the server's socket, with the keys of all clients.
func openServer(t Traffic) (*server, error) {
	s := &server{body: make([]byte, int(math.Round(t.BytesOut))-headerBytes-tagBytes), run: spread{mean: t.Run}}
	if err := s.open([4]byte{127, 0, 0, 1}); err != nil {
		return nil, err
	}
	if _, err := unix.GetsockoptInt(s.fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT); err != nil {
		s.run.mean = 1 // a kernel before 4.18
	}
	at, err := unix.Getsockname(s.fd)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("the floor's socket: %w", err)
	}
	s.port = networkPort(at.(*unix.SockaddrInet4).Port)
	for i := range t.Clients {
		s.clients = append(s.clients, newClient(i))
	}
	s.in.init(slotBytes)
	s.out.init(slotBytes)
	return s, nil
}

// turn receives and opens what has come, and seals and sends out datagrams.
func (s *server) turn(out int) (r result) {
	for full := true; full; {
		begin := threadCPU()
		n, err := s.in.receive(s.fd)
		received := threadCPU()
		if err != nil {
			return result{err: fmt.Errorf("the floor receives: %w", err)}
		}
		for i := range n {
			at := indexOf(s.in.names[i].Addr)
			if at >= len(s.clients) || !s.sealer.open(s.clients[at].receive, s.in.data(i)) {
				return result{err: fmt.Errorf("the floor opens: a datagram of %d bytes is not authentic", s.in.hdrs[i].n)}
			}
		}
		r.cost.add(Cost{Receive: received - begin, Open: threadCPU() - received})
		r.in += n
		full = n == batchSize
	}
	for out > 0 {
		begin := threadCPU()
		headers := s.seal(min(out, batchSize))
		sealed := threadCPU()
		if err := s.out.send(s.fd, headers); err != nil {
			return result{err: fmt.Errorf("the floor sends: %w", err)}
		}
		r.cost.add(Cost{Seal: sealed - begin, Send: threadCPU() - sealed})
		out -= min(out, batchSize)
	}
	return r
}

// seal fills n slots with datagrams to the next clients, and returns the number of headers: one for
// the datagrams to one address.
func (s *server) seal(n int) (headers int) {
	for i := 0; i < n; headers++ {
		at := s.next
		if s.next++; s.next == len(s.clients) {
			s.next = 0
		}
		c, run := &s.clients[at], min(max(s.run.next(), 1), n-i)
		for k := range run {
			c.sequence++
			datagram := s.sealer.seal(c.send, s.out.slot(i + k)[:0], c.sequence, s.body)
			s.out.iovs[i+k].SetLen(len(datagram))
		}
		s.out.address(headers, i, run, unix.RawSockaddrInet4{Family: unix.AF_INET, Port: s.peers, Addr: addressOf(at)},
			headerBytes+len(s.body)+tagBytes)
		i += run
	}
	return headers
}
