package session

import (
	"errors"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// maxBatches bounds the datagrams of one Poll, so that a flood does not hold the owner: 4096.
const maxBatches = 64

// socket is a UDP socket, the clock of its sessions and what waits to be sent.
type socket struct {
	conn    netio.Conn
	begun   time.Time
	in, out netio.Batch
	queue   netcode.Outbox
}

func open(address string) (*socket, error) {
	conn, err := netio.ListenMmsg(address, netio.Config{})
	return &socket{conn: conn, begun: time.Now()}, err
}

// Now is the time since the socket was opened: the clock of Poll and Send, and of a packet.Peer.
func (s *socket) Now() time.Duration { return time.Since(s.begun) }

// LocalAddr is the bound address.
func (s *socket) LocalAddr() netip.AddrPort { return s.conn.LocalAddr() }

// Stats counts what the socket sent, received and lost.
func (s *socket) Stats() netio.Stats { return s.conn.Stats() }

// receive calls each for what has arrived: of a batch first the datagrams of sessions, then handshakes.
func (s *socket) receive(each func(netio.Datagram)) error {
	for range maxBatches {
		n, err := s.conn.Receive(&s.in)
		if err != nil || n == 0 {
			return err
		}
		for _, handshakes := range [2]bool{false, true} {
			for i := range n {
				if d := s.in.At(i); netcode.IsHandshake(d.Data) == handshakes {
					each(d)
				}
			}
		}
	}
	return nil
}

// Flush sends what Poll and Send have queued.
func (s *socket) Flush() error {
	defer s.queue.Reset()
	for i := 0; i < s.queue.Len(); {
		for s.out.Reset(); i < s.queue.Len() && !s.out.Full(); i++ {
			to, datagram := s.queue.At(i)
			s.out.Add(datagram, to)
		}
		if err := s.conn.Send(&s.out); err != nil {
			return err
		}
	}
	return nil
}

// close sends what is queued and releases the port.
func (s *socket) close() error { return errors.Join(s.Flush(), s.conn.Close()) }
