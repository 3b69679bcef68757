package schema

import "fmt"

// Codec is how rows become bits with a model. Both ends must use the same; a model's hash names
// it.
type Codec uint8

// The codecs.
const (
	Huffman Codec = iota // static codes, whatever is sent
	// Static decisions in a range coder for whole groups with a baseline; else as Huffman.
	Range
	Stored // rows as they are, against nothing
	Codecs // how many there are
)

var codecNames = [Codecs]string{"huffman", "range", "stored"}

// String returns the word that flags use.
func (c Codec) String() string {
	if c < Codecs {
		return codecNames[c]
	}
	return "?"
}

// ParseCodec is the reverse of String. Its error lists the codecs.
func ParseCodec(s string) (Codec, error) {
	n, err := word(s, codecNames[:])
	if err != nil {
		return 0, fmt.Errorf("codec %q: %w", s, err)
	}
	return Codec(n), nil
}

// With returns the model for a codec. That of Huffman has the hash of the file.
func (m *Model) With(c Codec) *Model {
	if c >= Codecs {
		panic("schema: no such codec")
	}
	other := *m
	other.codec = c
	return &other
}

// Codec is what the model codes with.
func (m *Model) Codec() Codec { return m.codec }
