package schema

import (
	"fmt"
	"slices"
	"sync"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Symbols of a row that was there in the baseline. A row that was not there needs no table: it
// takes one bit, whether it is there now.
const (
	Gone    = 0 // it is there no more
	Replace = 1 // its slot holds another one
	Update  = 2 // Update + mask: bit n set if field n changed
)

// Model is a schema with the codes of its rows. It is immutable and may be shared by any number of
// encoders and decoders.
type Model struct {
	schema        Schema
	masks         []Mask
	contextFields []int // fields
	restRows      int   // see RestRows
	coders        []Coder
	hash          uint64
	codec         Codec
	raw           []byte     // of decisions; nil for a single row
	decide        *Decisions // of raw
	spawns        *Spawns    // nil for a single row
	dicts         *Dictionaries
	codes         *maskCodes
}

// maskCodes are made by the first encoder.
type maskCodes struct {
	once sync.Once
	of   []uint32
}

// MaskCodes returns the codes of the symbols of an entity row, for encoders: those of each context
// in turn, code | length<<16. All encoders of the model share them.
func (m *Model) MaskCodes() []uint32 { return m.codes.made(m.masks...) }

// made returns the codes of the masks.
func (c *maskCodes) made(masks ...Mask) []uint32 {
	c.once.Do(func() {
		for _, mask := range masks {
			for sym := range mask.Table.Symbols() {
				code, n := mask.Table.Code(sym)
				c.of = append(c.of, code|uint32(n)<<16)
			}
		}
		c.of = slices.Clip(c.of)
	})
	return c.of
}

// Mask is the code of the symbol that says which fields changed. An entity row has one in each
// context, whose alphabet begins with Gone and Replace; a single row has one for every few fields,
// and its symbol is the plain mask.
type Mask struct {
	Table  *huffman.Table
	First  int // first field
	Fields int

	update int // symbol of the mask 0
	// By the next bits: mask<<4 | length of its code; 0 for the start of anything else.
	quick *[1 << quickBits]uint16
}

// quickBits is how many bits of a mask's code are looked up at once. Half the memory of the table's
// own look-up, as the tables of all contexts are in use together.
const quickBits = 11

// prepare makes what Lookup goes by.
func (m *Mask) prepare(single bool) {
	if m.update = Update; single {
		m.update = 0
	}
	m.quick = new([1 << quickBits]uint16)
	for bits := range m.quick {
		if sym, n := m.Table.Lookup(uint64(bits)); sym >= m.update && n <= quickBits {
			m.quick[bits] = uint16(sym-m.update)<<4 | uint16(n)
		}
	}
}

// Lookup is Table.Lookup, and faster.
func (m *Mask) Lookup(window uint64) (sym int, n uint) {
	if e := m.quick[window&(1<<quickBits-1)]; e != 0 {
		return int(e>>4) + m.update, uint(e & 15)
	}
	return m.Table.Lookup(window)
}

// MaxContextFields is how many fields may choose a row's context: each by whether it was at
// LevelExact.
const MaxContextFields = 3

// MaxContexts is how many contexts there are at most.
const MaxContexts = 1 + 1<<MaxContextFields

// shape lists the masks of a schema, without tables. contexts counts those of an entity row.
func shape(s Schema, contexts int) []Mask {
	n := len(s.Fields)
	if !s.Single {
		masks := make([]Mask, contexts)
		for i := range masks {
			masks[i].Fields = n
		}
		return masks
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

// modelPlan is what a model is made of: what chooses its tables, and code lengths.
type modelPlan struct {
	contextFields []int
	restRows      int
	masks         [][]uint8 // by mask
	terms         [][]Term  // by field
	classes       [][ErrorLevels]uint8
	fields        [][][]uint8 // by field, by class
	raw           []byte
	spawns        *modelPlan // nil for a single row, and for the plan of new rows
}

// newModel makes a model of a plan.
func newModel(s Schema, p modelPlan) (*Model, error) {
	m := &Model{schema: s, masks: shape(s, contextsOf(p.contextFields)), contextFields: p.contextFields,
		restRows: p.restRows,
		codes:    new(maskCodes)}
	if err := s.checkContextFields(p.contextFields); err != nil {
		return nil, err
	}
	if p.restRows < 1 || p.restRows > GroupHalf+1 {
		return nil, fmt.Errorf("a bit for %d rows at rest, want 1 to %d", p.restRows, GroupHalf+1)
	}
	if len(p.masks) != len(m.masks) || len(p.fields) != len(s.Fields) || len(p.classes) != len(s.Fields) ||
		len(p.terms) != len(s.Fields) {
		return nil, fmt.Errorf("%d tables of rows and %d fields, %s wants %d and %d",
			len(p.masks), len(p.fields), s.Name, len(m.masks), len(s.Fields))
	}
	for i := range m.masks {
		table, err := completeTable(p.masks[i], s.symbols(m.masks[i]), huffman.MaxLength)
		if err != nil {
			return nil, fmt.Errorf("table %d, of %s's rows: %w", i, s.Name, err)
		}
		m.masks[i].Table = table
		m.masks[i].prepare(s.Single)
	}
	var err error
	if m.coders, err = p.coders(s); err != nil {
		return nil, err
	}
	if !s.Single {
		decide, err := parseDecisions(p.raw, len(s.Fields))
		if err != nil {
			return nil, fmt.Errorf("decisions of %s: %w", s.Name, err)
		}
		m.raw, m.decide = p.raw, decide
		if m.spawns, err = newSpawns(s, p.spawns); err != nil {
			return nil, fmt.Errorf("new rows of %s: %w", s.Name, err)
		}
	}
	m.hash = max(uint64(fnvStart.bytes(m.appendBody(nil))), 1)
	return m, nil
}

// coders makes the codes of the fields.
func (p *modelPlan) coders(s Schema) (coders []Coder, err error) {
	for i, f := range s.Fields {
		if err := s.checkTerms(i, p.terms[i]); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", s.Name, f.Name, err)
		}
		if err := checkClasses(p.classes[i], len(p.fields[i])); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", s.Name, f.Name, err)
		}
		var tables []*huffman.Table
		for k, lengths := range p.fields[i] {
			table, err := completeTable(lengths, symbolsOf(f), MaxFieldCode)
			if err != nil {
				return nil, fmt.Errorf("table %d of %s.%s: %w", k, s.Name, f.Name, err)
			}
			tables = append(tables, table)
		}
		coders = append(coders, newCoder(f, p.terms[i], p.classes[i], tables))
	}
	return coders, nil
}

// contextsOf is how many contexts an entity row has: nothing known, and each combination of
// context fields.
func contextsOf(fields []int) int { return 1 + 1<<len(fields) }

func (s Schema) checkContextFields(fields []int) error {
	if len(fields) > MaxContextFields || s.Single && len(fields) > 0 {
		return fmt.Errorf("%d context fields of %s", len(fields), s.Name)
	}
	for i, f := range fields {
		if f < 0 || f >= len(s.Fields) || i > 0 && f <= fields[i-1] {
			return fmt.Errorf("context fields %v of %s's %d fields", fields, s.Name, len(s.Fields))
		}
	}
	return nil
}

// checkClasses wants each of n classes to have a level, and that of LevelUnknown to be 0.
func checkClasses(classes [ErrorLevels]uint8, n int) error {
	var used [MaxClasses]bool
	for _, k := range classes {
		if int(k) >= n || n > MaxClasses {
			return fmt.Errorf("class %d of %d", k, n)
		}
		used[k] = true
	}
	for _, u := range used[:n] {
		if !u || classes[LevelUnknown] != 0 {
			return fmt.Errorf("classes %v, want %d in use and the first to be 0", classes, n)
		}
	}
	return nil
}

// completeTable refuses what the format allows but an encoder must never meet: a symbol without a
// code.
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

// Hash names the codes together with their schema and the codec. It is never 0.
func (m *Model) Hash() uint64 {
	if m.codec == Huffman {
		return m.hash
	}
	return m.codecHash()
}

// Decisions are what the codec Range needs beside; nil for a single row. Do not change it.
func (m *Model) Decisions() *Decisions { return m.decide }

// Masks lists the codes of a single row's masks in the order in which they are sent, or those of an
// entity row by context. Do not change it.
func (m *Model) Masks() []Mask { return m.masks }

// ContextFields lists the fields, at most MaxContextFields, that choose an entity row's context: 0
// if nothing is known, else 1 and 1<<i more for each context field i that was not at LevelExact. Do
// not change it.
func (m *Model) ContextFields() []int { return m.contextFields }

// RestRows is how many rows of half a group must be at rest in their baselines, so that one bit says
// that all of these are as predicted: 1 to GroupHalf, or more if no bit does.
func (m *Model) RestRows() int { return m.restRows }

// GroupHalf is the rows of half a group.
const GroupHalf = 8

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
		if m.schema.Single {
			update += longest
		} else {
			update = max(update, longest)
			spawn = update + GenerationBits + m.spawns.rawBits
		}
	}
	for i := range m.coders {
		update += m.coders[i].MaxBits()
		spawn += int(m.coders[i].Width())
	}
	return max(update, spawn)
}
