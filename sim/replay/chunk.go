package replay

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Limits of a chunk, in ticks and bytes, far above those of a match of MaxSlots players.
const (
	MaxChunkTicks = 4096
	MaxKey        = 16 << 20
	MaxLog        = 64 << 20
)

// Chunk is a piece of a recording: a state of the match, and its inputs for some ticks.
//
//	4   "tick"
//	4   first      tick that is played first
//	2   ticks      1 to 4096
//	1   method     0 stored, 1 zstd with the dictionary of replays
//	4   key bytes  of the state after tick first-1; 0: the chunk before leads to it
//	4   key packed
//	4   log bytes
//	4   log packed
//	    key, packed
//	    log, packed
//	4   CRC-32C of all before
type Chunk struct {
	First tick.Tick
	Ticks int
	Key   []byte // as sim.Match.Save writes it
	Log   []byte
}

const (
	chunkMagic = "tick"
	chunkHead  = 4 + 4 + 2 + 1 + 4*4
)

// Last is the last tick of a chunk.
func (c *Chunk) Last() tick.Tick { return c.First + tick.Tick(c.Ticks) - 1 }

// Packer compresses chunks. It is for one goroutine at a time.
type Packer struct{ zstd *dict.Packer }

// NewPacker returns a packer with the dictionary of replays. It takes some megabytes.
func NewPacker() *Packer {
	z, err := dict.NewPacker(dict.ReplayDictionary())
	if err != nil {
		panic("replay: " + err.Error()) // a test packs
	}
	return &Packer{z}
}

// NewFastPacker is NewPacker for use during a tick: less compression in less time.
func NewFastPacker() *Packer {
	z, err := dict.NewFastPacker(dict.ReplayDictionary())
	if err != nil {
		panic("replay: " + err.Error()) // a test packs
	}
	return &Packer{z}
}

// packed is a chunk whose key and log are compressed apart.
type packed struct {
	first  tick.Tick
	ticks  int
	method byte
	raw    [2]int
	pieces [2][]byte
}

// pack compresses a chunk; a nil p stores it, in the chunk's own memory.
func (p *Packer) pack(c *Chunk) packed {
	k := packed{first: c.First, ticks: c.Ticks, raw: [2]int{len(c.Key), len(c.Log)},
		pieces: [2][]byte{c.Key, c.Log}}
	if p == nil {
		return k
	}
	k.method = 1
	for i, raw := range k.pieces {
		if len(raw) > 0 {
			k.pieces[i] = p.zstd.Append(nil, raw)
		}
	}
	return k
}

// withoutKey is k without its key.
func (k packed) withoutKey() packed {
	k.raw[0], k.pieces[0] = 0, nil
	return k
}

// append appends the chunk with its head and checksum.
func (k *packed) append(dst []byte) []byte {
	start := len(dst)
	le := binary.LittleEndian
	dst = append(dst, chunkMagic...)
	dst = le.AppendUint16(le.AppendUint32(dst, uint32(k.first)), uint16(k.ticks))
	dst = append(dst, k.method)
	for i := range k.pieces {
		dst = le.AppendUint32(le.AppendUint32(dst, uint32(k.raw[i])), uint32(len(k.pieces[i])))
	}
	dst = append(append(dst, k.pieces[0]...), k.pieces[1]...)
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// Append appends a chunk, compressed; a nil p stores it.
func (p *Packer) Append(dst []byte, c *Chunk) []byte {
	k := p.pack(c)
	return k.append(dst)
}

// Reader reads a recording piece by piece. It is for one goroutine at a time.
type Reader struct {
	Head Head
	// most bytes of all chunks together, uncompressed; 0: limited only by MaxKey and MaxLog each
	Limit  int
	End    Ending    // how the recording ends, once Next returns io.EOF
	last   tick.Tick // of the chunks so far
	used   int
	src    io.Reader
	at     int64 // of the next byte
	unpack [2]*dict.Unpacker
	err    error
}

// NewReader reads the head of a recording. Errors wrap ErrFormat, or are those of src.
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{src: src}
	start := make([]byte, headStart, 1024)
	if err := r.read(start, "a recording's head"); err != nil {
		return nil, err
	}
	if string(start[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: at byte 0: begins with %q, expected %q", ErrFormat, start[:len(magic)],
			magic)
	}
	if start[len(magic)] != Version {
		return nil, fmt.Errorf("%w: at byte 4: version %d, expected %d", ErrFormat, start[len(magic)],
			Version)
	}
	body := make([]byte, int(binary.LittleEndian.Uint16(start[len(magic)+1:]))+4)
	if err := r.read(body, "a recording's head"); err != nil {
		return nil, err
	}
	body, sum := body[:len(body)-4], binary.LittleEndian.Uint32(body[len(body)-4:])
	if got := crc32.Update(crc32.Checksum(start, castagnoli), castagnoli, body); got != sum {
		return nil, fmt.Errorf("%w: at byte 0: checksum of the head %08x, expected %08x", ErrFormat, got, sum)
	}
	if err := r.Head.parse(body); err != nil {
		return nil, fmt.Errorf("head at byte 0: %w", err)
	}
	var err error
	for i, most := range [2]int{MaxKey, MaxLog} {
		if r.unpack[i], err = dict.NewUnpacker(dict.ReplayDictionary(), most); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Close frees what the reader holds. It does not close the source.
func (r *Reader) Close() {
	for _, u := range r.unpack {
		u.Close()
	}
}

// Offset is where in the recording the next piece begins, in bytes.
func (r *Reader) Offset() int64 { return r.at }

// read fills b. If the recording ends within, the error wraps ErrFormat and says where, and what
// was expected there.
func (r *Reader) read(b []byte, what string) error {
	n, err := io.ReadFull(r.src, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return fmt.Errorf("%w: ends at byte %d: expected %d bytes more of %s, which begins at byte %d",
			ErrFormat, r.at+int64(n), len(b)-n, what, r.at)
	}
	r.at += int64(n)
	return err
}

// Next reads the next chunk. io.EOF means that there are no more; other errors wrap ErrFormat and
// name the place, or are the source's. No chunk follows an error.
func (r *Reader) Next() (*Chunk, error) {
	if r.err != nil {
		return nil, r.err
	}
	c, err := r.next()
	r.err = err
	return c, err
}

// next reads the head of a chunk, checks its sizes, reads and checks its body, and unpacks both.
func (r *Reader) next() (*Chunk, error) {
	start := r.at
	var head [chunkHead]byte
	if err := r.readHead(&head); err != nil {
		return nil, err
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: chunk at byte %d: %s", ErrFormat, start, fmt.Sprintf(format, args...))
	}
	if string(head[:4]) != chunkMagic {
		return nil, wrong("begins with %q, expected %q", head[:4], chunkMagic)
	}
	h := parseChunkHead(&head)
	if problem := h.check(r.Limit, r.used); problem != "" {
		return nil, wrong("%s", problem)
	}
	r.used += int(h.raw[0]) + int(h.raw[1])
	body, err := r.body(int(h.packed[0])+int(h.packed[1])+4, start)
	if err != nil {
		return nil, err
	}
	body, sum := body[:len(body)-4], binary.LittleEndian.Uint32(body[len(body)-4:])
	if got := crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, body); got != sum {
		return nil, wrong("checksum %08x, expected %08x", got, sum)
	}
	c := &Chunk{First: h.first, Ticks: h.ticks}
	if c.Key, err = r.unpackPiece(&h, 0, body[:h.packed[0]]); err != nil {
		return nil, wrong("%v", err)
	}
	if c.Log, err = r.unpackPiece(&h, 1, body[h.packed[0]:]); err != nil {
		return nil, wrong("%v", err)
	}
	r.last = c.Last()
	return c, nil
}

// readHead reads the head of the next chunk. It returns io.EOF at the end of the recording, and
// sets End if a footer stands there.
func (r *Reader) readHead(head *[chunkHead]byte) error {
	n, err := io.ReadFull(r.src, head[:])
	switch {
	case err == io.ErrUnexpectedEOF && n == footerSize && string(head[:4]) == footerMagic:
		if r.End, err = footer(head[:n], r.last); err != nil {
			return fmt.Errorf("%w: footer at byte %d: %w", ErrFormat, r.at, err)
		}
		r.at += footerSize
		return io.EOF
	case err == io.ErrUnexpectedEOF:
		return fmt.Errorf("%w: ends at byte %d: expected %d bytes more of a chunk's head, which begins "+
			"at byte %d", ErrFormat, r.at+int64(n), chunkHead-n, r.at)
	case err != nil:
		return err
	}
	r.at += chunkHead
	return nil
}

// chunkHeader is the fixed part of a chunk; index 0 of an array is the key, 1 the log.
type chunkHeader struct {
	first       tick.Tick
	ticks       int
	method      byte
	raw, packed [2]uint32 // bytes before and after compression
}

// parseChunkHead reads the fields of a head; check validates them.
func parseChunkHead(head *[chunkHead]byte) chunkHeader {
	le := binary.LittleEndian
	return chunkHeader{
		first: tick.Tick(le.Uint32(head[4:])), ticks: int(le.Uint16(head[8:])), method: head[10],
		raw:    [2]uint32{le.Uint32(head[11:]), le.Uint32(head[19:])},
		packed: [2]uint32{le.Uint32(head[15:]), le.Uint32(head[23:])},
	}
}

// check describes what is out of range, "" if nothing is. limit is Reader.Limit, used the bytes
// that earlier chunks took of it.
func (h *chunkHeader) check(limit, used int) string {
	raw, packed := h.raw, h.packed
	switch {
	case h.first == 0 || h.first >= 1<<31:
		return fmt.Sprintf("first tick %d", h.first)
	case h.ticks < 1 || h.ticks > MaxChunkTicks:
		return fmt.Sprintf("%d ticks, expected 1 to %d", h.ticks, MaxChunkTicks)
	case raw[0] > MaxKey || raw[1] > MaxLog || packed[0] > MaxKey || packed[1] > MaxLog:
		return fmt.Sprintf("sizes %d and %d, packed %d and %d: expected at most %d and %d", raw[0], raw[1],
			packed[0], packed[1], MaxKey, MaxLog)
	case limit > 0 && int64(raw[0])+int64(raw[1]) > int64(limit-used):
		return fmt.Sprintf("%d bytes unpacked, expected at most %d of all chunks", raw[0]+raw[1], limit)
	case h.method > 1 || h.method == 0 && raw != packed:
		return fmt.Sprintf("method %d", h.method)
	}
	return ""
}

// unpackPiece returns the key (i = 0) or the log (i = 1) of a chunk, uncompressed.
func (r *Reader) unpackPiece(h *chunkHeader, i int, piece []byte) (raw []byte, err error) {
	if h.method == 1 && len(piece) > 0 {
		if piece, err = r.unpack[i].Into(make([]byte, 0, h.raw[i]), piece); err != nil {
			return nil, err
		}
	}
	if len(piece) != int(h.raw[i]) {
		return nil, fmt.Errorf("%d bytes unpacked, expected %d", len(piece), h.raw[i])
	}
	return piece, nil
}

// body reads n bytes, a megabyte at a time, so that a false length costs no memory.
func (r *Reader) body(n int, start int64) (b []byte, err error) {
	for len(b) < n && err == nil {
		step := min(n-len(b), 1<<20)
		b = append(b, make([]byte, step)...)
		err = r.read(b[len(b)-step:], fmt.Sprintf("the chunk at byte %d", start))
	}
	return b, err
}
