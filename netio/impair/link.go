package impair

import (
	"fmt"
	"math"
	"time"

	"github.com/tickrate/tickrate/netio"
)

// MaxDatagram is the longest datagram of a link, in bytes: an Ethernet frame over IPv4, so that
// links also carry other protocols. It is an odd number of cache lines, like the slots of package
// netio.
const MaxDatagram = 1472

const _ = uint(MaxDatagram - netio.MaxDatagram) // a Conn's datagrams fit

type buffer = [MaxDatagram]byte

// Link carries datagrams one way. One goroutine owns it. It copies datagrams into reused memory
// and stops allocating once it has held the most datagrams at a time.
type Link struct {
	decider decider
	heap    []entry
	free    []*buffer
	keep    int     // most buffers in free
	popped  *buffer // buffer of the last Pop
	binding uint32  // binding of the last Pop
	order   uint64
}

// entry is a datagram on its way, ordered by arrival and then by sending.
type entry struct {
	due     time.Duration
	order   uint64
	tag     uint64
	buf     *buffer
	n       int32
	binding uint32
}

// New returns an empty link. It panics if the profile does not pass Check.
func New(p Profile, seed uint64) *Link {
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	return &Link{decider: newDecider(p, seed), keep: math.MaxInt}
}

// SetProfile changes the profile for datagrams pushed from now on. Datagrams on their way keep
// their arrival, and the random sources go on. It panics if the profile does not pass Check.
func (l *Link) SetProfile(p Profile) {
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	l.decider.set(p)
}

// Push sends a datagram of at most MaxDatagram bytes at the instant now. Pop returns it with the
// tag, whose meaning is the caller's.
func (l *Link) Push(now time.Duration, data []byte, tag uint64) {
	if len(data) > MaxDatagram {
		panic(fmt.Sprintf("impair: a datagram of %d bytes, want at most %d", len(data), MaxDatagram))
	}
	f := &l.decider
	f.count.PushedBytes += uint64(len(data))
	due, arrivals := f.decide(now, len(data))
	for _, at := range due[:arrivals] {
		buf := l.buffer()
		n := f.corruption.apply(buf[:copy(buf[:], data)], &f.profile, &f.count)
		l.order++
		l.heap = append(l.heap, entry{due: at, order: l.order, tag: tag, buf: buf, n: int32(n),
			binding: f.binding})
		l.up(len(l.heap) - 1)
	}
}

// Pop returns the next datagram that has arrived by now, in order of arrival. data is valid until
// the next Pop.
func (l *Link) Pop(now time.Duration) (data []byte, tag uint64, ok bool) {
	if l.popped != nil && len(l.free) < l.keep {
		l.free = append(l.free, l.popped)
	}
	l.popped = nil
	if len(l.heap) == 0 || l.heap[0].due > now {
		return nil, 0, false
	}
	e := l.heap[0]
	last := len(l.heap) - 1
	l.heap[0] = l.heap[last]
	l.heap[last] = entry{}
	l.heap = l.heap[:last]
	l.down(0)
	l.popped, l.binding = e.buf, e.binding
	l.decider.count.Delivered++
	l.decider.count.DeliveredBytes += uint64(e.n)
	return e.buf[:e.n:e.n], e.tag, true
}

// Binding numbers the source address of the datagram of the last Pop: it grows by one with every
// Rebind before it was sent. A receiver that tells senders apart by address uses another port for
// another binding.
func (l *Link) Binding() uint32 { return l.binding }

// Next returns when the next datagram arrives; not ok if none is on its way.
func (l *Link) Next() (at time.Duration, ok bool) {
	if len(l.heap) == 0 {
		return 0, false
	}
	return l.heap[0].due, true
}

// Len returns the number of datagrams on their way.
func (l *Link) Len() int { return len(l.heap) }

// Stats returns the counts since New.
func (l *Link) Stats() Stats { return l.decider.count }

// buffer returns a free buffer, or a new one.
func (l *Link) buffer() *buffer {
	n := len(l.free)
	if n == 0 {
		return new(buffer)
	}
	buf := l.free[n-1]
	l.free = l.free[:n-1]
	return buf
}

// before orders entries; no two are equal.
func (e *entry) before(o *entry) bool {
	return e.due < o.due || e.due == o.due && e.order < o.order
}

// up restores the heap's order after entry i has become earlier.
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

// down restores the heap's order after entry i has become later.
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
