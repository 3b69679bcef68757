package snapshot

import (
	"testing"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/schema"
)

// symbolBits adds up what the counted symbols take, extra bits included.
func symbolBits(m *schema.Model, n *schema.Counts) (bits int) {
	for k, count := range n.ContextSymbols {
		context := 1
		for i, f := range m.ContextFields() {
			context += int(k>>16>>f&1) << i
		}
		_, length := m.Masks()[context].Table.Code(int(k & 0xffff))
		bits += int(count) * int(length)
	}
	for i, table := range n.Masks {
		for sym, count := range table {
			_, length := m.Masks()[i].Table.Code(sym)
			bits += int(count) * int(length)
		}
	}
	if n.RowsAtRest() > 0 {
		_, k := m.Masks()[1].Table.Code(schema.Update)
		bits += int(n.RowsAtRest()) * int(k)
	}
	for f, table := range n.Fields {
		for i, count := range table {
			buckets := len(table) / schema.Signals
			context := m.Coders()[f].Context(uint8(i / buckets))
			_, n := m.Coders()[f].Table(uint8(context >> 1)).Code(huffman.Mirror(i%buckets, context))
			bits += int(count) * (int(n) + int(huffman.ExtraBits(i%buckets)))
		}
	}
	return bits
}

// emptyIn is how many slots of a group a baseline has nobody in.
func emptyIn(base *Frame, g int) (n int) {
	for slot := g * GroupRows; slot < (g+1)*GroupRows; slot++ {
		if base == nil || base.ID(slot) == 0 {
			n++
		}
	}
	return n
}

// TestCountsAddUpToTheBits: every bit of a block is a counted symbol, a row without a baseline, a
// spawn's content or padding.
func TestCountsAddUpToTheBits(t *testing.T) {
	m := learned(playerSchema)
	ring := recorded(playerSchema, 64, 6, newWorld(playerSchema, 64, 4, 0.7, 0.1, 0.1))
	e := NewEncoder(m, 64)
	row := make([]int32, len(playerSchema.Fields))
	for i, base := range []Baselines{{}, {1}, {2}, {3}, {4}, {5}, {5, 4}, {5, 4, 3}, {5, 3, 1}, {4, 3, 1}, {3, 2, 1}} {
		for g := range ring.Groups() {
			n := schema.NewCounts(playerSchema)
			e.Count(n)
			e.Begin(ring.At(6), ring)
			got := len(e.Group(g, base)) * 8
			flags, still := naiveStill(m, ring.At(6), g, framesAt(ring, base)...)
			_, rest := m.Masks()[1].Table.Code(schema.Update)
			want := symbolBits(m, n) + 2 + len(flags)
			for _, same := range still {
				if same { // counted, but a bit of its half stands for it
					want -= int(rest)
				}
			}
			if _, spawns := naiveFlags(m, ring.At(6), g, framesAt(ring, base)...); !spawns {
				want -= emptyIn(ring.At(base[0]), g)
			}
			for r, id := range ring.At(6).ids[g] {
				was := empty[r]
				if i > 0 {
					was = ring.At(base[0]).ids[g][r]
				}
				if was == 0 {
					want++
				}
				if id != 0 && id != was {
					ring.At(6).Row(g*GroupRows+r, row)
					for _, part := range naiveNew(m, 6, id, row) {
						want += int(part.bits)
					}
				}
			}
			if got != (want+7)&^7 {
				t.Errorf("group %d against %d: %d bits, symbols add up to %d", g, base, got, want)
			}
		}
	}
}

func TestCountRowAddsUpToTheBits(t *testing.T) {
	m := schema.DefaultModel(ownerSchema)
	base, row := make([]int32, len(ownerSchema.Fields)), make([]int32, len(ownerSchema.Fields))
	for f := range row {
		row[f] = ownerSchema.Fields[f].Clamp(int32(f * f * f))
	}
	n := schema.NewCounts(ownerSchema)
	CountRow(n, m, nil, row)
	if got := symbolBits(m, n); got != 0 {
		t.Errorf("a row without a base counts for %d bits", got)
	}
	CountRow(n, m, base, row)
	var w bitio.Writer
	EncodeRow(&w, m, base, row)
	if got := symbolBits(m, n); got != w.Len() {
		t.Errorf("counted %d bits, coded %d", got, w.Len())
	}
}
