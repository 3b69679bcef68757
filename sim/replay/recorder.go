package replay

import (
	"errors"
	"math"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// ChecksumEvery is the number of ticks between two checksums in a recording. The last tick of a
// chunk has one too, or the next chunk has the state after it.
const ChecksumEvery = 30

// A recording has a chunk a second, which is the most that a killed server loses, and a state with
// each fourth, from which playback can begin.
const (
	ChunkMillis = 1000
	KeyEvery    = 4
)

// RawChunks is how many chunks a Recorder has memory for: the one in progress, the next, and two
// that wait for Encode.
const RawChunks = 4

// ErrBusy says that all memory of a Recorder waits for Encode.
var ErrBusy = errors.New("replay: the chunks of the recording before are not encoded yet")

// Recorder records one match, for the owner of that match. In a tick it copies: the inputs into
// streams, and columns into States. RawChunk.Encode does the rest, wherever the owner runs it.
type Recorder struct {
	match   *sim.Match
	ticks   int // of a chunk
	every   int // chunks from one state to the next
	count   int // chunks begun since one began with a state
	inputs  sim.TickInputs
	now     *RawChunk
	next    *RawChunk      // for the chunk after now; nil: all memory is in use
	free    chan *RawChunk // encoded, or never used
	dropped uint64
	starts  tick.Tick // that Approach approaches
}

// NewRecorder begins to record a match, right after a Step or before the first, in chunks of 1 to
// MaxChunkTicks ticks; the first chunk and each every-th after it has a state. It allocates all
// memory, and uses the match's SetInputLog. The error is sim.ErrPending.
func NewRecorder(m *sim.Match, ticks, every int) (*Recorder, error) {
	r := &Recorder{ticks: min(max(ticks, 1), MaxChunkTicks), every: max(every, 1),
		free: make(chan *RawChunk, RawChunks)}
	for range RawChunks {
		r.free <- newRawChunk(m, r.ticks, r.free)
	}
	return r, r.Start(m)
}

// Approach spreads the work of a Start over approachTicks ticks: the state that a recording begins
// with has the poses of up to a second. Called after each tick, it copies some of them and reports
// whether Start, called now, has little left to copy. The recorder must not be recording.
func (r *Recorder) Approach(m *sim.Match) bool {
	now := m.Tick()
	if r.match != m || r.starts < now || r.starts > now+approachTicks {
		r.starts = now + approachTicks
	}
	if r.claim(m) && r.starts > now {
		r.now.key.CopyPoses(m, r.starts, int(m.Rules().Rate)/approachTicks+1)
	}
	return now <= approachTicks || r.starts == now // a match that has just begun has few poses
}

// claim takes memory for the first chunk of a recording of m, and reports whether there was some.
func (r *Recorder) claim(m *sim.Match) bool {
	r.match, r.count = m, 0
	if r.prepare(); r.now == nil {
		r.now, r.next = r.next, nil
	}
	return r.now != nil
}

// approachTicks is how many ticks before its first state a recording within a match prepares it.
const approachTicks = 16

// Start begins a recording of m with the memory of an earlier one, which is over. m must have the
// slots and the map of the match that NewRecorder was given. Errors are sim.ErrPending and ErrBusy.
func (r *Recorder) Start(m *sim.Match) error {
	if !r.claim(m) {
		return ErrBusy
	}
	if err := r.begin(r.now); err != nil {
		return err
	}
	r.now.log.reset(m.World.Slots())
	m.SetInputLog(&r.inputs)
	return nil
}

// prepare takes memory for the next chunk, and copies of its state the poses that are due.
func (r *Recorder) prepare() {
	if r.next == nil {
		select {
		case r.next = <-r.free:
			r.next.log.reset(r.match.World.Slots())
		default:
			return
		}
	}
	if r.now != nil && r.count >= r.every {
		r.next.key.CopyPoses(r.match, r.now.first+tick.Tick(r.ticks)-1, math.MaxInt)
	}
}

// keyNext reports whether the chunk that begins next has a state.
func (r *Recorder) keyNext() bool { return r.count == 0 || r.count >= r.every }

// begin begins a chunk with the match as it stands. On an error nothing has changed.
func (r *Recorder) begin(c *RawChunk) error {
	keyed := r.keyNext()
	if keyed {
		if err := c.key.CopyAll(r.match); err != nil {
			return err
		}
		r.count = 0
	}
	r.count++
	c.begin(r.match, keyed)
	r.now = c
	return nil
}

// Tick records the tick that was just played: right after Step, before anything is done to the
// match. It returns the chunk that it completes, or nil. The caller must call Encode of it, or that
// memory is lost. A chunk without memory for the next is dropped: the next one begins with a state.
func (r *Recorder) Tick() *RawChunk {
	c := r.now
	c.log.tick(&r.inputs)
	c.ticks++
	full := c.ticks >= r.ticks
	r.prepare()
	switch {
	case full && r.keyNext() && r.next != nil:
		// the next chunk begins with a state, which is compared instead
	case full || c.ticks%ChecksumEvery == 0:
		c.copyCheckpoint(r.match)
	}
	switch {
	case !full:
		return nil
	case r.next == nil:
		if r.count = 0; r.begin(c) == nil {
			c.log.reset(r.match.World.Slots())
			r.dropped++
			return nil
		}
	case r.begin(r.next) == nil:
		r.next = nil
		return c
	}
	// The match was changed first: this chunk goes on, as long as it may.
	if c.ticks < MaxChunkTicks {
		return nil
	}
	panic("replay: Recorder.Tick was not called right after Step")
}

// Dropped is how many chunks were dropped, as earlier ones were not encoded in time.
func (r *Recorder) Dropped() uint64 { return r.dropped }

// Pending is the chunk in progress without state and checksums, its log in the memory of log; no
// ticks if none was played since the last. The recording goes on.
func (r *Recorder) Pending(log []byte) Chunk {
	return Chunk{First: r.now.first, Ticks: r.now.ticks, Log: r.now.log.append(log[:0])}
}

// Close ends recording and returns the last chunk; nil if no tick was played since the last.
func (r *Recorder) Close() *RawChunk {
	r.match.SetInputLog(nil)
	c := r.now
	if c.ticks == 0 {
		return nil
	}
	r.now = nil
	return c
}
