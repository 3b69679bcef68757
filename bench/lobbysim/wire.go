package lobbysim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
)

// wire is the server's end of all links, a netio.Conn. Datagrams are collected from the links
// before a tick and delivered to them after it, so that a tick can be measured without the links.
type wire struct {
	in, out  queue
	injected queue // for the next collect
	next     int   // of in, for Receive
	onSend   func(to netip.AddrPort, data []byte)

	injectedCount uint64 // collected so far
}

// queue is datagrams, their bytes one after the other.
type queue struct {
	entries []entry
	data    []byte
	most    int // of data, so far
}

type entry struct {
	at  netip.AddrPort // source, or destination
	end int            // in data; the start is the end of the entry before
}

func (m *queue) push(at netip.AddrPort, data []byte) {
	m.data = append(m.data, data[:min(len(data), netio.MaxDatagram)]...)
	m.entries = append(m.entries, entry{at, len(m.data)})
}

// get is entry i. Its data is valid until the next clear.
func (m *queue) get(i int) (at netip.AddrPort, data []byte) {
	from := 0
	if i > 0 {
		from = m.entries[i-1].end
	}
	l := &m.entries[i]
	return l.at, m.data[from:l.end]
}

func (m *queue) clear() {
	m.most = max(m.most, len(m.data))
	m.entries, m.data = m.entries[:0], m.data[:0]
}

// reserve makes room for four times the most so far, and for 256 KB at first.
func (m *queue) reserve() {
	if n := max(4*m.most, 256<<10); cap(m.data) < n {
		m.data = slices.Grow(m.data, n-len(m.data))
	}
	if cap(m.entries) < 4096 {
		m.entries = slices.Grow(m.entries, 4096-len(m.entries))
	}
}

var _ netio.Conn = (*wire)(nil)

// clientAddr is an address of client i: the port is the client, the host its binding.
func clientAddr(i int, binding uint64) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(binding >> 8), byte(binding), 1}), uint16(i+1))
}

// parseClientAddr is the reverse of clientAddr; ok is false for an address of no client.
func parseClientAddr(a netip.AddrPort, clients int) (i int, binding uint64, ok bool) {
	host := a.Addr().As4()
	i = int(a.Port()) - 1
	return i, uint64(host[1])<<8 | uint64(host[2]), host[0] == 10 && host[3] == 1 && i >= 0 && i < clients
}

// collect takes the datagrams that have arrived by now, client by client, and then injected ones.
func (l *wire) collect(up []*impair.Link, now time.Duration) {
	l.in.clear()
	l.next = 0
	for i := range up {
		for data, binding, ok := up[i].Pop(now); ok; data, binding, ok = up[i].Pop(now) {
			l.in.push(clientAddr(i, binding), data)
		}
	}
	for i := range l.injected.entries {
		l.in.push(l.injected.get(i))
	}
	l.injectedCount += uint64(len(l.injected.entries))
	l.injected.clear()
	l.out.reserve() // a tick must not pay for the memory
}

// deliver puts the server's datagrams on the clients' links and drops those to other addresses.
func (l *wire) deliver(down []*impair.Link, now time.Duration) {
	for i := range l.out.entries {
		at, data := l.out.get(i)
		if client, binding, ok := parseClientAddr(at, len(down)); ok {
			down[client].Push(now, data, binding)
		}
	}
	l.out.clear()
}

// Receive returns collected datagrams.
func (l *wire) Receive(to *netio.Batch) (int, error) {
	to.Reset()
	for ; l.next < len(l.in.entries) && !to.Full(); l.next++ {
		at, data := l.in.get(l.next)
		to.Add(data, at)
	}
	return to.Len(), nil
}

// Send keeps a batch for deliver.
func (l *wire) Send(from *netio.Batch) error {
	for i := range from.Len() {
		d := from.At(i)
		l.out.push(d.Addr, d.Data)
		if l.onSend != nil {
			l.onSend(d.Addr, d.Data)
		}
	}
	return nil
}

// serverAddr is the server's address.
var serverAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2}), 7913)

// LocalAddr is the server's address.
func (l *wire) LocalAddr() netip.AddrPort { return serverAddr }

// Close does nothing.
func (l *wire) Close() error { return nil }

// Stats are empty: the links count.
func (l *wire) Stats() netio.Stats { return netio.Stats{} }
