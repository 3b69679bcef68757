package replay

import (
	"fmt"
	"io"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// InputReader reads the inputs of a chunk without playing it.
type InputReader struct {
	log         *reader
	first, last tick.Tick
	next        tick.Tick
	current     RecordedTick
}

// RecordedTick is one tick.
type RecordedTick struct {
	Inputs    sim.TickInputs
	Checksums []uint16 // in the order of sim.Match.Checksums; empty: the tick has none
	Hash      uint64   // sim.Match.Hash after the tick, if it has checksums
}

// NewInputReader begins with the first tick of a chunk. slots is the match's number of slots,
// prints the number of checksums that sim.Match.Checksums returns. Errors wrap ErrFormat.
func NewInputReader(c *Chunk, slots, prints int) (*InputReader, error) {
	log, err := newReader(c.Log, slots)
	if err != nil {
		return nil, err
	}
	return &InputReader{log: log, first: c.First, next: c.First, last: c.Last(),
		current: RecordedTick{Checksums: make([]uint16, prints)}}, nil
}

// Next reads the next tick, which is valid until the next call. io.EOF means that it was the last;
// other errors wrap ErrFormat, and no tick follows one.
func (p *InputReader) Next() (*RecordedTick, error) {
	if p.next > p.last {
		if !p.log.done() {
			return nil, fmt.Errorf("%w: a log that does not end with its last tick, %d", ErrFormat, p.last)
		}
		return nil, io.EOF
	}
	now := p.next
	err := p.log.tick(&p.current.Inputs, now)
	p.current.Checksums, p.current.Hash = p.current.Checksums[:0], 0
	if nth := int(now-p.first) + 1; err == nil && p.log.hasChecksum(nth) {
		p.current.Checksums = p.current.Checksums[:cap(p.current.Checksums)]
		p.current.Hash, err = p.log.checksums(p.current.Checksums)
	}
	if err != nil {
		return nil, err
	}
	p.next++
	return &p.current, nil
}
