package pvs

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// A table on disk, little-endian:
//
//	16  "tickrate sight 1"
//	32  hash of the arena
//	4   MinX, then MinZ, Cell, LookAhead, Speed, Climb     float32
//	4   Wide, then Deep, Effort, number of Levels          uint32
//	4   each of the Levels                                 float32
//	4   each cell: height of its lowest ground             float32
//	8   each word of the bits
//	32  SHA-256 of all above
const magic = "tickrate sight 1"

const fixedBytes = len(magic) + 32 + 10*4

// Errors of Load.
var (
	ErrFormat   = errors.New("pvs: not a table, or cut short")
	ErrChecksum = errors.New("pvs: the table's checksum is wrong")
	ErrArena    = errors.New("pvs: the table is another arena's")
)

// AppendBinary appends the table in the form that Load reads. It never fails.
func (t *Table) AppendBinary(dst []byte) ([]byte, error) {
	begin, le := len(dst), binary.LittleEndian
	dst = append(dst, magic...)
	dst = append(dst, t.arena[:]...)
	c := &t.c
	for _, v := range [...]float32{c.MinX, c.MinZ, c.Cell, c.LookAhead, c.Speed, c.Climb} {
		dst = le.AppendUint32(dst, math.Float32bits(v))
	}
	for _, v := range [...]int{c.Wide, c.Deep, c.Effort, len(c.Levels)} {
		dst = le.AppendUint32(dst, uint32(v))
	}
	for _, floats := range [...][]float32{c.Levels, t.floor} {
		for _, v := range floats {
			dst = le.AppendUint32(dst, math.Float32bits(v))
		}
	}
	for _, w := range t.bits {
		dst = le.AppendUint64(dst, w)
	}
	sum := sha256.Sum256(dst[begin:])
	return append(dst, sum[:]...), nil
}

// Load reads what AppendBinary wrote for the arena of that hash. It allocates at most maxBytes for
// the bits, 0 meaning DefaultMaxBytes, and no more than a few times what src holds. The table
// shares no memory with src.
func Load(src []byte, arena [32]byte, maxBytes int) (*Table, error) {
	le := binary.LittleEndian
	if len(src) < fixedBytes+32 || string(src[:len(magic)]) != magic {
		return nil, ErrFormat
	}
	body, sum := src[:len(src)-32], src[len(src)-32:]
	if sha256.Sum256(body) != [32]byte(sum) {
		return nil, ErrChecksum
	}
	rest := body[len(magic):]
	if [32]byte(rest) != arena {
		return nil, ErrArena
	}
	rest = rest[32:]
	word := func() (v uint32) { v, rest = le.Uint32(rest), rest[4:]; return v }
	float := func() float32 { return math.Float32frombits(word()) }
	c := Config{MaxBytes: maxBytes}
	for _, p := range [...]*float32{&c.MinX, &c.MinZ, &c.Cell, &c.LookAhead, &c.Speed, &c.Climb} {
		*p = float()
	}
	for _, p := range [...]*int{&c.Wide, &c.Deep, &c.Effort} {
		*p = int(int32(word()))
	}
	levels := word()
	if levels > MaxLevels || len(rest) < int(levels)*4 {
		return nil, ErrFormat
	}
	c.Levels = make([]float32, levels)
	for i := range c.Levels {
		c.Levels[i] = float()
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(rest) != c.cells()*4+c.bytes() {
		return nil, ErrFormat
	}
	t := newTable(c, arena)
	for i := range t.floor {
		t.floor[i] = float()
	}
	for i := range t.bits {
		t.bits[i] = le.Uint64(rest[i*8:])
	}
	if !t.valid() {
		return nil, ErrFormat
	}
	return t, nil
}

// valid reports whether the bits are a table's: symmetric, none beyond the last node, and every
// cell sees itself.
func (t *Table) valid() bool {
	nodes := t.c.cells() * t.c.levels()
	for x := range nodes {
		row := t.bits[x*t.words : (x+1)*t.words]
		if tail := nodes & 63; tail != 0 && row[len(row)-1]>>tail != 0 || !t.get(x, x) {
			return false
		}
		for i, w := range row {
			for ; w != 0; w &= w - 1 {
				if !t.get(i*64+bits.TrailingZeros64(w), x) {
					return false
				}
			}
		}
	}
	return true
}
