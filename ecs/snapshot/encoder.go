package snapshot

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Encoder codes the groups of one frame, each at most once per set of baselines, and lends out the
// blocks. Single rows are coded in the same way, for clients that do not get whole groups. One
// encoder serves all clients of a lobby. It allocates only when a frame meets more distinct
// baselines than any before, or more long rows.
type Encoder struct {
	Coded   Coded // since NewEncoder
	codec   codec
	groups  int // of a frame
	counts  *schema.Counts
	samples *BlockSamples
	coder   rangecoder.Encoder
	rangeRows
	stored bool // rows have no baselines (schema.Stored)

	frame  *Frame
	ring   *Ring
	inUse  int // groups that ever held an entity
	caches []*encodeCache
	used   int           // caches of this frame
	run    []byte        // of Run
	reader sectionReader // of Explain

	noFit struct { // the last result of FullBlocksFit, if it was no
		most int       // bytes; 0: it was yes
		at   tick.Tick // of the frame
	}
}

// Coded counts what an encoder has coded for all clients together.
type Coded struct {
	Baselines uint64 // distinct sets of baselines, summed over the frames
	Blocks    uint64 // groups
	Rows      uint64 // single rows
}

// encodeCache holds the blocks and rows of one frame against one set of baselines.
type encodeCache struct {
	base      Baselines
	frames    baselineFrames
	made      []bool // by group
	blocks    []span // by group, into buf
	from, to  int    // blocks of these groups lie in order, one after the other
	idle      idleRuns
	room      int // groups that buf has room for
	buf       []byte
	byRow     bool      // rows and long are of this frame
	rows      []rowBits // by slot
	requested []uint8   // by group: times that rows were coded by request
	long      []byte    // rows of more than inlineBits

	// The prediction; only for sets of two or three baselines, or where fields have terms.
	predicted   []bool       // by group
	predictions []fieldBlock // laid out as a frame's blocks
	contexts    []contexts
}

type span struct{ off, end uint32 }

// NewEncoder returns an encoder for frames of up to slots slots. It takes memory with what it codes,
// see Reserve: about 32 KiB for each set of baselines and 256 slots, 20 KiB more from the first row
// on that is sent by itself, and 1 KiB more a field where the set is more than one; memory that no
// block ever reaches stays untouched.
func NewEncoder(m *schema.Model, slots int) *Encoder {
	e := &Encoder{codec: newCodec(m), groups: (slots + GroupRows - 1) / GroupRows,
		stored: m.Codec() == schema.Stored}
	e.codec.writes(m)
	return e
}

// newCache makes a cache without room for blocks.
func (e *Encoder) newCache() *encodeCache {
	return &encodeCache{
		made:   make([]bool, e.groups),
		blocks: make([]span, e.groups),
		idle:   idleRuns{left: make([]uint8, e.groups)},
	}
}

// Count makes the encoder count the symbols of its blocks, for schema.Train; nil stops it.
func (e *Encoder) Count(n *schema.Counts) { e.counts = n }

// Sample makes the encoder keep samples of its blocks in s; nil stops it.
func (e *Encoder) Sample(s *BlockSamples) { e.samples = s }

// Begin turns to a new frame. The frame is complete and held by ring, which also holds the
// baselines. Blocks lent out before become invalid.
func (e *Encoder) Begin(frame *Frame, ring *Ring) {
	if len(frame.ids) > e.groups {
		panic(fmt.Sprintf("snapshot: frame of %d groups, want at most those of the encoder, %d", len(frame.ids), e.groups))
	}
	e.codec.spawns.at(frame.Tick)
	e.frame, e.ring, e.inUse, e.used = frame, ring, ring.Groups(), 0
}

// Tick is the tick of the frame in hand.
func (e *Encoder) Tick() tick.Tick { return e.frame.Tick }

// Group returns the block of group g against baselines that are in the ring and older than the
// frame. A Tracker names no others as long as the ring reaches back MaxAge intervals. The block
// belongs to the encoder and is valid until the next Begin.
func (e *Encoder) Group(g int, base Baselines) []byte {
	return e.block(e.cache(base), g)
}

// block is Group for a cache.
func (e *Encoder) block(c *encodeCache, g int) []byte {
	switch {
	case c.from <= g && g < c.to && c.idle.left[g] > 0:
		return idleBlock[:]
	case !c.made[g]:
		e.encode(c, g)
	}
	b := c.blocks[g]
	return c.buf[b.off:b.end:b.end]
}

// Run returns the blocks of count groups from first on, one after the other, where neighbours that
// are as predicted share a byte. The groups lie below Ring.Groups. The first run of a set of
// baselines codes all groups, so Run pays where most of them are wanted. The blocks are valid until
// the next Run.
func (e *Encoder) Run(first, count int, base Baselines) []byte {
	e.run = e.run[:0]
	if count > 0 {
		e.run = e.whole(base).appendBlocks(e.run, first, count)
	}
	return e.run
}

func (e *Encoder) whole(base Baselines) *encodeCache {
	c := e.cache(base)
	e.makeOrdered(c, 0, e.inUse, math.MaxInt)
	return c
}

// ordered reports whether the blocks of groups first to end-1 lie one after the other.
func (c *encodeCache) ordered(first, end int) bool { return c.from <= first && end <= c.to }

// makeOrdered codes groups first to end-1 one after the other, unless they take more than most
// bytes. It then stops there, and returns false: for blocks that share no bytes.
func (e *Encoder) makeOrdered(c *encodeCache, first, end, most int) bool {
	if c.ordered(first, end) {
		return first == end || c.size(first, end-first) <= most
	}
	c.from, c.to = 0, 0
	c.idle.begin(e.codec.idleStep(c.base))
	start := len(c.buf)
	for g := first; g < end; g++ {
		// Again if made before: a run is contiguous, and blocks lent out must stay.
		e.encode(c, g)
		if c.joinIdle(g); len(c.buf)-start > most {
			return false
		}
	}
	c.countIdle(first, end)
	c.from, c.to = first, end
	return true
}

// fullBlocksRetry is for how many ticks FullBlocksFit answers from its last result that blocks do
// not fit. Joins and deaths change the size of a world slowly.
const fullBlocksRetry = 32

// FullBlocksFit reports whether the codec packs blocks without a baseline, and those of all groups
// take at most a number of bytes. They are coded once a frame and shared by all new clients. If they
// do not fit, the answer stays for the next fullBlocksRetry ticks and that number of bytes.
func (e *Encoder) FullBlocksFit(most int) bool {
	recent := e.noFit.most > 0 && e.frame.Tick-e.noFit.at < fullBlocksRetry
	if e.codec.forms[1] != zstdBlock || recent && most <= e.noFit.most {
		return false
	}
	fit := e.makeOrdered(e.cache(Baselines{}), 0, e.inUse, most)
	if e.noFit.most = 0; !fit {
		e.noFit.most, e.noFit.at = most, e.frame.Tick
	}
	return fit
}

// cache finds the blocks of a set of baselines. The list is short and clients come in no order, so
// a scan is enough.
func (e *Encoder) cache(base Baselines) *encodeCache {
	for _, c := range e.caches[:e.used] {
		if c.base == base {
			return c
		}
	}
	return e.open(base)
}

func (e *Encoder) open(base Baselines) *encodeCache {
	h := baselineFrames{spacing: base.spacing(e.frame.Tick)}
	last := e.frame.Tick
	for i, t := range base[:base.count()] {
		if h.frames[i] = e.ring.At(t); h.frames[i] == nil || t >= last {
			panic(fmt.Sprintf("snapshot: frame %d coded against %d, want ticks that the ring holds, the newest first",
				e.frame.Tick, base))
		}
		last = t
	}
	if e.used == len(e.caches) {
		e.caches = append(e.caches, e.newCache())
	}
	c := e.caches[e.used]
	e.used++
	e.Coded.Baselines++
	if c.room < e.inUse {
		e.reserveBlocks(e.inUse, min(2*e.inUse, e.groups))
	}
	c.base, c.frames, c.buf, c.byRow = base, h, c.buf[:0], false
	c.from, c.to = 0, 0
	clear(c.made)
	if h.frames[0] != nil && (!h.spacing.Single() || e.codec.corrected != 0) {
		if c.predicted == nil {
			e.ReservePredictions()
		}
		clear(c.predicted)
	}
	return c
}

// ReservePredictions makes room for predictions in all caches, so that no later snapshot
// allocates. Otherwise the first snapshot against more than one baseline does so.
func (e *Encoder) ReservePredictions() {
	fields := len(e.codec.coders)
	for _, c := range e.caches {
		if c.predicted == nil {
			c.predicted, c.contexts = make([]bool, e.groups), make([]contexts, e.groups)
			c.predictions = make([]fieldBlock, e.groups*fields)
		}
	}
}

// predicted returns the ids in group g of the newest baseline, the predicted values of the group,
// and the contexts of the prediction.
func (e *Encoder) predicted(c *encodeCache, g int) (ids *idBlock, values []fieldBlock, ctx *contexts) {
	newest := c.frames.frames[0]
	switch {
	case newest == nil:
		return &empty, nil, &unknown
	case c.frames.spacing.Single() && e.codec.corrected == 0:
		return &newest.ids[g], newest.group(g), &unknown
	}
	fields := len(e.codec.coders)
	values, ctx = c.predictions[g*fields:(g+1)*fields:(g+1)*fields], &c.contexts[g]
	if !c.predicted[g] {
		if c.frames.spacing.Single() {
			*ctx = unknown
			copy(values, newest.group(g))
		} else {
			e.codec.predict(&c.frames, g, values, ctx)
		}
		e.codec.correct(&c.frames, g, values, e.frame.group(g), ctx)
		c.predicted[g] = true
	}
	return &newest.ids[g], values, ctx
}

// group is group g of the frame against a cache's baselines.
func (e *Encoder) group(c *encodeCache, g int) rowGroup {
	x := rowGroup{index: g, ids: &e.frame.ids[g], now: e.frame.group(g)}
	if x.was, x.base, x.ctx = e.predicted(c, g); x.was == &empty {
		x.base = x.now
	}
	return x
}

func (e *Encoder) encode(c *encodeCache, g int) {
	off := len(c.buf)
	e.Coded.Blocks++
	x := e.group(c, g)
	switch e.codec.form(&x) {
	case rangeBlock:
		c.buf = e.codec.putRange(&e.coder, c.buf, &x)
	case zstdBlock:
		c.buf = e.codec.putPacked(c.buf, &x)
	default:
		c.buf = e.codec.putBlock(c.buf, &x)
	}
	c.blocks[g], c.made[g] = span{uint32(off), uint32(len(c.buf))}, true
	if e.counts != nil {
		e.codec.count(e.counts, &c.frames, &x)
	}
	if e.samples != nil {
		e.samples.add(&e.codec, x)
	}
}
