package replay

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// RawChunk is a chunk as ticks leave it: inputs in streams, and copies of the match that are
// neither encoded nor hashed yet. Its memory belongs to a Recorder, which uses it again after
// Encode.
type RawChunk struct {
	first tick.Tick
	ticks int
	log   writer
	key   *sim.State // before the first tick
	keyed bool       // key is part of the chunk

	checkpoints []checkpoint
	used        int // checkpoints
	free        chan<- *RawChunk

	keySize int // bytes of the last encoded key
	sums    []sim.Checksum
}

// checkpoint is a copy of the match after the nth tick of a chunk, counted from 1.
type checkpoint struct {
	nth   int
	state *sim.State
}

// newRawChunk allocates what chunks of that many ticks need.
func newRawChunk(m *sim.Match, ticks int, free chan<- *RawChunk) *RawChunk {
	c := &RawChunk{key: sim.NewState(m), free: free}
	c.checkpoints = make([]checkpoint, (ticks+ChecksumEvery-1)/ChecksumEvery)
	for i := range c.checkpoints {
		c.checkpoints[i].state = sim.NewState(m)
	}
	c.log.reserve(m.World.Slots(), ticks)
	return c
}

// begin begins a chunk after the tick that was played last. Its log is empty already.
func (c *RawChunk) begin(m *sim.Match, keyed bool) {
	c.first, c.ticks, c.keyed, c.used = m.Tick()+1, 0, keyed, 0
}

// copyCheckpoint copies the match for the checksums of the tick that was just played. A chunk that
// goes on has no memory for more of them.
func (c *RawChunk) copyCheckpoint(m *sim.Match) {
	if c.used == len(c.checkpoints) {
		return
	}
	p := &c.checkpoints[c.used]
	p.nth = c.ticks
	p.state.Copy(m)
	c.used++
}

// HasKey reports whether the chunk begins with a state, so that playback can begin with it.
func (c *RawChunk) HasKey() bool { return c.keyed }

// CopiedBytes is the size of the largest copy that a tick made for the chunk.
func (c *RawChunk) CopiedBytes() (most int) {
	if c.keyed {
		most = c.key.CopiedBytes()
	}
	for _, p := range c.checkpoints[:c.used] {
		most = max(most, p.state.CopiedBytes())
	}
	return most
}

// Encode encodes the state, computes the checksums and joins the log. Any goroutine may call it,
// once; afterwards the RawChunk is its recorder's. The result belongs to the caller.
func (c *RawChunk) Encode() *Chunk {
	out := &Chunk{First: c.first, Ticks: c.ticks}
	if c.keyed {
		out.Key = c.key.Append(make([]byte, 0, c.keySize+c.keySize/8))
		c.keySize = len(out.Key)
	}
	for _, p := range c.checkpoints[:c.used] {
		c.sums = p.state.Checksums(c.sums[:0])
		c.log.checksums(p.nth, p.state.Hash(), c.sums)
	}
	out.Log = c.log.append(make([]byte, 0, c.log.size()+3*streams))
	c.free <- c
	return out
}
