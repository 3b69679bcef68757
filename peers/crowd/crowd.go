package crowd

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Client is one player. Its methods are called by one goroutine at a time; times count from the
// start of the crowd.
type Client interface {
	Receive(datagram []byte, now time.Duration)
	// Update appends a datagram to send, which the client does once in each Period.
	Update(dst []byte, now time.Duration) []byte
	Period() time.Duration
	Stats() Stats
}

// Crowd is a number of clients that play.
type Crowd struct {
	members []*member
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

type member struct {
	sync.Mutex
	client Client
	conn   *net.UDPConn
}

// arrival is the time between two clients that begin to connect.
const arrival = 20 * time.Millisecond

// Start lets clients connect to a server of this machine, each from an address of its own in
// 127.0.0.0/8, as servers limit what one address may do.
func Start(server netip.AddrPort, clients []Client) (*Crowd, error) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Crowd{cancel: cancel}
	for i, client := range clients {
		from := &net.UDPAddr{IP: net.IPv4(127, 0, byte(1+i/200), byte(2+i%200))}
		conn, err := net.DialUDP("udp4", from, net.UDPAddrFromAddrPort(server))
		if err != nil {
			c.Stop()
			return nil, fmt.Errorf("open a client's socket: %w", err)
		}
		c.members = append(c.members, &member{client: client, conn: conn})
	}
	start := time.Now()
	for i, m := range c.members {
		c.done.Go(func() { m.play(ctx, start, time.Duration(i)*arrival) })
	}
	return c, nil
}

// play receives until an update is due, over and over.
func (m *member) play(ctx context.Context, start time.Time, due time.Duration) {
	in, out := make([]byte, 2048), make([]byte, 0, 2048)
	for ctx.Err() == nil {
		_ = m.conn.SetReadDeadline(start.Add(due))
		for {
			n, err := m.conn.Read(in)
			if err != nil {
				if e, ok := err.(net.Error); ok && e.Timeout() {
					break
				}
				if ctx.Err() != nil {
					return
				}
				if time.Since(start) >= due { // refused: the server is not there yet
					break
				}
				continue
			}
			m.Lock()
			m.client.Receive(in[:n], time.Since(start))
			m.Unlock()
		}
		now := time.Since(start)
		m.Lock()
		out = m.client.Update(out[:0], now)
		period := m.client.Period()
		m.Unlock()
		if len(out) > 0 {
			_, _ = m.conn.Write(out) // a lost datagram is the protocol's matter
		}
		if due += period; due < now-4*period {
			due = now // far behind: do not catch up
		}
	}
}

// Stats is the sum over all clients, and how many of them have snapshots.
func (c *Crowd) Stats() (sum Stats, playing int) {
	for _, m := range c.members {
		m.Lock()
		s := m.client.Stats()
		m.Unlock()
		if s.Snapshots > 0 {
			playing++
		}
		sum = sum.Add(s)
	}
	return sum, playing
}

// Stop ends all clients and waits for them.
func (c *Crowd) Stop() {
	c.cancel()
	for _, m := range c.members {
		_ = m.conn.Close()
	}
	c.done.Wait()
}
