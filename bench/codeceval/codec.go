package codeceval

import (
	"fmt"
	"strings"

	"github.com/tickrate/tickrate/bench/codeceval/rows"
)

// Codec turns frames into messages and back. Each message decodes alone, given the same Past. A
// Codec has memory of its own and is not safe for concurrent use; two of the same name and model
// understand each other.
type Codec interface {
	// Append codes a frame, row after row as in Past.Frames, against past, and appends the message
	// to dst. live says which rows count, nil for all; the receiver must know it.
	Append(dst []byte, frame []int32, past *rows.Past, live []bool) []byte
	// Decode fills the live rows of frame from one message. Messages may be hostile: it returns an
	// error or fills the frame with something, in time bounded by the frame's size.
	Decode(src []byte, frame []int32, past *rows.Past, live []bool) error
}

// Names lists the codecs there are, the plainest first.
var Names = []string{"stored", "huffman", "range", "zstd"}

// New returns the codec of that name. dictionary is for zstd alone, and may be nil.
func New(name string, m *rows.Model, dictionary []byte) (Codec, error) {
	switch name {
	case "stored":
		return NewStored(len(m.Schema().Fields)), nil
	case "huffman":
		return rows.NewHuffman(m), nil
	case "range":
		return rows.NewRange(m), nil
	case "zstd":
		return newZstd(len(m.Schema().Fields), dictionary)
	default:
		return nil, fmt.Errorf("codeceval: codec %q: expected one of %s", name, strings.Join(Names, ", "))
	}
}
