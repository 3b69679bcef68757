package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// moves remembers how far everybody moved between two ticks. The peers of a lobby look at few distinct pairs of snapshots,
// and for several ticks at the same ones; frames never change, so what was measured once stays true.
type moves [64]move

// move bounds the straight ways of the living rows between two frames, rows that Lerp does not mix left out.
type move struct {
	from, to tick.Tick
	metres   float32 // nobody moved further but the flyers
	flyers   [31]int32
	count    int32 // of flyers; tooMany if they did not fit
}

const tooMany = -1

// limits are tried in turn until those who moved further are few. Walkers stay within the first for an eighth of a second;
// the last leaves room below kernel.MaxRadius.
var limits = [3]float32{1, 4, 11}

// between returns the bound for the pair of frames; it may be used until the next call.
func (m *moves) between(a, b *frame) *move {
	known := m.at(a, b)
	if known.from != a.tick || known.to != b.tick {
		known.between(a, b)
	}
	return known
}

// at is where a pair is remembered. Fibonacci hashing: runs of ticks spread evenly.
func (m *moves) at(a, b *frame) *move {
	return &m[(uint32(a.tick)*2654435769+uint32(b.tick-a.tick)*40503)>>26]
}

// between makes m the bound from a to b.
func (m *move) between(a, b *frame) {
	m.from, m.to = a.tick, b.tick
	for _, limit := range limits {
		if m.measure(a, b, limit); m.count != tooMany {
			return
		}
	}
}

func (m *move) measure(a, b *frame, limit float32) {
	n := min(a.used, b.used)
	ax, ay, az, bx, by, bz := a.x[:n], a.y[:n], a.z[:n], b.x[:n], b.y[:n], b.z[:n]
	ka, kb := a.keys[:n], b.keys[:n]
	m.count = 0
	var most float32
	for i := range n {
		if ka[i]&uint64(FlagAlive) == 0 || broken(ka[i], kb[i]) {
			continue
		}
		square := geom.Vec3{X: bx[i] - ax[i], Y: by[i] - ay[i], Z: bz[i] - az[i]}.LenSq()
		if square <= limit*limit {
			most = max(most, square)
			continue
		}
		if int(m.count) == len(m.flyers) {
			m.count = tooMany
			return
		}
		m.flyers[m.count] = int32(i)
		m.count++
	}
	m.metres = geom.Sqrt(most)
}
