package dict

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Bounds of blocks and of their dictionaries, in bytes.
const (
	MaxBlock           = 2 << 10  // one block before it is packed
	MaxBlockDictionary = 16 << 10 // its dictionary
)

const (
	blockID     = 1        // id of every dictionary of blocks
	blockWindow = 32 << 10 // reaches from the end of a block to the start of the dictionary
	// In a frame's header: the descriptor that says that an id of one byte follows, and the
	// window of 4 KiB that holds any block.
	withID     = 1
	windowByte = 2 << 3
	blockHead  = 3 // bytes in front of a block: last<<0 | type<<1 | size<<3, little-endian
	compressed = 2 // the type that is sent
)

// frameMagic opens a zstd frame.
const frameMagic = "\x28\xb5\x2f\xfd"

// Blocks codes small blocks, each by itself, with one dictionary. What goes over the network is the
// content of one compressed zstd block: the header of the frame and of the block are the same for
// all and are left out. Blocks may be shared by goroutines; packers and unpackers may not.
type Blocks struct {
	dictionary []byte
	dec        *zstd.Decoder
	head       []byte // of every frame
}

// NewBlocks returns the coder for a dictionary of TrainBlocks, or for none if it is nil. The
// dictionary may come from a server: errors wrap ErrBlob and say what is wrong with it.
func NewBlocks(dictionary []byte) (*Blocks, error) {
	b := &Blocks{dictionary: dictionary, head: append([]byte(frameMagic), 0, windowByte)}
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(blockWindow), zstd.WithDecoderMaxMemory(blockWindow),
	}
	if dictionary != nil {
		if err := checkBlockDictionary(dictionary); err != nil {
			return nil, err
		}
		b.head[len(frameMagic)] = withID
		b.head = append(b.head, blockID)
		options = append(options, zstd.WithDecoderDicts(dictionary))
	}
	dec, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: dictionary of blocks: %w", ErrBlob, err)
	}
	b.dec = dec
	return b, nil
}

// checkBlockDictionary refuses what is no dictionary of TrainBlocks.
func checkBlockDictionary(dictionary []byte) error {
	if len(dictionary) > MaxBlockDictionary {
		return fmt.Errorf("%w: dictionary of %d bytes, expected at most %d", ErrBlob, len(dictionary),
			MaxBlockDictionary)
	}
	d, err := zstd.InspectDictionary(dictionary)
	if err != nil {
		return fmt.Errorf("%w: dictionary of blocks: %w", ErrBlob, err)
	}
	if d.ID() != blockID {
		return fmt.Errorf("%w: dictionary has id %d, expected %d", ErrBlob, d.ID(), blockID)
	}
	return nil
}

// Dictionary is what NewBlocks got. It must not be changed.
func (b *Blocks) Dictionary() []byte { return b.dictionary }

// BlockPacker makes blocks smaller. It takes about 0.7 MB and allocates nothing after its first
// block.
type BlockPacker struct {
	enc   *zstd.Encoder
	frame []byte
}

// NewPacker returns a packer.
func (b *Blocks) NewPacker() *BlockPacker {
	options := []zstd.EOption{
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(blockWindow), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(false),
		zstd.WithAllLitEntropyCompression(true),
	}
	if b.dictionary != nil {
		options = append(options, zstd.WithEncoderDict(b.dictionary))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic("dict: block packer: " + err.Error()) // NewBlocks has checked the dictionary
	}
	p := &BlockPacker{enc: enc, frame: make([]byte, 0, enc.MaxEncodedSize(MaxBlock))}
	p.frame = enc.EncodeAll(make([]byte, MaxBlock), p.frame) // allocates
	return p
}

// Append packs a block of at most MaxBlock bytes and appends it to dst. ok is false, and dst is as
// it was, if zstd does not make it smaller.
func (p *BlockPacker) Append(dst, block []byte) (out []byte, ok bool) {
	if len(block) > MaxBlock {
		return dst, false
	}
	p.frame = p.enc.EncodeAll(block, p.frame[:0])
	rest := p.frame[min(frameHead(p.frame), len(p.frame)):]
	if len(rest) <= blockHead {
		return dst, false
	}
	header := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16
	if header != blockHeader(len(rest)-blockHead) { // several blocks, or one that is not compressed
		return dst, false
	}
	return append(dst, rest[blockHead:]...), true
}

// frameHead is the size of the header of a frame that is no single segment.
func frameHead(frame []byte) int {
	if len(frame) <= len(frameMagic) {
		return len(frame)
	}
	descriptor := frame[len(frameMagic)]
	n := len(frameMagic) + 2
	if descriptor&3 != 0 {
		n++
	}
	if size := descriptor >> 6; size != 0 {
		n += 1 << size
	}
	return n
}

// blockHeader is the header of the last block of a frame, compressed to n bytes.
func blockHeader(n int) uint32 { return 1 | compressed<<1 | uint32(n)<<3 }

// BlockUnpacker restores blocks. It allocates MaxBlock bytes and no more, whatever it reads.
type BlockUnpacker struct {
	blocks *Blocks
	frame  []byte
	head   int // bytes of frame in front of a block's header
}

// NewUnpacker returns an unpacker.
func (b *Blocks) NewUnpacker() *BlockUnpacker {
	u := &BlockUnpacker{blocks: b, frame: make([]byte, 0, len(b.head)+blockHead+MaxBlock), head: len(b.head)}
	u.frame = append(u.frame, b.head...)
	return u
}

// Into restores a packed block into the capacity of dst after its contents, which bounds its size.
// Errors wrap ErrBlob, or ErrRoom where more capacity, up to MaxBlock, may help; then dst is as it
// was.
func (u *BlockUnpacker) Into(dst, packed []byte) ([]byte, error) {
	if len(packed) > MaxBlock {
		return dst, fmt.Errorf("%w: packed block of %d bytes, want at most %d", ErrBlob, len(packed), MaxBlock)
	}
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], blockHeader(len(packed)))
	frame := append(append(u.frame[:u.head], head[:blockHead]...), packed...)
	out, err := u.blocks.dec.DecodeAll(frame, dst)
	if err != nil {
		return dst, unpackError(err, frame, cap(dst)-len(dst), MaxBlock)
	}
	return out, nil
}

// TrainBlocks makes a dictionary of at most about size bytes from samples of blocks. It is the same
// for the same samples. Samples that have nothing in common give nil, which NewBlocks takes for no
// dictionary.
func TrainBlocks(samples [][]byte, size int) []byte {
	content := make([]byte, 0, size)
	for i := 0; len(samples) > 0 && len(content) < size && i < len(samples); i++ {
		s := samples[len(samples)*(i%64)/64+i/64%max(1, len(samples)/64)]
		content = append(content, s[:min(len(s), size-len(content))]...)
	}
	d, err := zstd.BuildDict(zstd.BuildDictOptions{ID: blockID, Contents: samples, History: content,
		Offsets: [3]int{1, 4, 8}, Level: zstd.SpeedFastest})
	if err != nil {
		return nil
	}
	return d
}
