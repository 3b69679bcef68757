package impair

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/netio"
)

// Link carries datagrams one way. One goroutine owns it. It keeps copies, in memory that is used again: once it has
// held as many at a time as it ever will, it allocates nothing.
type Link struct {
	fate   fate
	heap   []entry
	free   []*[netio.MaxDatagram]byte
	popped *[netio.MaxDatagram]byte // what the last Pop returned
	order  uint64
}

// entry is a datagram on its way, ordered by its arrival and then by its sending.
type entry struct {
	due   time.Duration
	order uint64
	tag   uint64
	buf   *[netio.MaxDatagram]byte
	n     int
}

// Stats counts what a link did. Pushed + Duplicated == Lost + Delivered + Link.Len().
type Stats struct {
	Pushed     uint64
	Lost       uint64
	Duplicated uint64
	Reordered  uint64 // arrivals held back
	Delivered  uint64
}

// New returns an empty link. A profile that does not pass Check panics.
func New(p Profile, seed uint64) *Link {
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	if p.ReorderBy == 0 {
		p.ReorderBy = DefaultReorderBy
	}
	return &Link{fate: fate{profile: p, dice: dice(seed)}}
}

// Push sends a datagram of at most netio.MaxDatagram bytes at the instant now. The tag comes out with it, and means
// what the caller likes: an address's number, for instance.
func (l *Link) Push(now time.Duration, data []byte, tag uint64) {
	if len(data) > netio.MaxDatagram {
		panic(fmt.Sprintf("impair: a datagram of %d bytes", len(data)))
	}
	due, arrivals := l.fate.decide(now)
	for _, at := range due[:arrivals] {
		buf := l.buffer()
		l.order++
		l.heap = append(l.heap, entry{due: at, order: l.order, tag: tag, buf: buf, n: copy(buf[:], data)})
		l.up(len(l.heap) - 1)
	}
}

// Pop returns the next datagram that has arrived by now, in the order of arrival. data is the link's memory: valid
// until the next Push or Pop.
func (l *Link) Pop(now time.Duration) (data []byte, tag uint64, ok bool) {
	if l.popped != nil {
		l.free = append(l.free, l.popped)
		l.popped = nil
	}
	if len(l.heap) == 0 || l.heap[0].due > now {
		return nil, 0, false
	}
	e := l.heap[0]
	last := len(l.heap) - 1
	l.heap[0] = l.heap[last]
	l.heap[last] = entry{}
	l.heap = l.heap[:last]
	l.down(0)
	l.popped = e.buf
	l.fate.count.Delivered++
	return e.buf[:e.n:e.n], e.tag, true
}

// Next is the instant at which the next datagram arrives; not ok if none is on its way.
func (l *Link) Next() (at time.Duration, ok bool) {
	if len(l.heap) == 0 {
		return 0, false
	}
	return l.heap[0].due, true
}

// Len is the number of datagrams on their way.
func (l *Link) Len() int { return len(l.heap) }

// Stats counts what happened since New.
func (l *Link) Stats() Stats { return l.fate.count }

func (l *Link) buffer() *[netio.MaxDatagram]byte {
	n := len(l.free)
	if n == 0 {
		return new([netio.MaxDatagram]byte)
	}
	buf := l.free[n-1]
	l.free = l.free[:n-1]
	return buf
}

// before orders entries; no two are equal.
func (e *entry) before(o *entry) bool {
	return e.due < o.due || e.due == o.due && e.order < o.order
}

func (l *Link) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !l.heap[i].before(&l.heap[parent]) {
			return
		}
		l.heap[i], l.heap[parent] = l.heap[parent], l.heap[i]
		i = parent
	}
}

func (l *Link) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(l.heap); child++ {
			if l.heap[child].before(&l.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		l.heap[i], l.heap[least] = l.heap[least], l.heap[i]
		i = least
	}
}
