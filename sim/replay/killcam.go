package replay

import "slices"

// Killcam keeps the last seconds of a match that is being recorded. Its memory is bounded by
// KillcamChunks compressed chunks and the one in progress. A chunk is compressed once, when it is
// complete.
type Killcam struct {
	head   Head
	pack   *Packer
	chunks []packed // oldest first
}

// A killcam shows eight to twelve seconds.
const (
	KillcamChunks   = 12
	leastCamSeconds = 8
)

// NewKillcam makes an empty killcam of a match. It takes some megabytes for compression.
func NewKillcam(h Head) *Killcam { return &Killcam{head: h, pack: NewFastPacker()} }

// Add compresses a complete chunk; it keeps no reference to it.
func (c *Killcam) Add(done *Chunk) {
	if len(c.chunks) == KillcamChunks {
		c.chunks = slices.Delete(c.chunks, 0, 1)
	}
	c.chunks = append(c.chunks, c.pack.pack(done))
}

// Memory is the size of all chunks, in bytes.
func (c *Killcam) Memory() (n int) {
	for _, k := range c.chunks {
		n += len(k.pieces[0]) + len(k.pieces[1])
	}
	return n
}

// Append appends a recording of the last eight to twelve seconds, up to the tick that was played
// last, in at most limit bytes: it may begin later, and is empty if even the chunk in progress
// does not fit. It has one state, at its beginning, and the inputs since.
func (c *Killcam) Append(dst []byte, rec *Recorder, limit int) []byte {
	start := len(dst)
	all := slices.Clone(c.chunks)
	if so := rec.Pending(); so != nil {
		all = append(all, c.pack.pack(so))
	}
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
			return dst
		}
	}
	return dst[:start]
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
