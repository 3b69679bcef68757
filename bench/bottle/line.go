package bottle

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
)

// line is the server's end of all links, a netio.Conn. What the links deliver is gathered before a tick and what the
// server sends is spread over them after it, so that a tick can be measured without the links.
type line struct {
	in, out []datagram
	strange []datagram // of strangers, for the next gather
	next    int        // of in
	said    func(to netip.AddrPort, data []byte)

	strangers uint64 // datagrams of theirs that were gathered
}

type datagram struct {
	at   netip.AddrPort // where it comes from, or goes to
	n    int
	data [netio.MaxDatagram]byte
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
	l.in, l.next = l.in[:0], 0
	for i := range up {
		for data, binding, ok := up[i].Pop(now); ok; data, binding, ok = up[i].Pop(now) {
			l.in = push(l.in, place(i, binding), data)
		}
	}
	l.in = append(l.in, l.strange...)
	l.strangers += uint64(len(l.strange))
	l.strange = l.strange[:0]
	if cap(l.out) < 4096 { // a tick must not pay for our memory
		l.out = append(l.out, make([]datagram, 4096)...)[:0]
	}
}

// spread puts what the server has sent on the clients' links; what went elsewhere is gone.
func (l *line) spread(down []*impair.Link, now time.Duration) {
	for i := range l.out {
		d := &l.out[i]
		if client, binding, ok := placed(d.at, len(down)); ok {
			down[client].Push(now, d.data[:d.n], binding)
		}
	}
	l.out = l.out[:0]
}

func push(to []datagram, at netip.AddrPort, data []byte) []datagram {
	if len(to) < cap(to) {
		to = to[:len(to)+1]
	} else {
		to = append(to, datagram{})
	}
	d := &to[len(to)-1]
	d.at, d.n = at, copy(d.data[:], data)
	return to
}

// Receive hands out what was gathered.
func (l *line) Receive(to *netio.Batch) (int, error) {
	to.Reset()
	for ; l.next < len(l.in) && !to.Full(); l.next++ {
		d := &l.in[l.next]
		to.Add(d.data[:d.n], d.at)
	}
	return to.Len(), nil
}

// Send keeps a batch for spread.
func (l *line) Send(from *netio.Batch) error {
	for i := range from.Len() {
		d := from.At(i)
		l.out = push(l.out, d.Addr, d.Data)
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
