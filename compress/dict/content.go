package dict

import (
	_ "embed" // the dictionary of maps
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Method is how Pack made a blob small.
type Method uint8

// The methods. Their numbers go over the network.
const (
	Stored  Method = iota // as it is
	Zstd                  // zstd
	Maps                  // zstd with the dictionary of maps
	Methods               // how many there are
)

// String names the method.
func (m Method) String() string {
	if m >= Methods {
		return "?"
	}
	return [...]string{"stored", "zstd", "zstd with the dictionary of maps"}[m]
}

// maps was trained on map files. Both ends have these very bytes, so they never change: better ones
// would be another method. How they are made again, and what they save, is in TestDictionaryOfMaps
// of package server.
//
//go:embed maps.zdict
var maps []byte

// packer returns the encoder of a method. The slowest level would make maps 4 to 11 % smaller; it takes
// 35 MB of tables for each encoder, which stay resident in a process, and four times as long.
func packer(m Method) *zstd.Encoder {
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(packWindow), zstd.WithLowerEncoderMem(true)}
	if m == Maps {
		options = append(options, zstd.WithEncoderDict(maps))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic("dict: packer: " + err.Error()) // a test packs
	}
	return enc
}

// packWindow is how far back Pack searches for repeats.
const packWindow = 1 << 20

// Pack makes a blob as small as it can: the smallest result of any method. It takes 10 to 60 ms for a map
// of 1 to 70 KB: pack before clients wait.
func Pack(blob []byte) (Method, []byte) {
	best, packed := Stored, blob
	for m := Zstd; m < Methods; m++ {
		if p := packer(m).EncodeAll(blob, nil); len(p) < len(packed) {
			best, packed = m, p
		}
	}
	return best, packed
}

// Unpack is the reverse of Pack for a blob that has size bytes. Whatever packed holds, it allocates
// size bytes, and less than UnpackMemory besides. Errors wrap ErrBlob.
func Unpack(m Method, packed []byte, size int) ([]byte, error) {
	switch {
	case size < 0:
		return nil, fmt.Errorf("%w: size %d", ErrBlob, size)
	case m == Stored && len(packed) == size:
		return packed, nil
	case m == Stored:
		return nil, fmt.Errorf("%w: %d bytes, expected %d", ErrBlob, len(packed), size)
	case m >= Methods:
		return nil, fmt.Errorf("%w: method %d", ErrBlob, m)
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(uint64(max(size, packWindow))), zstd.WithDecoderMaxWindow(packWindow)}
	if m == Maps {
		options = append(options, zstd.WithDecoderDicts(maps))
	}
	dec, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("dict: unpacker: %w", err)
	}
	defer dec.Close()
	out, err := dec.DecodeAll(packed, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlob, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("%w: %d bytes, expected %d", ErrBlob, len(out), size)
	}
	return out, nil
}

// UnpackMemory is more than Unpack allocates besides the blob, in bytes.
const UnpackMemory = 2 << 20
