package pvs

import (
	"math/bits"

	"github.com/tickrate/tickrate/sim/arena"
)

// Lazy is a crowd whose table is computed on demand, with the answers of a complete table. A few
// players of a short match need a tenth of the pairs of cells, or fewer, and most of them for one
// pair of levels, and so a small part of the time. It is for one goroutine.
type Lazy struct {
	Crowd
	b     *builder
	known []uint64 // by pair of nodes, as the bits of the table: worked out
}

// NewLazy returns an empty crowd of an arena. Its errors are those of Build.
func NewLazy(a *arena.Arena, c Config) (*Lazy, error) {
	b, err := newBuilder(a, c)
	if err != nil {
		return nil, err
	}
	return &Lazy{Crowd: *NewCrowd(b.t), b: b, known: make([]uint64, len(b.t.bits))}, nil
}

// Config is the config of the crowd, with defaults.
func (l *Lazy) Config() Config { return l.t.Config() }

// Cell is the table's.
func (l *Lazy) Cell(x, z float32) int { return l.t.Cell(x, z) }

// Seen is Crowd's.
func (l *Lazy) Seen(from int, cells []uint16) []uint16 {
	node := int(l.nodes[from])
	known := l.known[node*l.t.words:][:l.t.words]
	for i, here := range l.here {
		for here &^= known[i]; here != 0; here &= here - 1 {
			l.resolvePair(node, i*64+bits.TrailingZeros64(here))
		}
	}
	return l.Crowd.Seen(from, cells)
}

// Visible is Crowd's.
func (l *Lazy) Visible(from, to int) bool {
	l.resolvePair(int(l.nodes[from]), int(l.nodes[to]))
	return l.Crowd.Visible(from, to)
}

// resolvePair computes a pair of nodes, unless it is known: in the order of builder.cellPair, and
// no more than the pair follows from.
func (l *Lazy) resolvePair(x, y int) {
	cells := len(l.nodes)
	from, to := x%cells, y%cells
	if from > to {
		x, y, from, to = y, x, to, from
	}
	if l.knows(x, y) {
		return
	}
	top := cells * (l.t.Levels() - 1)
	if !l.knows(top+from, top+to) {
		switch {
		case from == to || l.b.sampleLines(from, to):
			l.setAllLevels(from, to, true)
			return
		case !l.b.computeVisible(top+from, top+to):
			l.setAllLevels(from, to, false)
			return
		}
		l.setKnown(top+from, top+to, true)
	}
	l.resolveLevels(x, y)
}

// resolveLevels reports whether two nodes see each other whose cells do on the highest level.
func (l *Lazy) resolveLevels(x, y int) bool {
	if !l.knows(x, y) {
		cells := len(l.nodes)
		l.setKnown(x, y, x >= cells && l.resolveLevels(x-cells, y) || y >= cells &&
			l.resolveLevels(x, y-cells) || l.b.computeVisible(x, y))
	}
	return l.t.get(x, y)
}

// setAllLevels makes all pairs of nodes of two cells known.
func (l *Lazy) setAllLevels(from, to int, sees bool) {
	for x := from; x < len(l.b.nodes); x += len(l.nodes) {
		for y := to; y < len(l.b.nodes); y += len(l.nodes) {
			l.setKnown(x, y, sees)
		}
	}
}

// setKnown makes a pair of nodes known.
func (l *Lazy) setKnown(x, y int, sees bool) {
	l.known[x*l.t.words+y>>6] |= 1 << (y & 63)
	l.known[y*l.t.words+x>>6] |= 1 << (x & 63)
	if sees {
		l.b.setVisible(x, y)
	}
}

func (l *Lazy) knows(x, y int) bool { return l.known[x*l.t.words+y>>6]>>(y&63)&1 != 0 }
