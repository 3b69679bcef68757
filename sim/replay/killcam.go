package replay

import (
	"errors"
	"slices"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Killcam keeps the last seconds of a match that is being recorded. Its memory is bounded by
// KillcamChunks compressed chunks and the one in progress. A chunk is compressed once, when it is
// complete.
type Killcam struct {
	head   Head
	pack   *Packer  // made with the first chunk
	chunks []packed // oldest first, without a gap
}

// A killcam shows eight to twelve seconds.
const (
	KillcamChunks   = 12
	leastCamSeconds = 8
)

// Why Killcam.Append made nothing.
var (
	ErrNoState = errors.New("replay: no complete chunk with a state, and none missing since")
	ErrTooLong = errors.New("replay: the newest chunk with a state and those since do not fit")
)

// NewKillcam makes an empty killcam of a match. Its recordings leave out the schema: players of the
// match have it, and the layout tells whether it is theirs. The first chunk takes some megabytes
// for compression.
func NewKillcam(h Head) *Killcam {
	h.Schema = ""
	return &Killcam{head: h}
}

// Add compresses a complete chunk; it keeps no reference to it. A chunk that does not follow the
// last one makes the killcam begin anew.
func (c *Killcam) Add(done *Chunk) {
	if c.pack == nil {
		c.pack = NewFastPacker()
	}
	switch {
	case !c.precedes(done):
		c.chunks = c.chunks[:0]
	case len(c.chunks) == KillcamChunks:
		c.chunks = c.chunks[:copy(c.chunks, c.chunks[1:])]
	}
	c.chunks = append(c.chunks, c.pack.pack(done))
}

// precedes reports whether a chunk begins where the last one ends.
func (c *Killcam) precedes(next *Chunk) bool {
	if len(c.chunks) == 0 {
		return false
	}
	last := &c.chunks[len(c.chunks)-1]
	return last.first+tick.Tick(last.ticks) == next.First
}

// Memory is the size of all chunks, in bytes.
func (c *Killcam) Memory() (n int) {
	for _, k := range c.chunks {
		n += len(k.pieces[0]) + len(k.pieces[1])
	}
	return n
}

// Append appends a recording of the last eight to twelve seconds, up to the last tick of pending,
// in at most limit bytes: it may begin later. pending is Recorder.Pending after the chunks that were
// added. The recording has one state, before tick first, and the inputs since. Errors are ErrNoState
// and ErrTooLong; dst is then as it was.
func (c *Killcam) Append(dst []byte, pending *Chunk, limit int) (_ []byte, first tick.Tick, err error) {
	start := len(dst)
	all := slices.Clone(c.chunks)
	if !c.precedes(pending) {
		return dst, 0, ErrNoState
	}
	if pending.Ticks > 0 {
		all = append(all, c.pack.pack(pending))
	}
	err = ErrNoState
	for ; len(all) > 0; all = all[firstKeyed(all[1:])+1:] {
		n := 0
		for _, k := range all[firstKeyed(all[1:])+1:] {
			n += k.ticks
		}
		if n >= leastCamSeconds*int(c.head.Rate) || all[0].raw[0] == 0 {
			continue
		}
		dst = c.head.Append(dst[:start])
		for i, k := range all {
			if i > 0 {
				k = k.withoutKey()
			}
			dst = k.append(dst)
		}
		if len(dst)-start <= limit {
			return dst, all[0].first, nil
		}
		err = ErrTooLong
	}
	return dst[:start], 0, err
}

// firstKeyed is the index of the first chunk that has a state, or len(all).
func firstKeyed(all []packed) int {
	for i := range all {
		if all[i].raw[0] != 0 {
			return i
		}
	}
	return len(all)
}
