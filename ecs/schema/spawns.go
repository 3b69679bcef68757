package schema

import (
	"fmt"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Spawns are the codes of new rows. A new row is a mask of the fields that differ from the row's
// origin, which both ends know, and their differences. The kind of the row chooses the tables of
// the fields after the one that says it. It is immutable.
type Spawns struct {
	Mask    Mask    // the symbol Raw, or Update and a mask
	Coders  []Coder // by field; contexts are of SpawnContext
	Kind    int     // field that says the kind, -1 for none
	zero    []int32 // the origin at tick 0
	ticks   []int   // fields that begin at the tick
	rawBits int     // of the symbol Raw
	codes   maskCodes
}

// MaskCodes returns the codes of the symbols, for encoders, as Model.MaskCodes.
func (s *Spawns) MaskCodes() []uint32 { return s.codes.made(s.Mask) }

// Raw is the symbol of a new row whose fields follow in the widths of their ranges.
const Raw = Gone

// Spawns are the codes of new rows; nil for a single row. Do not change it.
func (m *Model) Spawns() *Spawns { return m.spawns }

// Origin fills dst with the row that new rows of a snapshot of tick now are coded against.
func (s *Spawns) Origin(dst []int32, now uint32) {
	copy(dst, s.zero)
	for _, f := range s.ticks {
		dst[f] = int32(now % uint32(s.Coders[f].wrap))
	}
}

// Level is the level of a new row's fields after its kind, for Coder.Context.
func (s *Spawns) Level(kind int32) uint8 { return uint8(kind) & (ErrorLevels - 1) }

// newSpawns makes the codes of a plan.
func newSpawns(s Schema, p *modelPlan) (*Spawns, error) {
	if p == nil || len(p.masks) != 1 || len(p.fields) != len(s.Fields) || len(p.classes) != len(s.Fields) ||
		len(p.terms) != len(s.Fields) {
		return nil, fmt.Errorf("no table for each of %d fields", len(s.Fields))
	}
	for f, terms := range p.terms {
		if len(terms) > 0 {
			return nil, fmt.Errorf("%s.%s has terms", s.Name, s.Fields[f].Name)
		}
	}
	n := &Spawns{Mask: shape(s, 1)[0], Kind: -1}
	var err error
	if n.Mask.Table, err = completeTable(p.masks[0], s.symbols(n.Mask), huffman.MaxLength); err != nil {
		return nil, err
	}
	n.Mask.prepare(false)
	_, bits := n.Mask.Table.Code(Raw)
	n.rawBits = int(bits)
	if n.Coders, err = p.coders(s); err != nil {
		return nil, err
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		n.zero = append(n.zero, f.Clamp(0))
		switch f.Spawn {
		case SpawnKind:
			n.Kind = i
		case SpawnTick:
			n.ticks = append(n.ticks, i)
		}
	}
	return n, nil
}

// trainSpawns plans the codes of new rows for what was counted.
func trainSpawns(s Schema, c *Counts) modelPlan {
	p := modelPlan{terms: make([][]Term, len(s.Fields))}
	m := shape(s, 1)[0]
	prior := maskPrior(s, m)
	prior[Raw] = 0.3 // without training most fields lie anywhere
	p.masks = [][]uint8{lengthsOf(c.Masks[0], nil, prior, huffman.MaxLength)}
	p.trainFields(s, c)
	return p
}
