package replay

import (
	"fmt"
	"io"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// Pages are what a chunk says came into its match, read without playing it.
type Pages struct {
	log         *reader
	first, last tick.Tick
	next        tick.Tick
	page        Page
}

// Page is one tick.
type Page struct {
	Diary sim.Diary
	Sums  []uint16 // its fingerprint, as sim.Match.Prints orders them; empty: it has none
	Hash  uint64   // sim.Match.Hash after the tick, if it has a fingerprint
}

// ReadPages begins with the first tick of a chunk of a match of so many slots and prints: as many as sim.Match.Prints has. Errors wrap
// ErrFormat.
func ReadPages(c *Chunk, slots, prints int) (*Pages, error) {
	log, err := newReader(c.Log, slots)
	if err != nil {
		return nil, err
	}
	return &Pages{log: log, first: c.First, next: c.First, last: c.Last(), page: Page{Sums: make([]uint16, prints)}}, nil
}

// Next reads the next tick. The page is valid until the next call. io.EOF: that was all; other errors wrap ErrFormat, and after one there
// is nothing more.
func (p *Pages) Next() (*Page, error) {
	if p.next > p.last {
		if !p.log.over() {
			return nil, fmt.Errorf("%w: a log that does not end with its last tick, %d", ErrFormat, p.last)
		}
		return nil, io.EOF
	}
	now := p.next
	err := p.log.tick(&p.page.Diary, now)
	p.page.Sums, p.page.Hash = p.page.Sums[:0], 0
	if n := int(now-p.first) + 1; err == nil && p.log.summed(n, now == p.last) {
		p.page.Sums = p.page.Sums[:cap(p.page.Sums)]
		p.page.Hash, err = p.log.sums(p.page.Sums)
	}
	if err != nil {
		return nil, err
	}
	p.next++
	return &p.page, nil
}
