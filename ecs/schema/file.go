package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/tickrate/tickrate/compress/huffman"
)

// ErrModel says that bytes are no model of the expected schema. The error that wraps it gives the
// reason.
var ErrModel = errors.New("schema: not a usable model")

// magic names the file and its version.
const magic = "TKM4"

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// Append writes the model as a file:
//
//	4  magic     "TKM4"
//	8  schema    hash of the schema
//	1  context fields   how many; and each, a field
//	1  rest      rows of half a group, as RestRows; 9 for none
//	   masks     for each context, or each part of a single row: its table
//	   fields    for each field: terms, 3 bytes each after their number · 4 classes, 2 bits a level ·
//	             for each class its table
//	   new rows  of entity rows: a table of masks; and fields as above, without terms
//	   decisions of entity rows, a byte each: spawn, leave; for each field: two features,
//	             255 for none; how many leaves; the leaf for each level, state of the first feature,
//	             and of the second; 39 nodes a leaf
//	4  checksum  CRC-32C of all before
//
// Numbers are little-endian, tables packed as huffman.AppendLengths does.
func (m *Model) Append(dst []byte) []byte {
	start := len(dst)
	dst = m.appendBody(dst)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], crcTable))
}

func (m *Model) appendBody(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint64(dst, m.schema.Hash())
	dst = append(dst, byte(len(m.contextFields)))
	for _, f := range m.contextFields {
		dst = append(dst, byte(f))
	}
	dst = append(dst, byte(m.restRows))
	for _, mask := range m.masks {
		dst = huffman.AppendLengths(dst, mask.Table.Lengths(nil))
	}
	dst = appendCoders(dst, m.coders)
	if m.spawns != nil {
		dst = huffman.AppendLengths(dst, m.spawns.Mask.Table.Lengths(nil))
		dst = appendCoders(dst, m.spawns.Coders)
	}
	return append(dst, m.raw...)
}

func appendCoders(dst []byte, coders []Coder) []byte {
	for i := range coders {
		c := &coders[i]
		dst = appendTerms(dst, c.terms)
		word := uint32(0)
		for level, k := range c.classes {
			word |= uint32(k) << (2 * level)
		}
		dst = binary.LittleEndian.AppendUint32(dst, word)
		for _, t := range c.tables {
			if t != nil {
				dst = huffman.AppendLengths(dst, t.Lengths(nil))
			}
		}
	}
	return dst
}

// ParseModel reads a file of exactly one model of s. Errors wrap ErrModel and say what is wrong.
func ParseModel(src []byte, s Schema) (*Model, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(src) < len(magic)+8+1+4 || string(src[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: %d bytes that do not begin with %q", ErrModel, len(src), magic)
	}
	body, sum := src[:len(src)-4], binary.LittleEndian.Uint32(src[len(src)-4:])
	if got := crc32.Checksum(body, crcTable); got != sum {
		return nil, fmt.Errorf("%w: checksum %08x, want %08x: damaged or cut short", ErrModel, got, sum)
	}
	if got := binary.LittleEndian.Uint64(body[4:]); got != s.Hash() {
		return nil, fmt.Errorf("%w: made for schema %016x, want %016x (%s)", ErrModel, got, s.Hash(), s.Name)
	}
	p, rest, err := parsePlan(body[12:], s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the last table", ErrModel, len(rest))
	}
	m, err := newModel(s, p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return m, nil
}

// parsePlan reads what lies between a file's schema and its checksum.
func parsePlan(src []byte, s Schema) (p modelPlan, rest []byte, err error) {
	n := int(src[0])
	if src = src[1:]; n > MaxContextFields || n >= len(src) {
		return p, nil, fmt.Errorf("%d context fields", n)
	}
	for _, f := range src[:n] {
		p.contextFields = append(p.contextFields, int(f))
	}
	p.restRows, rest = int(src[n]), src[n+1:]
	rest, err = p.parseTables(rest, s, len(shape(s, contextsOf(p.contextFields))))
	if err != nil || s.Single {
		return p, rest, err
	}
	p.spawns = &modelPlan{}
	if rest, err = p.spawns.parseTables(rest, s, 1); err != nil {
		return p, nil, fmt.Errorf("new rows: %w", err)
	}
	p.raw = slices.Clone(rest)
	return p, nil, nil
}

// parseTables reads tables of masks and of the fields, and returns what follows.
func (p *modelPlan) parseTables(rest []byte, s Schema, masks int) (_ []byte, err error) {
	table := func() (lengths []uint8) {
		if err == nil {
			lengths, rest, err = huffman.ParseLengths(rest)
		}
		return lengths
	}
	for range masks {
		p.masks = append(p.masks, table())
	}
	for range s.Fields {
		terms, more, err2 := parseTerms(rest)
		if err = errors.Join(err, err2); err != nil {
			return nil, err
		}
		p.terms, rest = append(p.terms, terms), more
		if len(rest) < 4 {
			return nil, errors.New("cut short")
		}
		word := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		var classes [ErrorLevels]uint8
		var tables [][]uint8
		for level := range classes {
			classes[level] = uint8(word >> (2 * level) & (MaxClasses - 1))
		}
		for range slices.Max(classes[:]) + 1 {
			tables = append(tables, table())
		}
		p.classes, p.fields = append(p.classes, classes), append(p.fields, tables)
	}
	return rest, err
}
