package schema_test

import (
	"hash/fnv"
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
		other, twice := seen[with.Hash()]
		if twice || with.Codec() != c || with.With(schema.Huffman).Hash() != m.Hash() {
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

// TestSquashIsPinned: both ends must turn evidence into the same probabilities.
func TestSquashIsPinned(t *testing.T) {
	h := fnv.New64a()
	for _, p := range schema.Squash {
		h.Write([]byte{byte(p), byte(p >> 8)})
	}
	if got := h.Sum64(); got != 0x2c9d8e0f5568bbd7 {
		t.Errorf("hash %#x of the table", got)
	}
	if schema.Squash[512] != 1<<15 || schema.Squash[512+16] != 47911 || schema.Squash[0] != 16 {
		t.Error(schema.Squash[512], schema.Squash[512+16], schema.Squash[0])
	}
}

// TestDecisionsLearn: what always comes together is told so by a feature, and what never happens is
// unlikely.
func TestDecisionsLearn(t *testing.T) {
	n := schema.NewCounts(player)
	for i := range 4000 {
		row := schema.Row{Signals: [schema.MaxFields]uint8{3, 3, 3, 3}}
		if i%2 == 0 {
			row.Errors[0], row.Errors[2] = -3, -2
		}
		n.Row(&row)
	}
	d := schema.Train(player, n).Decisions()
	none := [2]uint8{schema.NoFeature, schema.NoFeature}
	if d.Fields[0].Features != none || d.Fields[2].Features != [2]uint8{0, schema.NoFeature} ||
		d.Fields[3].Features != none {
		t.Errorf("features: %d, %d, %d", d.Fields[0].Features, d.Fields[2].Features, d.Fields[3].Features)
	}
	var still, moved schema.RowFeatures
	moved.SetChange(0, 5)
	p := func(f int, x *schema.RowFeatures, node int) uint32 {
		return uint32(d.Fields[f].Nodes(0, x)[node])
	}
	if no, yes := p(2, &still, 0), p(2, &moved, 0); no < 64000 || yes > 1500 {
		t.Errorf("unchanged with probability %d beside no change, %d beside one", no, yes)
	}
	if plus := p(2, &moved, schema.NodeSign+1); plus > 1500 {
		t.Errorf("what always falls rises with probability %d", plus)
	}
	if never := p(3, &still, 0); never < 64000 {
		t.Errorf("what never changes is unchanged with probability %d", never)
	}
}
