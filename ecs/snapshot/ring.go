package snapshot

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Window is how many send intervals back acknowledgements count and decoded frames are kept.
const Window = 64

// Ring holds the newest frames of one schema: the baselines of a server.
type Ring struct {
	frames   []*Frame
	newest   *Frame
	interval tick.Tick
	offset   tick.Tick // added to a tick before it is divided into intervals
	groups   int       // ever in use, without the newest frame
}

// NewRing returns a ring of frames that are interval ticks apart; slots is rounded up to whole
// groups. A server that sends to each client every k-th tick, on different ticks for different
// clients, captures every tick (interval 1) and needs Window*k frames or more; one that sends to
// all on the same ticks takes interval k and Window frames. It takes frames * slots * (4*fields+4)
// bytes.
func NewRing(s schema.Schema, slots, frames int, interval tick.Tick) *Ring {
	return NewGrowingRing(s, slots, slots, frames, interval)
}

// NewGrowingRing returns a ring as NewRing does that has room for the values of usual slots. The
// first row of a group beyond them makes room for the group in all frames.
func NewGrowingRing(s schema.Schema, usual, slots, frames int, interval tick.Tick) *Ring {
	if frames <= 0 || interval == 0 {
		panic(fmt.Sprintf("snapshot: ring of %d frames every %d ticks, want at least 1 of each",
			frames, interval))
	}
	r := &Ring{frames: make([]*Frame, frames), interval: interval}
	for i, all := 0, newGrowingFrames(s, usual, slots, frames); i < frames; i++ {
		r.frames[i] = &all[i]
	}
	return r
}

// Offset moves the edges of intervals: tick t counts as tick t+offset. A ring with an interval keeps
// one frame of each, the one begun last. Call it before the first frame.
func (r *Ring) Offset(offset tick.Tick) { r.offset = offset }

func (r *Ring) slot(t tick.Tick) *Frame {
	return r.frames[uint32((t+r.offset)/r.interval)%uint32(len(r.frames))]
}

// Begin empties and returns the frame for tick t, which replaces the oldest one. It is valid until
// the ring has gone round. It panics if t is not later than the tick before.
func (r *Ring) Begin(t tick.Tick) *Frame {
	if before := r.newest; t == 0 || before != nil && t <= before.Tick {
		last := tick.Tick(0)
		if before != nil {
			last = before.Tick
		}
		panic(fmt.Sprintf("snapshot: frame of tick %d begun after that of tick %d, want a later one", t, last))
	}
	r.groups = r.Groups()
	r.newest = r.slot(t)
	r.newest.Reset(t)
	return r.newest
}

// BeginCopy is Begin for rows that mostly stay as they are. Every slot is empty as after Begin,
// but holds the values of the frame before, so that rows that nobody sets compare as equal.
func (r *Ring) BeginCopy(t tick.Tick) *Frame {
	before := r.newest
	f := r.Begin(t)
	if before != nil && before != f {
		copy(f.blocks[:min(r.groups*len(f.fields), len(f.blocks))], before.blocks)
		for g := f.unusual.first; g < r.groups; g++ {
			copy(f.group(g), before.group(g))
		}
	}
	return f
}

// At returns the frame of tick t, or nil if there is none or it has been replaced.
func (r *Ring) At(t tick.Tick) *Frame {
	if f := r.slot(t); t != 0 && f.Tick == t {
		return f
	}
	return nil
}

// Groups is the number of groups up to the last one ever in use. It only grows: a group that
// emptied must still be sent, so that clients learn of it.
func (r *Ring) Groups() int {
	if r.newest == nil {
		return 0
	}
	return max(r.groups, r.newest.groups)
}

// Span is how many ticks back the ring reaches.
func (r *Ring) Span() tick.Tick { return r.interval * tick.Tick(len(r.frames)-1) }
