package lobbysim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
)

// wire is the server's end of all links, a netio.Conn. Arrived datagrams are queued before a tick,
// and what the tick sends is put on the links after it, so a tick's time excludes the links.
type wire struct {
	in, out  queue
	injected queue // added to in by the next collect
	next     int   // index into in of the next datagram to receive
	onSend   func(to netip.AddrPort, data []byte)

	injectedCount uint64 // injected datagrams that were collected, in total
}

// queue holds datagrams back to back in one buffer.
type queue struct {
	entries   []entry
	data      []byte
	highWater int // largest len(data) so far
}

type entry struct {
	addr netip.AddrPort // source, or destination
	end  int            // index into data; the start is the end of the entry before
	tag  uint64         // of a client's datagram to the server: bindings and connection
}

// bindingBits are those of a tag that number the client's address. The others number its
// connection.
const bindingBits = 16

// sender returns the client that sent received datagram i, and which of its connections did; -1
// and 0 of one that was injected.
func (l *wire) sender(i int) (client, connection int) {
	e := &l.in.entries[i]
	if e.tag == 0 {
		return -1, 0
	}
	return int(e.addr.Port()) - 1, int(e.tag >> bindingBits)
}

func (m *queue) push(at netip.AddrPort, data []byte) {
	m.data = append(m.data, data[:min(len(data), netio.MaxDatagram)]...)
	m.entries = append(m.entries, entry{addr: at, end: len(m.data)})
}

// get returns entry i. Its data is valid until the next clear.
func (m *queue) get(i int) (at netip.AddrPort, data []byte) {
	from := 0
	if i > 0 {
		from = m.entries[i-1].end
	}
	l := &m.entries[i]
	return l.addr, m.data[from:l.end]
}

func (m *queue) clear() {
	m.highWater = max(m.highWater, len(m.data))
	m.entries, m.data = m.entries[:0], m.data[:0]
}

// reserve grows data to four times its high-water mark, at least 256 KB, and entries to 4096.
func (m *queue) reserve() {
	if n := max(4*m.highWater, 256<<10); cap(m.data) < n {
		m.data = slices.Grow(m.data, n-len(m.data))
	}
	if cap(m.entries) < 4096 {
		m.entries = slices.Grow(m.entries, 4096-len(m.entries))
	}
}

var _ netio.Conn = (*wire)(nil)

// clientAddr returns an address of client i. The port encodes the client, the two middle bytes of
// the host its NAT binding.
func clientAddr(i int, binding uint64) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(binding >> 8), byte(binding), 1}), uint16(i+1))
}

// parseClientAddr reverses clientAddr. ok is false for an address that no client has.
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
		for data, tag, ok := up[i].Pop(now); ok; data, tag, ok = up[i].Pop(now) {
			l.in.push(clientAddr(i, tag), data)
			l.in.entries[len(l.in.entries)-1].tag = tag
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

// Stats is zero: the links keep the counters.
func (l *wire) Stats() netio.Stats { return netio.Stats{} }
