// Package dict packs large blobs: what a client is sent when it joins, maps, replays. Samples of
// such blobs go in and a dictionary comes out; with it a Packer makes blobs smaller and an Unpacker
// restores them. It is zstd throughout, so any tool that has the dictionary can read a packed blob.
package dict

import (
	"errors"
	"fmt"

	zdict "github.com/klauspost/compress/dict"
	"github.com/klauspost/compress/zstd"
)

// ErrBlob says that bytes are no packed blob, or one larger than allowed. ErrRoom says that the
// caller's memory has no room for one that may be fine.
var (
	ErrBlob = errors.New("dict: not a usable blob")
	ErrRoom = errors.New("dict: no room in dst")
)

// unpackError is the error of unpacking a frame into a number of bytes, where limit is the most
// that the blob may have.
func unpackError(err error, frame []byte, room, limit int) error {
	var head zstd.Header
	if room >= limit || !errors.Is(err, zstd.ErrDecoderSizeExceeded) || head.Decode(frame) != nil ||
		head.HasFCS && head.FrameContentSize > uint64(limit) {
		return fmt.Errorf("%w: %w", ErrBlob, err)
	}
	if head.HasFCS {
		return fmt.Errorf("%w: capacity for %d bytes after its contents, want %d", ErrRoom, room, head.FrameContentSize)
	}
	return fmt.Errorf("%w: capacity for %d bytes after its contents, want %d, the most that is unpacked", ErrRoom, room,
		limit)
}

// Train makes a dictionary of about size bytes from samples of at least 8 bytes each. Fewer than 16
// samples, or samples that have nothing in common, give no dictionary: nil, which Packer and
// Unpacker take for none.
func Train(samples [][]byte, size int) []byte {
	if len(samples) < 16 {
		return nil
	}
	d, err := zdict.BuildZstdDict(samples, zdict.Options{
		MaxDictSize: size, HashBytes: 6, ZstdDictID: 1, ZstdLevel: zstd.SpeedBetterCompression})
	if err != nil {
		return nil
	}
	return d
}

// maxWindow is the window that packers announce at most, whatever the blob's size. Nothing of that
// size is allocated.
const maxWindow = 8 << 20

// Packer makes blobs smaller. It may be used by several goroutines.
type Packer struct{ enc *zstd.Encoder }

// NewPacker returns a packer for blobs such as dictionary, which may be nil, was trained on.
func NewPacker(dictionary []byte) (*Packer, error) {
	return newPacker(dictionary, zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
}

// NewFastPacker is NewPacker at a faster level: blobs are a little longer.
func NewFastPacker(dictionary []byte) (*Packer, error) {
	return newPacker(dictionary, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow))
}

func newPacker(dictionary []byte, options ...zstd.EOption) (*Packer, error) {
	options = append(options, zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1))
	if dictionary != nil {
		options = append(options, zstd.WithEncoderDict(dictionary))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("dict: packer: %w", err)
	}
	return &Packer{enc}, nil
}

// Append packs blob and appends it to dst.
func (p *Packer) Append(dst, blob []byte) []byte { return p.enc.EncodeAll(blob, dst) }

// Unpacker restores blobs. It may be used by several goroutines.
type Unpacker struct {
	dec *zstd.Decoder
	max int
}

// NewUnpacker returns an unpacker for blobs of at most maxBytes each, packed with the same
// dictionary.
func NewUnpacker(dictionary []byte, maxBytes int) (*Unpacker, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(uint64(max(maxBytes, maxWindow)))}
	if dictionary != nil {
		options = append(options, zstd.WithDecoderDicts(dictionary))
	}
	dec, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("dict: unpacker: %w", err)
	}
	return &Unpacker{dec, maxBytes}, nil
}

// Into restores a packed blob into the capacity of dst after its contents, which bounds its size
// together with maxBytes, and returns both. Nothing is allocated for the blob: a nil dst has no
// room. Errors wrap ErrBlob, or ErrRoom where more capacity may help.
func (u *Unpacker) Into(dst, packed []byte) ([]byte, error) {
	if room := len(dst) + u.max; cap(dst) > room {
		dst = dst[:len(dst):room]
	}
	out, err := u.dec.DecodeAll(packed, dst)
	if err != nil {
		return dst, unpackError(err, packed, cap(dst)-len(dst), u.max)
	}
	return out, nil
}

// Close frees what the unpacker holds.
func (u *Unpacker) Close() { u.dec.Close() }
