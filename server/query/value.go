package query

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Type is the encoding of a value.
type Type uint8

// The types, as they are numbered on the wire.
const (
	Byte   Type = iota // 1 byte
	Ushort             // 2
	Uint               // 4
	Ulong              // 8
	Text               // 1 length, and as many bytes of UTF-8
	numTypes
)

// MaxText is the longest text, in bytes.
const MaxText = 255

// Value is a number or a text.
type Value struct {
	Type   Type
	Number uint64 // unless Type is Text; clamped to the range of the type
	Text   string // if Type is Text; cut to MaxText bytes
}

// Number returns a value of four bytes; negative numbers become 0.
func Number(n int) Value { return Value{Type: Uint, Number: uint64(max(n, 0))} }

// Words returns a value of text.
func Words(s string) Value { return Value{Type: Text, Text: s} }

// String is the value as people read it.
func (v Value) String() string {
	if v.Type == Text {
		return v.Text
	}
	return strconv.FormatUint(v.Number, 10)
}

// MarshalJSON writes a number or a string.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Type == Text {
		return json.Marshal(v.Text)
	}
	return strconv.AppendUint(nil, v.Number, 10), nil
}

// size is how many bytes append writes.
func (v Value) size() int {
	if v.Type == Text {
		return 1 + len(cut(v.Text))
	}
	return 1 << v.Type
}

func (v Value) append(dst []byte) []byte {
	switch v.Type {
	case Byte:
		return append(dst, byte(min(v.Number, 1<<8-1)))
	case Ushort:
		return binary.BigEndian.AppendUint16(dst, uint16(min(v.Number, 1<<16-1)))
	case Uint:
		return binary.BigEndian.AppendUint32(dst, uint32(min(v.Number, 1<<32-1)))
	case Ulong:
		return binary.BigEndian.AppendUint64(dst, v.Number)
	}
	return appendText(dst, v.Text)
}

// parse reads a value of v.Type.
func (v *Value) parse(src []byte) (rest []byte, err error) {
	if v.Type == Text {
		v.Text, rest, err = parseText(src)
		return rest, err
	}
	if v.Type >= numTypes || len(src) < 1<<v.Type {
		return nil, ErrMalformed
	}
	switch v.Type {
	case Byte:
		v.Number = uint64(src[0])
	case Ushort:
		v.Number = uint64(binary.BigEndian.Uint16(src))
	case Uint:
		v.Number = uint64(binary.BigEndian.Uint32(src))
	case Ulong:
		v.Number = binary.BigEndian.Uint64(src)
	}
	return src[1<<v.Type:], nil
}

func appendText(dst []byte, s string) []byte {
	s = cut(s)
	return append(append(dst, byte(len(s))), s...)
}

// parseText refuses invalid UTF-8. Callers that show a text must handle control characters.
func parseText(src []byte) (s string, rest []byte, err error) {
	if len(src) < 1 || len(src) < 1+int(src[0]) || !utf8.Valid(src[1:1+src[0]]) {
		return "", nil, ErrMalformed
	}
	n := 1 + int(src[0])
	return string(src[1:n]), src[n:], nil
}

// cut shortens a text to MaxText bytes, not within a rune.
func cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	n := MaxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
