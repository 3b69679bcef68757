package replay

import (
	"github.com/tickrate/tickrate/sim"
)

// ChecksumEvery is the number of ticks between two checksums in a recording; the last tick of a
// chunk has one too.
const ChecksumEvery = 30

// A recording has a chunk a second, which is the most that a killed server loses, and a state with
// each fourth, from which playback can begin.
const (
	ChunkMillis = 1000
	KeyEvery    = 4
)

// Recorder records one match, for the owner of that match.
type Recorder struct {
	match     *sim.Match
	ticks     int // of a chunk
	every     int // chunks from one state to the next
	count     int // chunks begun
	size      int // of the last state
	inputs    sim.TickInputs
	log       writer
	checksums []sim.Checksum
	chunk     Chunk // in progress, without Log
}

// NewRecorder begins to record a match, right after a Step or before the first, in chunks of 1 to
// MaxChunkTicks ticks; the first chunk and each every-th after it has a state. It uses the match's
// SetInputLog. The error is that of Save.
func NewRecorder(m *sim.Match, ticks, every int) (*Recorder, error) {
	r := &Recorder{match: m, ticks: min(max(ticks, 1), MaxChunkTicks), every: max(every, 1)}
	if err := r.begin(); err != nil {
		return nil, err
	}
	m.SetInputLog(&r.inputs)
	return r, nil
}

// begin begins a chunk with the match as it stands.
func (r *Recorder) begin() error {
	var key []byte
	if r.count%r.every == 0 {
		var err error
		if key, err = r.match.Save(make([]byte, 0, r.size+r.size/8)); err != nil {
			return err
		}
		r.size = len(key)
	}
	r.count++
	r.chunk = Chunk{First: r.match.Tick() + 1, Key: key}
	r.log.reset(r.match.World.Slots())
	return nil
}

// Tick records the tick that was just played: right after Step, before anything is done to the
// match. It returns the chunk that it completes, or nil; the caller owns that chunk. Steady state
// allocates only the chunks.
func (r *Recorder) Tick() *Chunk {
	r.log.tick(&r.inputs)
	r.chunk.Ticks++
	full := r.chunk.Ticks >= r.ticks
	if full || r.chunk.Ticks%ChecksumEvery == 0 {
		r.checksums = r.match.Checksums(r.checksums[:0])
		r.log.checksums(r.match.Hash(), r.checksums)
	}
	if !full {
		return nil
	}
	done := r.Pending()
	if r.begin() != nil { // the match was changed first: this chunk goes on, as long as it may
		if r.chunk.Ticks < MaxChunkTicks {
			return nil
		}
		panic("replay: Recorder.Tick was not called right after Step")
	}
	return done
}

// Pending is the chunk in progress; nil if no tick was played since the last. The recording goes
// on. Its last tick need not have a checksum.
func (r *Recorder) Pending() *Chunk {
	if r.chunk.Ticks == 0 {
		return nil
	}
	c := r.chunk
	c.Log = r.log.append(make([]byte, 0, r.log.size()+3*streams))
	return &c
}

// Close ends recording and returns the last chunk, as Pending.
func (r *Recorder) Close() *Chunk {
	r.match.SetInputLog(nil)
	return r.Pending()
}
