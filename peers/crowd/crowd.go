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
	pace   schedule
	heard  time.Time // when the newest snapshot came
}

// quiet is how long a client that plays is without a snapshot at most.
const quiet = time.Second

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
		pace := schedule{due: time.Duration(i) * arrival}
		c.members = append(c.members, &member{client: client, conn: conn, pace: pace})
	}
	start := time.Now()
	for _, m := range c.members {
		c.done.Go(func() { m.play(ctx, start) })
	}
	return c, nil
}

// play receives until an update is due, over and over.
func (m *member) play(ctx context.Context, start time.Time) {
	in, out := make([]byte, 2048), make([]byte, 0, 2048)
	for ctx.Err() == nil {
		_ = m.conn.SetReadDeadline(start.Add(m.pace.due))
		for {
			n, err := m.conn.Read(in)
			if err != nil {
				if e, ok := err.(net.Error); ok && e.Timeout() {
					break
				}
				if ctx.Err() != nil {
					return
				}
				if time.Since(start) >= m.pace.due { // refused: the server is not there yet
					break
				}
				continue
			}
			m.Lock()
			before := m.client.Stats().Snapshots
			if m.client.Receive(in[:n], time.Since(start)); m.client.Stats().Snapshots > before {
				m.heard = time.Now()
			}
			m.Unlock()
		}
		now := time.Since(start)
		m.Lock()
		out = m.client.Update(out[:0], now)
		m.pace.next(now, m.client.Period())
		m.Unlock()
		if len(out) > 0 {
			_, _ = m.conn.Write(out) // a lost datagram is the protocol's matter
		}
	}
}

// Stats is the sum over all clients, and how many of them play: a snapshot came in the last second.
func (c *Crowd) Stats() (sum Stats, playing int) {
	for _, m := range c.members {
		m.Lock()
		s := m.client.Stats()
		s.Updates, s.Late = m.pace.updates, m.pace.late
		heard := m.heard
		m.Unlock()
		if s.Snapshots > 0 && time.Since(heard) < quiet {
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
