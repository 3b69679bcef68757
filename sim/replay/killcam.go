package replay

import "slices"

// Killcam keeps the last seconds of a match that is being recorded, so that they can be shown to somebody. Its memory is bounded: that of
// KillcamChunks chunks, packed, and of the one in hand. A chunk is packed once, when it is complete.
type Killcam struct {
	head   Head
	pack   *Packer
	chunks []packed // oldest first
}

// What a killcam shows: eight to twelve seconds.
const (
	KillcamChunks   = 12
	leastCamSeconds = 8
)

// NewKillcam makes a cam for a match, of which nothing is kept yet. It takes some megabytes for packing.
func NewKillcam(h Head) *Killcam { return &Killcam{head: h, pack: NewFastPacker()} }

// Add takes a chunk that is complete, and does not keep it.
func (c *Killcam) Add(done *Chunk) {
	if len(c.chunks) == KillcamChunks {
		c.chunks = slices.Delete(c.chunks, 0, 1)
	}
	c.chunks = append(c.chunks, c.pack.pack(done))
}

// Memory is what the cam keeps of chunks, in bytes.
func (c *Killcam) Memory() (n int) {
	for _, k := range c.chunks {
		n += len(k.pieces[0]) + len(k.pieces[1])
	}
	return n
}

// Append appends a recording of the last eight to twelve seconds, up to the tick that was played last, in at most limit bytes: so it may
// begin later, and holds nothing if even the chunk in hand does not fit. It has one state, at its beginning, and the diaries since.
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

// firstKeyed is the first of the chunks that has a state, or how many there are.
func firstKeyed(all []packed) int {
	for i := range all {
		if all[i].raw[0] != 0 {
			return i
		}
	}
	return len(all)
}
