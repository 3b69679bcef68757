package snapshot

import (
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/schema"
)

// largeOctaves codes which octave from schema.MaxOctave on a change has: octave by octave, is it a
// larger one? The lengths of the field's Huffman codes say how likely that is. Entry i is the
// probability of no at octave schema.MaxOctave+i; the last octave has none.
type largeOctaves []uint16

func newLargeOctaves(t *huffman.Table) (p largeOctaves) {
	first := huffman.Coarse(schema.MaxOctave)
	above := uint64(0) // of the larger octaves, in shares of 1 << huffman.MaxLength
	for sym := t.Symbols() - 1; sym >= first; sym-- {
		_, n := t.Code(sym)
		share := uint64(1) << (huffman.MaxLength - n)
		if above > 0 {
			no := share * rangecoder.One / (share + above)
			p = append(p, uint16(min(max(no, 1), rangecoder.One-1)))
		}
		above += share
	}
	for i := range len(p) / 2 {
		p[i], p[len(p)-1-i] = p[len(p)-1-i], p[i]
	}
	return p
}

func (p largeOctaves) put(e *rangecoder.Encoder, octave int) {
	for i, no := range p {
		larger := octave > schema.MaxOctave+i
		if e.Bit(larger, uint32(no)); !larger {
			return
		}
	}
}

func (p largeOctaves) take(d *rangecoder.EmbeddedDecoder) (octave int) {
	for i, no := range p {
		if !d.Bit(uint32(no)) {
			return schema.MaxOctave + i
		}
	}
	return schema.MaxOctave + len(p)
}
