package simbench

import (
	"encoding/gob"
	"io"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
)

// Traffic is the datagrams of one server process, round by round: it reads its socket and plays the
// lobbies that are due.
type Traffic struct {
	Clients int             // of all lobbies
	Gaps    []time.Duration // before each round of a tick; the same in every tick
	Rounds  []Round         // as many in a tick as there are gaps
}

// Round is the datagrams of one round, in their order.
type Round struct {
	In, Out []Packet
	Sends   []int // number of datagrams of each batch of Out
}

// period is the time between two ticks.
func (t *Traffic) period() (sum time.Duration) {
	for _, gap := range t.Gaps {
		sum += gap
	}
	return sum
}

// ticks is the number of ticks.
func (t *Traffic) ticks() int { return len(t.Rounds) / len(t.Gaps) }

// Packet is a datagram without its content.
type Packet struct {
	Client uint16 // index
	Bytes  uint16 // UDP payload
}

// Write writes traffic for ReadTraffic.
func (t Traffic) Write(w io.Writer) error { return gob.NewEncoder(w).Encode(t) }

// ReadTraffic reads what Write wrote.
func ReadTraffic(r io.Reader) (t Traffic, err error) {
	err = gob.NewDecoder(r).Decode(&t)
	return t, err
}

// meter wraps the server's connection of a match: it measures the CPU time that the connection
// takes, which is none of the lobby's, and records the datagrams.
type meter struct {
	netio.Conn
	clients map[netip.AddrPort]uint16
	round   *Round // nil: nothing is recorded

	receive, send   time.Duration // CPU time in the connection
	receives, sends int           // calls: each reads the thread's clock twice
}

// Receive measures and records the wrapped connection.
func (m *meter) Receive(b *netio.Batch) (n int, err error) {
	from := clock.ThreadCPU()
	defer func() { m.receive, m.receives = m.receive+clock.ThreadCPU()-from, m.receives+1 }()
	n, err = m.Conn.Receive(b)
	if m.round != nil {
		for i := range n {
			m.round.In = m.record(m.round.In, b.At(i))
		}
	}
	return n, err
}

// Send measures and records the wrapped connection.
func (m *meter) Send(b *netio.Batch) error {
	from := clock.ThreadCPU()
	defer func() { m.send, m.sends = m.send+clock.ThreadCPU()-from, m.sends+1 }()
	err := m.Conn.Send(b)
	if m.round != nil {
		before := len(m.round.Out)
		for i := range b.Len() {
			m.round.Out = m.record(m.round.Out, b.At(i))
		}
		m.round.Sends = append(m.round.Sends, len(m.round.Out)-before)
	}
	return err
}

// record appends a datagram of a known client.
func (m *meter) record(to []Packet, d netio.Datagram) []Packet {
	client, known := m.clients[d.Addr]
	if !known {
		return to
	}
	return append(to, Packet{client, uint16(len(d.Data))})
}

// clockCost is the CPU time that one read of the thread's clock takes.
func clockCost() time.Duration {
	const reads = 2000
	from := clock.ThreadCPU()
	for range reads {
		clock.ThreadCPU()
	}
	return (clock.ThreadCPU() - from) / reads
}
