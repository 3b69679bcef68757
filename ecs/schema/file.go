package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tickrate/tickrate/compress/huffman"
)

// ErrModel says that bytes are no model of the wanted schema; the error that wraps it says why.
var ErrModel = errors.New("schema: not a usable model")

// magic names the file and its version.
const magic = "TKM1"

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// Append writes the model as a file:
//
//	4  magic     "TKM1"
//	8  schema    hash of the schema
//	1  tables    masks, then fields
//	   lengths   for each table, packed as huffman.AppendLengths does
//	4  checksum  CRC-32C of all before
//
// Numbers are little-endian.
func (m *Model) Append(dst []byte) []byte {
	start := len(dst)
	dst = m.appendBody(dst)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], crcTable))
}

func (m *Model) appendBody(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint64(dst, m.schema.Hash())
	dst = append(dst, byte(len(m.masks)+len(m.coders)))
	for _, mask := range m.masks {
		dst = huffman.AppendLengths(dst, mask.Table.Lengths(nil))
	}
	for i := range m.coders {
		dst = huffman.AppendLengths(dst, m.coders[i].table.Lengths(nil))
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
	tables, rest := int(body[12]), body[13:]
	lengths := make([][]uint8, tables)
	for i := range lengths {
		var err error
		if lengths[i], rest, err = huffman.ParseLengths(rest); err != nil {
			return nil, fmt.Errorf("%w: table %d: %w", ErrModel, i, err)
		}
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the last table", ErrModel, len(rest))
	}
	m, err := newModel(s, lengths)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return m, nil
}
