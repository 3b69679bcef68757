package schema

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/tickrate/tickrate/compress/dict"
)

// Codec is how rows become bits with a model. Both ends must use the same; a model's hash names
// it.
type Codec uint8

// The codecs.
const (
	Huffman Codec = iota // static codes, whatever is sent
	// Static decisions in a range coder for whole groups with a baseline; else as Huffman.
	Range
	Stored      // rows as they are, against nothing
	Zstd        // zstd with a trained dictionary for whole groups; else as Huffman
	HuffmanZstd // zstd for whole groups without a baseline; else as Huffman
	Codecs      // how many there are
)

var codecNames = [Codecs]string{"huffman", "range", "stored", "zstd", "huffman-zstd"}

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
		panic(fmt.Sprintf("schema: codec %d, want 0 to %d", c, Codecs-1))
	}
	other := *m
	if other.codec = c; c.Packs() && other.dicts == nil {
		other.dicts = noDictionaries()
	}
	return &other
}

// Packs reports whether the codec packs blocks by zstd.
func (c Codec) Packs() bool { return c == Zstd || c == HuffmanZstd }

// Dictionaries prime zstd for blocks that have a baseline, and for blocks that have none. They are
// shared by all models that are made from one.
type Dictionaries struct {
	Delta, Spawn *dict.Blocks
	hash         uint64
}

// noDictionaries leaves zstd without priming.
var noDictionaries = sync.OnceValue(func() *Dictionaries {
	d, err := NewDictionaries(nil, nil)
	if err != nil {
		panic("schema: " + err.Error()) // an empty dictionary is always usable
	}
	return d
})

// NewDictionaries returns the dictionaries of dict.TrainBlocks; nil is none. The error says which
// is not usable and why.
func NewDictionaries(delta, spawn []byte) (*Dictionaries, error) {
	d, h := &Dictionaries{}, fnvStart
	for _, part := range []struct {
		name  string
		bytes []byte
		into  **dict.Blocks
	}{{"deltas", delta, &d.Delta}, {"spawns", spawn, &d.Spawn}} {
		blocks, err := dict.NewBlocks(part.bytes)
		if err != nil {
			return nil, fmt.Errorf("dictionary of %s: %w", part.name, err)
		}
		*part.into = blocks
		h = h.number(int32(len(part.bytes))).bytes(part.bytes)
	}
	d.hash = uint64(h)
	return d, nil
}

// WithDictionaries returns the model with dictionaries for the codecs that pack by zstd. They are
// part of the hash of such a model, and of no other.
func (m *Model) WithDictionaries(d *Dictionaries) *Model {
	other := *m
	other.dicts = d
	return &other
}

// Dictionaries are those of WithDictionaries; nil: none, and the codec does not pack.
func (m *Model) Dictionaries() *Dictionaries { return m.dicts }

// codecHash continues the hash of a file for the codec.
func (m *Model) codecHash() uint64 {
	h := fnv(m.hash).byte(byte(m.codec))
	if m.codec.Packs() {
		h = h.bytes(binary.LittleEndian.AppendUint64(nil, m.dicts.hash))
	}
	return max(uint64(h), 1)
}

// Codec is what the model codes with.
func (m *Model) Codec() Codec { return m.codec }
