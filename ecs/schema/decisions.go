package schema

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Decisions are the probabilities of an entity row's decisions in a range coder. It is immutable.
//
// For each field the coder codes whether it changed, then the octave of the difference, bit by bit
// from the highest, its sign, and the half of the octave; the other bits are equally likely. The
// field's level and two features of the row choose a leaf, which holds the probability of false of
// each of these decisions. In a file it is the logarithm of the odds, in 16ths: a signed byte.
type Decisions struct {
	Spawn  uint32 // a slot that was empty is filled: the probability of false, in 65536ths
	Leave  uint32 // a row that was there is gone or replaced
	Fields []FieldDecisions
	Levels []uint8 // fields whose level is a feature
}

// Features of a row. Feature f is how far field f of the row changed, which may choose the
// probabilities of later fields; feature MaxFields+f is the level of field f.
const (
	Features      = 2 * MaxFields
	NoFeature     = Features // always in state 0
	featureStates = 6
	featureCount  = 2 // of a field's leaves, at most
)

// leafMap is the leaf of each cell: a level, and a state of each feature.
type leafMap [ErrorLevels * featureStates * featureStates]uint8

// cellOf is the cell of a level with the states of features.
func cellOf(level int, states [featureCount]uint8) int {
	for _, state := range states {
		level = level*featureStates + int(state)
	}
	return level
}

// RowFeatures are the states of a row's features so far. What lies past the last stays 0.
type RowFeatures [32]uint8

// SetLevel notes the level of field f.
func (x *RowFeatures) SetLevel(f int, signal uint8) {
	x[(MaxFields+f)&31] = levelStates[signal&(ErrorLevels-1)]
}

// SetChange notes a change of field f in a bucket.
func (x *RowFeatures) SetChange(f, sym int) { x[f&31] = changeStates[sym] }

var levelStates = func() (all [ErrorLevels]uint8) {
	for level := range all {
		if all[level] = uint8(level); level > LevelExact {
			all[level] = uint8(min((level+4)/3, featureStates-1))
		}
	}
	return all
}()

// changeStates are by bucket; 0 is unchanged.
var changeStates = func() (all [huffman.Buckets]uint8) {
	for sym := range all {
		all[sym] = uint8(min((huffman.Octave(sym)+1)/2+1, featureStates-1))
	}
	return all
}()

// FieldDecisions are the probabilities of one field.
type FieldDecisions struct {
	Features [featureCount]uint8 // NoFeature: none
	leaves   leafMap
	nodes    [][LeafNodes]uint16 // by leaf
}

// squash is 65536/(1+e^(-x/16)) for x from -512 on. Halfway cases are far from any rounding error,
// so that all machines agree: a test pins the table.
var squash = func() (t [1024]uint16) {
	for i := range t {
		x := float64(i-len(t)/2) / evidenceOne
		t[i] = uint16(min(max(math.Round(65536/(1+math.Exp(-x))), 16), 65536-16))
	}
	return t
}()

const evidenceOne = 16

// Nodes of a leaf: whether the field changed; a binary tree of its octave, where the last stands
// for all from MaxOctave on; by octave, whether it is negative; by octave, whether it is in the
// upper half.
const (
	NodeChanged = 0
	NodeOctave  = 1
	NodeSign    = 16
	NodeHalf    = NodeSign + MaxOctave - 1 // of octave 1 on
	LeafNodes   = NodeHalf + MaxOctave
	MaxOctave   = 12
	treeLeaves  = 16
)

// maxRangeLeaves bounds the probabilities of a field.
const maxRangeLeaves = 32

// Leaves is how many sets of probabilities the field has.
func (d *FieldDecisions) Leaves() int { return len(d.nodes) }

// Nodes are the probabilities of a field at a signal.
func (d *FieldDecisions) Nodes(signal uint8, x *RowFeatures) *[LeafNodes]uint16 {
	at := uint(signal&(ErrorLevels-1))*featureStates + uint(x[d.Features[0]&31])
	return &d.nodes[d.leaves[at*featureStates+uint(x[d.Features[1]&31])]]
}

// noField stands for none in a file.
const noField = 0xff

// probability is a file's byte of evidence as 65536ths.
func probability(q uint8) uint32 { return uint32(squash[int(int8(q))+len(squash)/2]) }

// parseDecisions reads what trainDecisions wrote for a number of fields.
func parseDecisions(raw []byte, fields int) (*Decisions, error) {
	if len(raw) < 2 {
		return nil, errors.New("cut short")
	}
	d := &Decisions{Spawn: probability(raw[0]), Leave: probability(raw[1]),
		Fields: make([]FieldDecisions, fields)}
	raw = raw[2:]
	for f := range d.Fields {
		var err error
		if raw, err = d.Fields[f].parse(raw, f, fields); err != nil {
			return nil, fmt.Errorf("field %d: %w", f, err)
		}
	}
	if len(raw) != 0 {
		return nil, fmt.Errorf("%d bytes behind the last", len(raw))
	}
	for f := range fields {
		for i := range d.Fields {
			if slices.Contains(d.Fields[i].Features[:], uint8(MaxFields+f)) {
				d.Levels = append(d.Levels, uint8(f))
				break
			}
		}
	}
	return d, nil
}

// parse reads the decisions of field f and returns what follows.
func (d *FieldDecisions) parse(raw []byte, f, fields int) (rest []byte, err error) {
	if len(raw) < featureCount+1 {
		return nil, errors.New("cut short")
	}
	leaves, ends := int(raw[featureCount]), [featureCount]uint8{}
	if leaves == 0 || leaves > maxRangeLeaves {
		return nil, fmt.Errorf("%d leaves, want 1 to %d", leaves, maxRangeLeaves)
	}
	for i, of := range raw[:featureCount] {
		switch {
		case of == noField:
			d.Features[i], ends[i] = NoFeature, 1
		case !isFeature(int(of), f, fields):
			return nil, fmt.Errorf("feature %d, want an earlier field or the level of any", of)
		default:
			d.Features[i], ends[i] = of, featureStates
		}
	}
	raw = raw[featureCount+1:]
	for cell := range cellsOf(ends) {
		if len(raw) == 0 {
			return nil, errors.New("cut short")
		}
		if int(raw[0]) >= leaves {
			return nil, fmt.Errorf("leaf %d of %d", raw[0], leaves)
		}
		d.leaves[cell], raw = raw[0], raw[1:]
	}
	for ; len(d.nodes) < leaves; raw = raw[LeafNodes:] {
		if len(raw) < LeafNodes {
			return nil, errors.New("cut short")
		}
		var leaf [LeafNodes]uint16
		for i, q := range raw[:LeafNodes] {
			leaf[i] = uint16(probability(q))
		}
		d.nodes = append(d.nodes, leaf)
	}
	return raw, nil
}

// isFeature reports whether field f of a schema of fields may have a feature.
func isFeature(of, f, fields int) bool {
	return of < f || of >= MaxFields && of < MaxFields+fields
}

// cellsOf yields the cells that a file names, in its order: all levels, and the states of each
// feature below an end.
func cellsOf(ends [featureCount]uint8) iter.Seq[int] {
	return func(yield func(int) bool) {
		for level := range ErrorLevels {
			for states, more := [featureCount]uint8{}, true; more; states, more = nextStates(states, ends) {
				if !yield(cellOf(level, states)) {
					return
				}
			}
		}
	}
}

// nextStates counts up, the last feature fastest. It returns false after the last.
func nextStates(states, ends [featureCount]uint8) ([featureCount]uint8, bool) {
	for i := featureCount - 1; i >= 0; i-- {
		if states[i]++; states[i] < ends[i] {
			return states, true
		}
		states[i] = 0
	}
	return states, false
}
