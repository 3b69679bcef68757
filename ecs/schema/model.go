package schema

import (
	"fmt"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Symbols of a row that was there in the baseline. A row that was not there needs no table: it takes one bit, whether
// it is there now.
const (
	Gone    = 0 // it is there no more
	Replace = 1 // its slot holds another one
	Update  = 2 // Update + mask: bit n set if field n changed
)

// Model is a schema with the codes of its rows. It is immutable and may be shared by any number of encoders and
// decoders.
type Model struct {
	schema Schema
	masks  []Mask
	coders []Coder
	hash   uint64
}

// Mask is the code of the symbol that says which fields changed. An entity row has one, whose alphabet begins with
// Gone and Replace; a single row has one for every few fields, and its symbol is the plain mask.
type Mask struct {
	Table  *huffman.Table
	First  int // first field
	Fields int
}

// shape lists the masks of a schema, without tables.
func shape(s Schema) []Mask {
	n := len(s.Fields)
	if !s.Single {
		return []Mask{{Fields: n}}
	}
	chunks := (n + ChunkBits - 1) / ChunkBits
	masks := make([]Mask, chunks)
	for i := range masks {
		masks[i].First = n * i / chunks
		masks[i].Fields = n*(i+1)/chunks - masks[i].First
	}
	return masks
}

// symbols is the size of a mask's alphabet.
func (s Schema) symbols(m Mask) int {
	if s.Single {
		return 1 << m.Fields
	}
	return Update + 1<<m.Fields
}

// newModel makes a model of code lengths: one list per mask, then one per field.
func newModel(s Schema, lengths [][]uint8) (*Model, error) {
	m := &Model{schema: s, masks: shape(s)}
	if len(lengths) != len(m.masks)+len(s.Fields) {
		return nil, fmt.Errorf("%d tables, %s wants %d", len(lengths), s.Name, len(m.masks)+len(s.Fields))
	}
	for i := range m.masks {
		table, err := completeTable(lengths[i], s.symbols(m.masks[i]), huffman.MaxLength)
		if err != nil {
			return nil, fmt.Errorf("table %d, of %s's rows: %w", i, s.Name, err)
		}
		m.masks[i].Table = table
	}
	for i, f := range s.Fields {
		table, err := completeTable(lengths[len(m.masks)+i], symbolsOf(f), MaxFieldCode)
		if err != nil {
			return nil, fmt.Errorf("table %d, of %s.%s: %w", len(m.masks)+i, s.Name, f.Name, err)
		}
		m.coders = append(m.coders, newCoder(f, table))
	}
	m.hash = max(uint64(fnvStart.bytes(m.appendBody(nil))), 1)
	return m, nil
}

// completeTable refuses what the format allows but an encoder must never meet: a symbol without a code.
func completeTable(lengths []uint8, symbols, maxLen int) (*huffman.Table, error) {
	if len(lengths) != symbols {
		return nil, fmt.Errorf("%d symbols, want %d", len(lengths), symbols)
	}
	for sym, n := range lengths {
		if n == 0 || int(n) > maxLen {
			return nil, fmt.Errorf("symbol %d has %d bits, want 1 to %d", sym, n, maxLen)
		}
	}
	return huffman.FromLengths(lengths)
}

// Schema is what the model codes.
func (m *Model) Schema() Schema { return m.schema }

// Hash names the codes together with their schema. It is never 0.
func (m *Model) Hash() uint64 { return m.hash }

// Masks lists the codes of a row's masks in the order in which they are sent. Do not change it.
func (m *Model) Masks() []Mask { return m.masks }

// Coders lists the codes of the fields. Do not change it.
func (m *Model) Coders() []Coder { return m.coders }

// GenerationBits is the width of the generation that a spawn carries.
const GenerationBits = 8

// MaxRowBits is the most that one row can take, whatever happens to it.
func (m *Model) MaxRowBits() int {
	update, spawn := 0, 0
	for _, mask := range m.masks {
		longest := 1
		for sym := range mask.Table.Symbols() {
			_, n := mask.Table.Code(sym)
			longest = max(longest, int(n))
		}
		update += longest
		if !m.schema.Single {
			spawn += longest + GenerationBits
		}
	}
	for i := range m.coders {
		update += m.coders[i].MaxBits()
		spawn += int(m.coders[i].Width())
	}
	return max(update, spawn)
}
