package lobbysim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
)

// line is the server's end of all links, a netio.Conn. What the links deliver is gathered before a tick and what the
// server sends is spread over them after it, so that a tick can be measured without the links.
type line struct {
	in, out mail
	strange mail // of strangers, for the next gather
	next    int  // of in
	said    func(to netip.AddrPort, data []byte)

	strangers uint64 // datagrams of theirs that were gathered
}

// mail is datagrams, whose bytes lie one behind the other.
type mail struct {
	letters []letter
	data    []byte
	most    int // bytes at a time, so far
}

type letter struct {
	at  netip.AddrPort // where it comes from, or goes to
	end int            // in data; it begins where the one before ends
}

func (m *mail) push(at netip.AddrPort, data []byte) {
	m.data = append(m.data, data[:min(len(data), netio.MaxDatagram)]...)
	m.letters = append(m.letters, letter{at, len(m.data)})
}

// get is letter i. Its data is valid until the next clear.
func (m *mail) get(i int) (at netip.AddrPort, data []byte) {
	from := 0
	if i > 0 {
		from = m.letters[i-1].end
	}
	l := &m.letters[i]
	return l.at, m.data[from:l.end]
}

func (m *mail) clear() {
	m.most = max(m.most, len(m.data))
	m.letters, m.data = m.letters[:0], m.data[:0]
}

// reserve makes room for four times as much as there has ever been, and for a good deal at first.
func (m *mail) reserve() {
	if n := max(4*m.most, 256<<10); cap(m.data) < n {
		m.data = slices.Grow(m.data, n-len(m.data))
	}
	if cap(m.letters) < 4096 {
		m.letters = slices.Grow(m.letters, 4096-len(m.letters))
	}
}

var _ netio.Conn = (*line)(nil)

// place is an address of client i; its port says who it is, and its host which of its addresses this is.
func place(i int, binding uint64) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(binding >> 8), byte(binding), 1}), uint16(i+1))
}

// placed is the reverse of place; not ok if no client ever has that address.
func placed(a netip.AddrPort, clients int) (i int, binding uint64, ok bool) {
	host := a.Addr().As4()
	i = int(a.Port()) - 1
	return i, uint64(host[1])<<8 | uint64(host[2]), host[0] == 10 && host[3] == 1 && i >= 0 && i < clients
}

// gather takes what has arrived by now from every link, client after client, and then what strangers sent.
func (l *line) gather(up []*impair.Link, now time.Duration) {
	l.in.clear()
	l.next = 0
	for i := range up {
		for data, binding, ok := up[i].Pop(now); ok; data, binding, ok = up[i].Pop(now) {
			l.in.push(place(i, binding), data)
		}
	}
	for i := range l.strange.letters {
		l.in.push(l.strange.get(i))
	}
	l.strangers += uint64(len(l.strange.letters))
	l.strange.clear()
	l.out.reserve() // a tick must not pay for our memory
}

// spread puts what the server has sent on the clients' links; what went elsewhere is gone.
func (l *line) spread(down []*impair.Link, now time.Duration) {
	for i := range l.out.letters {
		at, data := l.out.get(i)
		if client, binding, ok := placed(at, len(down)); ok {
			down[client].Push(now, data, binding)
		}
	}
	l.out.clear()
}

// Receive hands out what was gathered.
func (l *line) Receive(to *netio.Batch) (int, error) {
	to.Reset()
	for ; l.next < len(l.in.letters) && !to.Full(); l.next++ {
		at, data := l.in.get(l.next)
		to.Add(data, at)
	}
	return to.Len(), nil
}

// Send keeps a batch for spread.
func (l *line) Send(from *netio.Batch) error {
	for i := range from.Len() {
		d := from.At(i)
		l.out.push(d.Addr, d.Data)
		if l.said != nil {
			l.said(d.Addr, d.Data)
		}
	}
	return nil
}

// home is the server's address.
var home = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2}), 7913)

// LocalAddr is the server's address.
func (l *line) LocalAddr() netip.AddrPort { return home }

// Close does nothing.
func (l *line) Close() error { return nil }

// Stats are empty: the links count.
func (l *line) Stats() netio.Stats { return netio.Stats{} }
