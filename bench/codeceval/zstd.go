package codeceval

import (
	"github.com/tickrate/tickrate/bench/codeceval/rows"
	"github.com/tickrate/tickrate/compress/dict"
)

// zstdFrame is Stored, packed as a blob.
type zstdFrame struct {
	stored *Stored
	pack   *dict.Packer
	unpack *dict.Unpacker
	blob   []byte
}

// maxStored is the most that Stored makes of a row, by field.
const maxStored = 5 + 10

func newZstd(fields int, dictionary []byte) (*zstdFrame, error) {
	pack, err := dict.NewPacker(dictionary)
	if err != nil {
		return nil, err
	}
	unpack, err := dict.NewUnpacker(dictionary, 1<<24)
	if err != nil {
		return nil, err
	}
	return &zstdFrame{stored: NewStored(fields), pack: pack, unpack: unpack}, nil
}

func (c *zstdFrame) Append(dst []byte, frame []int32, past *rows.Past, live []bool) []byte {
	c.blob = c.stored.Append(c.blob[:0], frame, past, live)
	return c.pack.Append(dst, c.blob)
}

func (c *zstdFrame) Decode(src []byte, frame []int32, past *rows.Past, live []bool) error {
	if room := len(frame)*maxStored + 64; cap(c.blob) < room {
		c.blob = make([]byte, 0, room)
	}
	blob, err := c.unpack.Into(c.blob[:0], src)
	if err != nil {
		return err
	}
	return c.stored.Decode(blob, frame, past, live)
}
