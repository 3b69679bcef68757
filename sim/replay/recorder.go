package replay

import (
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/sim"
)

// ChecksumEvery is how many ticks lie between two fingerprints in a recording; the last tick of a chunk has one besides.
const ChecksumEvery = 30

// A recording that is kept has a chunk a second, which is what a killed server loses at most, and a state with each fourth, where one can
// begin without playing.
const (
	ChunkMillis = 1000
	KeyEvery    = 4
)

// Recorder writes down a match. It belongs to whoever owns the match, and to one match.
type Recorder struct {
	match     *sim.Match
	ticks     int // of a chunk
	every     int // how many chunks there are to a state
	count     int // chunks begun
	size      int // of the last state
	inputs    sim.TickInputs
	log       writer
	checksums []sim.Checksum
	chunk     Chunk // in hand, without Log
}

// NewRecorder begins to record a match, right after a Step or before the first, in chunks of so many ticks, 1 to MaxChunkTicks, of which
// the first and each every-th behind it has a state. It takes the match's Keep. The error is that of Save.
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

// Tick takes the tick that was just played: right after Step, before anything is done to the match. It returns the chunk that is
// complete with it, or nil; its memory is the caller's. Steady state allocates nothing but that.
func (r *Recorder) Tick() *Chunk {
	if n := len(r.inputs.Changes); planted.On(planted.FilmForgets) && n > 0 {
		r.inputs.Changes = r.inputs.Changes[:n-1]
	}
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
	if r.begin() != nil { // somebody was quicker than us: this chunk goes on, as long as it may
		if r.chunk.Ticks < MaxChunkTicks {
			return nil
		}
		panic("replay: Recorder.Tick was not called right after Step")
	}
	return done
}

// Pending is the chunk in hand, as far as it goes; nil if nothing was played since the last. The recording goes on. Its last tick need not have
// a fingerprint.
func (r *Recorder) Pending() *Chunk {
	if r.chunk.Ticks == 0 {
		return nil
	}
	c := r.chunk
	c.Log = r.log.append(make([]byte, 0, r.log.size()+3*streams))
	return &c
}

// Close ends recording and returns what is left, as So.
func (r *Recorder) Close() *Chunk {
	r.match.SetInputLog(nil)
	return r.Pending()
}
