package packet

import (
	"math/rand/v2"
	"sort"
	"time"
)

// link is one direction of a bad network in virtual time: a sorted list of datagrams.
type link struct {
	rng             *rand.Rand
	loss, dup       float64
	delay, jitter   time.Duration // arrival after delay +- jitter, so packets overtake one another
	flight          []inFlight
	dropped, copied int
}

type inFlight struct {
	at   time.Duration
	data []byte
}

func newLink(seed uint64) *link { return &link{rng: rand.New(rand.NewPCG(seed, 17))} }

func (l *link) push(now time.Duration, data []byte) {
	if len(data) == 0 {
		return
	}
	if l.rng.Float64() < l.loss {
		l.dropped++
		return
	}
	n := 1
	if l.rng.Float64() < l.dup {
		n, l.copied = 2, l.copied+1
	}
	for range n {
		at := now + l.delay
		if l.jitter > 0 {
			at += time.Duration(l.rng.Int64N(int64(2*l.jitter)+1)) - l.jitter
		}
		l.flight = append(l.flight, inFlight{max(at, now), append([]byte(nil), data...)})
	}
	sort.SliceStable(l.flight, func(i, j int) bool { return l.flight[i].at < l.flight[j].at })
}

func (l *link) pop(now time.Duration) (inFlight, bool) {
	if len(l.flight) == 0 || l.flight[0].at > now {
		return inFlight{}, false
	}
	f := l.flight[0]
	l.flight = l.flight[1:]
	return f, true
}

// pair returns both ends of a session.
func pair() (server, client *Peer) {
	return NewPeer(0, Config{}), NewPeer(0, Config{})
}
