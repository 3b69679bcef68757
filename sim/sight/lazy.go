package sight

import (
	"math/bits"

	"github.com/tickrate/tickrate/sim/arena"
)

// Lazy is a crowd whose table is worked out as it is asked for: what Seen says is what it would say of a table that was built before. Who watches a few players
// of a short match asks for a tenth of the pairs of cells, or fewer, and so has it in a tenth of the time. It is one goroutine's.
type Lazy struct {
	Crowd
	b     *builder
	known []uint64 // by pair of cells: worked out
}

// NewLazy returns a crowd of an arena in which nobody is. Its errors are those of Build.
func NewLazy(a *arena.Arena, c Config) (*Lazy, error) {
	b, err := newBuilder(a, c)
	if err != nil {
		return nil, err
	}
	cells := b.c.cells()
	return &Lazy{Crowd: *NewCrowd(b.t), b: b, known: make([]uint64, (cells*cells+63)/64)}, nil
}

// Config is what the crowd was made with, defaults filled in.
func (l *Lazy) Config() Config { return l.t.Config() }

// Seen is Crowd's.
func (l *Lazy) Seen(from int, cells []uint16) []uint16 {
	for i, here := range l.here {
		for ; here != 0; here &= here - 1 {
			l.learn(from, (i*64+bits.TrailingZeros64(here))%len(l.nodes))
		}
	}
	return l.Crowd.Seen(from, cells)
}

// Visible is Crowd's.
func (l *Lazy) Visible(from, to int) bool {
	l.learn(from, to)
	return l.Crowd.Visible(from, to)
}

// learn works out a pair of cells, unless it is known.
func (l *Lazy) learn(from, to int) {
	from, to = min(from, to), max(from, to)
	at := from*len(l.nodes) + to
	if bit := uint64(1) << (at & 63); l.known[at>>6]&bit == 0 {
		l.known[at>>6] |= bit
		l.b.pair(from, to)
	}
}
