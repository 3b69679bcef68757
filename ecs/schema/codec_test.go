package schema_test

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

func TestCodecs(t *testing.T) {
	m, seen := schema.DefaultModel(player), map[uint64]schema.Codec{}
	for c := range schema.Codecs {
		if got, err := schema.ParseCodec(c.String()); err != nil || got != c {
			t.Errorf("%v: %v, %v", c, got, err)
		}
		with := m.With(c)
		if other, twice := seen[with.Hash()]; twice || with.Codec() != c || with.With(schema.Huffman).Hash() != m.Hash() {
			t.Errorf("%v: hash %x, that of %v too: %v", c, with.Hash(), other, twice)
		}
		seen[with.Hash()] = c
	}
	if _, err := schema.ParseCodec("lzma"); err == nil {
		t.Error("lzma is a codec")
	}
	if d := schema.DefaultModel(single()).Decisions(); d != nil {
		t.Error("a single row has decisions")
	}
}

// TestDecisionsLearn: what always comes together is told so by the field told before, and what
// never happens is unlikely.
func TestDecisionsLearn(t *testing.T) {
	n := schema.NewCounts(player)
	for i := range 4000 {
		levels, buckets := []uint8{3, 3, 3, 3}, []int8{-1, -1, -1, -1}
		if i%2 == 0 {
			buckets[0], buckets[2] = 5, 3
		}
		n.Row(levels, buckets, make([]uint32, 4))
	}
	d := schema.Train(player, n).Decisions()
	if d.Fields[0].ContextField != schema.MaxFields || d.Fields[2].ContextField != 0 || d.Fields[3].ContextField != schema.MaxFields {
		t.Errorf("fields told before: %d, %d, %d", d.Fields[0].ContextField, d.Fields[2].ContextField, d.Fields[3].ContextField)
	}
	nodes := func(size int) []uint16 { return d.Fields[2].Nodes[size*16:] }
	if no, yes := nodes(0)[0], nodes(schema.SizeClass(5))[0]; no < 64000 || yes > 1500 {
		t.Errorf("unchanged with probability %d beside no change, %d beside one", no, yes)
	}
	if never := d.Fields[3].Nodes[0]; never < 64000 {
		t.Errorf("what never changes is unchanged with probability %d", never)
	}
}
