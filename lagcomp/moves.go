package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// move bounds the straight ways of the living rows between two frames.
type move struct {
	from, to tick.Tick // to is 0: not measured
	metres   float32   // nobody moved further but the flyers
	flyers   [31]int32 // rows
	count    int32     // of flyers; tooMany if they did not fit
}

const tooMany = -1

// Implementation constants of reach.
const (
	mostFlyers = 32 // of a view
	longest    = 4  // metres that everybody may have moved by the sum of the ticks in between; more is measured directly
)

// EarliestInstants are tried in turn until those who moved further are few. Of a tick: sprinters stay within the first at 32 Hz and
// more, those who fall within the second at 60. Of longer spans: the last leaves room below kernel.MaxRadius.
var (
	stepLimits = []float32{0.25, 1, 3}
	spanLimits = []float32{1, 4, 10}
)

// ways answers reach for one caller.
type ways struct {
	shared bool    // others ask at the same time: nothing may be measured into a frame
	direct move    // the last pair of ticks that was measured as such
	flyers []int32 // of the last answer
	last   way
	rows   []int32 // of a measurement
}

func newWays(shared bool, slots int) ways {
	return ways{shared: shared, flyers: make([]int32, 0, mostFlyers+len(move{}.flyers)), rows: make([]int32, 0, slots)}
}

// way is an answer of reach.
type way struct {
	from, to tick.Tick
	metres   float32
	flyers   []int32
	ok       bool
}

// reach bounds what everybody moved between two frames, a before b: at most metres, but for the flyers, which may name a row
// twice and are w's until the next call. False: more flew than can be listed.
//
// It adds up the steps from tick to tick. Each is measured once, when it is first asked for, and kept by its frame: however
// many pairs of ticks shots look at, none is measured again. A row whose life broke on the way is a flyer, as it may be whole
// again at b. Where the sum gets long, or a step had too many flyers, as when everybody spawns, the pair itself is measured.
func (w *ways) reach(h *History, a, b *frame) (metres float32, flyers []int32, ok bool) {
	if l := &w.last; l.from != a.tick || l.to != b.tick {
		l.from, l.to = a.tick, b.tick
		l.metres, l.flyers, l.ok = w.sum(h, a, b)
	}
	return w.last.metres, w.last.flyers, w.last.ok
}

func (w *ways) sum(h *History, a, b *frame) (metres float32, flyers []int32, ok bool) {
	flyers = w.flyers[:0]
	for f := b; f != a; f = h.frame(f.last) {
		s := &f.step
		if s.to == 0 {
			if w.shared {
				return w.span(a, b)
			}
			s.measure(h.frame(f.last), f, stepLimits, true, w.rows)
		}
		metres += s.metres
		if s.count == tooMany || metres > longest {
			return w.span(a, b)
		}
		if flyers = whole(flyers, a, b, s.flyers[:s.count]); len(flyers) > mostFlyers {
			return w.span(a, b)
		}
	}
	return metres, flyers, true
}

// whole appends the rows that are of one life at a and b: others are not mixed, so they do not move. No branch on what the poses
// say, so that the processor fetches all of them at once; two heroes of one life are let pass.
func whole(out []int32, a, b *frame, rows []int32) []int32 {
	n, most := len(out), int32(min(a.used, b.used))
	out = out[:n+len(rows)]
	for _, row := range rows {
		if row >= most {
			continue
		}
		p, q := &a.rows[row], &b.rows[row]
		out[n] = row
		same := 0
		if p.ID^q.ID|uint32((p.Flags^q.Flags)&(rig.FlagAlive|rig.LifeMask)) == 0 {
			same = 1
		}
		n += same
	}
	return out[:n]
}

// span is reach by the pair alone.
func (w *ways) span(a, b *frame) (metres float32, flyers []int32, ok bool) {
	m := &w.direct
	if m.from != a.tick || m.to != b.tick {
		m.measure(a, b, spanLimits, false, w.rows)
	}
	if m.count == tooMany {
		return 0, nil, false
	}
	return m.metres, m.flyers[:m.count], true
}

// measure makes m the bound from a to b. Rows that Lerp does not mix are left out; or, if breaks is set, flyers where somebody died, and
// else bounded like others: that is more than it takes. rows is used for it.
func (m *move) measure(a, b *frame, limits []float32, breaks bool, rows []int32) {
	m.from, m.to = a.tick, b.tick
	for _, limit := range limits {
		if m.within(a, b, limit, breaks, rows); m.count != tooMany {
			return
		}
	}
}

// within looks at columns alone, but for the few that moved further.
func (m *move) within(a, b *frame, limit float32, breaks bool, rows []int32) {
	n := min(a.used, b.used)
	from, to := a.column(n), b.column(n)
	square, further := kernel.MaxDisplacement(&from, &to, float32(limit*limit), rows)
	m.count, m.metres = 0, geom.Sqrt(square)
	for _, slot := range further {
		if breaks || !rig.Discontinuous(&a.rows[slot], &b.rows[slot]) {
			m.fly(slot)
		}
	}
	for slot := n; slot < a.used && breaks; slot++ {
		if a.lives(slot) {
			m.fly(int32(slot))
		}
	}
}

// fly adds a flyer, if there is room.
func (m *move) fly(slot int32) {
	if m.count == tooMany || int(m.count) == len(m.flyers) {
		m.count = tooMany
		return
	}
	m.flyers[m.count] = slot
	m.count++
}
