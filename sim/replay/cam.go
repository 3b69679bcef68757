package replay

import "slices"

// Cam keeps the last seconds of a match that is being recorded, so that they can be shown to somebody. Its memory is bounded: that of
// Kept chunks, unpacked, and of the one in hand.
type Cam struct {
	head Head
	kept []*Chunk // oldest first
}

// What a killcam shows: eight to twelve seconds, of chunks of four.
const (
	Kept            = 3
	CamChunkMillis  = 4000
	leastCamSeconds = 8
)

// NewCam makes a cam for a match, of which nothing is kept yet.
func NewCam(h Head) *Cam { return &Cam{head: h} }

// Add takes a chunk that is complete; it is the cam's.
func (c *Cam) Add(done *Chunk) {
	if len(c.kept) == Kept {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	c.kept = append(c.kept, done)
}

// Memory is what the cam holds, in bytes.
func (c *Cam) Memory() (n int) {
	for _, k := range c.kept {
		n += len(k.Key) + len(k.Log)
	}
	return n
}

// Append appends a recording of the last eight to twelve seconds, up to the tick that was played last, in at most limit bytes: so it may
// begin later, and holds nothing if even the chunk in hand does not fit. It has one state, at its beginning, and the diaries since.
func (c *Cam) Append(dst []byte, rec *Recorder, pack *Packer, limit int) []byte {
	start := len(dst)
	all := slices.Clone(c.kept)
	if so := rec.So(); so != nil {
		all = append(all, so)
	}
	for len(all) > 0 {
		n := 0
		for _, k := range all[1:] {
			n += k.Ticks
		}
		if n >= leastCamSeconds*int(c.head.Rate) {
			all = all[1:]
			continue
		}
		dst = c.head.Append(dst[:start])
		for i, k := range all {
			piece := *k
			if i > 0 {
				piece.Key = nil
			}
			dst = pack.Append(dst, &piece)
		}
		if len(dst)-start <= limit {
			return dst
		}
		all = all[1:]
	}
	return dst[:start]
}
