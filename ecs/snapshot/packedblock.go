package snapshot

import (
	"encoding/binary"
	"math/bits"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// A packed block is a group as columns of bytes, which zstd makes smaller:
//
//	1  size     0: all as predicted, or all empty; nothing follows
//	            1 to 252, or 253 and size - 253 in a second byte: of the content
//	            254: the columns follow as they are, as zstd does not make them smaller
//	            255: a block of Huffman codes follows, as columns would be longer than any
//	n  content  of one compressed zstd block
//
// The columns, which end by themselves:
//
//	1   ids          only with a baseline; 0: as in the newest one, and no generations follow
//	16  generations  by slot; 0: empty
//	    if any row stays:
//	2   fields       bit f: field f of some row that stays is not as predicted
//	    for each of them
//	2     rows       bit r: of row r, which stays
//	      changes    for each of these rows a varint: schema.Coder.ZigzagDelta
//	    of rows that are new, for each field
//	      bytes      of the values of all rows the lowest byte, then the next; where values can be
//	                 negative, 0, -1, 1, -2 are 0, 1, 2, 3
const (
	packedLong    = 253
	packedColumns = 254
	packedEscape  = 255
	// The most that the columns of a group take.
	maxColumns = 1 + GroupRows + 2 + schema.MaxFields*(2+GroupRows*binary.MaxVarintLen32)
)

// packedBlocks is what an encoder or a decoder needs for packed blocks. Index 0 is for blocks with
// a baseline, 1 for those without.
type packedBlocks struct {
	fields  []columnField
	coders  [2]*dict.Blocks
	pack    [2]*dict.BlockPacker // nil in a decoder
	unpack  [2]*dict.BlockUnpacker
	columns []byte
	content []byte
}

// columnField is how values of a field without a base become bytes.
type columnField struct {
	lo, hi int32
	bytes  uint8
}

func newPackedBlocks(m *schema.Model) *packedBlocks {
	d := m.Dictionaries()
	p := &packedBlocks{coders: [2]*dict.Blocks{d.Delta, d.Spawn}, columns: make([]byte, 0, maxColumns)}
	for i, c := range p.coders {
		p.unpack[i] = c.NewUnpacker()
	}
	p.fields = columnFields(m.Schema())
	return p
}

func columnFields(s schema.Schema) (all []columnField) {
	for _, f := range s.Fields {
		lo, hi := f.Range()
		c := columnField{lo: lo, hi: hi}
		c.bytes = uint8((bits.Len32(max(c.code(lo), c.code(hi))) + 7) / 8)
		all = append(all, c)
	}
	return all
}

// code is the number whose bytes stand for a value.
func (f *columnField) code(v int32) uint32 {
	if f.lo < 0 {
		return huffman.Zigzag(v)
	}
	return uint32(v)
}

// value undoes code. ok is false if the value is out of range.
func (f *columnField) value(code uint32) (v int32, ok bool) {
	if v = int32(code); f.lo < 0 {
		v = huffman.Unzigzag(code)
	}
	return v, f.lo <= v && v <= f.hi
}

// writes prepares what only an encoder needs.
func (p *packedBlocks) writes(forms [2]blockForm) {
	for i, c := range p.coders {
		if forms[i] == zstdBlock {
			p.pack[i] = c.NewPacker()
		}
	}
	p.content = make([]byte, 0, dict.MaxBlock)
}

// kind is the index for the block of a group.
func (g *rowGroup) kind() int {
	if g.was == &empty {
		return 1
	}
	return 0
}

// putPacked appends the block of a group.
func (c *codec) putPacked(dst []byte, g *rowGroup) []byte {
	p := c.packed
	columns, idle := appendColumns(p.columns[:0], c.coders, p.fields, g)
	if idle {
		return append(dst, 0)
	}
	content, ok := p.pack[g.kind()].Append(p.content[:0], columns)
	if n := len(content); ok && n+1 < len(columns) && n+2 < c.bound && n < packedLong+256 {
		if n < packedLong {
			return append(append(dst, byte(n)), content...)
		}
		return append(append(dst, packedLong, byte(n-packedLong)), content...)
	}
	if len(columns)+1 < c.bound {
		return append(append(dst, packedColumns), columns...)
	}
	return c.putBlock(append(dst, packedEscape), g)
}

// appendColumns writes the columns of a group. idle reports that they say nothing.
func appendColumns(
	dst []byte, coders []schema.Coder, fields []columnField, g *rowGroup,
) (out []byte, idle bool) {
	same := *g.ids == *g.was
	if g.was != &empty {
		changed := byte(1)
		if same {
			changed = 0
		}
		dst = append(dst, changed)
	} else if same {
		return dst, true
	}
	stay, fresh := g.split()
	if !same {
		for _, id := range g.ids {
			dst = append(dst, id.Generation())
		}
	}
	if stay != 0 {
		at := len(dst)
		dst = append(dst, 0, 0)
		for f := range g.now {
			rows := differentRows(&g.now[f], &g.base[f]) & stay
			if rows == 0 {
				continue
			}
			dst[at+f>>3] |= 1 << (f & 7)
			dst = append(dst, byte(rows), byte(rows>>8))
			for ; rows != 0; rows &= rows - 1 {
				r := bits.TrailingZeros16(rows) & 15
				dst = binary.AppendUvarint(dst, uint64(coders[f].ZigzagDelta(g.now[f][r], g.base[f][r])))
			}
		}
		if same && dst[at] == 0 && dst[at+1] == 0 {
			return dst, true
		}
	} else if same {
		return dst, true
	}
	if fresh != 0 {
		for f := range g.now {
			for shift := range fields[f].bytes {
				for rows := fresh; rows != 0; rows &= rows - 1 {
					v := g.now[f][bits.TrailingZeros16(rows)&15]
					dst = append(dst, byte(fields[f].code(v)>>(8*shift)))
				}
			}
		}
	}
	return dst, false
}

// split is the rows that are as in the newest baseline, and those that are not in it.
func (g *rowGroup) split() (stay, fresh uint16) {
	for r, id := range g.ids {
		switch {
		case id == 0:
		case id == g.was[r]:
			stay |= 1 << r
		default:
			fresh |= 1 << r
		}
	}
	return stay, fresh
}

// differentRows has bit r set where row r differs.
func differentRows(a, b *fieldBlock) (rows uint16) {
	for r := range GroupRows {
		x := uint32(a[r] ^ b[r])
		rows |= uint16((x|-x)>>31) << r
	}
	return rows
}

// byteSource is what a read of columns stands on.
type byteSource struct {
	src   []byte
	off   int
	bad   bool   // cut short, or something that no encoder writes
	meter *Meter // of a measured read
	bits  int    // of the packed columns; a measured read shares them out by bytes
}

// byte reads one byte.
func (x *byteSource) byte() byte {
	if x.off >= len(x.src) {
		x.bad = true
		return 0
	}
	b := x.src[x.off]
	x.off++
	return b
}

// rows reads a set of rows, or of fields.
func (x *byteSource) rows() uint16 { return uint16(x.byte()) | uint16(x.byte())<<8 }

// change reads a varint of 32 bits.
func (x *byteSource) change() (z uint32) {
	if x.off < len(x.src) && x.src[x.off] < 0x80 {
		z = uint32(x.src[x.off])
		x.off++
		return z
	}
	v, n := binary.Uvarint(x.src[x.off:])
	if n <= 0 || v > 1<<32-1 {
		x.bad = true
		return 0
	}
	x.off += n
	return uint32(v)
}

// took is the bits that the bytes since the last call stand for, rounded so that the sum is right.
func (x *byteSource) took() (n int) {
	now := uint64(x.bits) * uint64(x.off) / uint64(max(1, len(x.src)))
	n, x.meter.spent = int(now-x.meter.spent), now
	return n
}

// takePacked is takeBlock for a block that putPacked wrote.
func takePacked[M metered](c *codec, src []byte, g *rowGroup, m *Meter) (n int, err error) {
	var meter M
	if len(src) < 1 {
		return 0, ErrBlock
	}
	head, size := 1, int(src[0])
	switch {
	case size == 0:
		*g.ids = *g.was
		if len(meter) == 1 {
			m.row(ReasonSame, 8)
		}
		return 1, nil
	case size == packedEscape:
		if len(meter) == 1 {
			m.row(ReasonHead, 8)
		}
		n, err = takeBlock[M](c, src[1:], g, m)
		return n + 1, err
	case size == packedColumns:
		x := byteSource{src: src[1:], meter: m, bits: 8 * len(src[1:])}
		if len(meter) == 1 {
			m.row(ReasonHead, 8)
			m.spent = 0
		}
		if takeColumns[M](c, &x, g); x.bad {
			return 0, ErrBlock
		}
		return 1 + x.off, nil
	case size == packedLong && len(src) > 1:
		head, size = 2, packedLong+int(src[1])
	}
	if n = head + size; n > len(src) {
		return 0, ErrBlock
	}
	p := c.packed
	columns, err := p.unpack[g.kind()].Into(p.columns[:0], src[head:n])
	if err != nil {
		return 0, ErrBlock
	}
	x := byteSource{src: columns, meter: m, bits: 8 * size}
	if len(meter) == 1 {
		m.row(ReasonHead, 8*head)
		m.spent = 0
	}
	takeColumns[M](c, &x, g)
	if x.bad || x.off != len(columns) {
		return 0, ErrBlock
	}
	return n, nil
}

// takeColumns reads what appendColumns wrote.
func takeColumns[M metered](c *codec, x *byteSource, g *rowGroup) {
	var meter M
	*g.ids = *g.was
	changed := byte(1)
	if g.was != &empty {
		if changed = x.byte(); changed > 1 {
			x.bad = true
		}
		if len(meter) == 1 {
			x.meter.row(ReasonMask, x.took())
		}
	}
	if changed != 0 {
		takeGenerations[M](x, g)
	}
	stay, fresh := g.split()
	if stay != 0 {
		takeChanges[M](c, x, g, stay)
	}
	if fresh != 0 {
		takeFresh[M](c, x, g, fresh)
	}
}

// takeGenerations reads which rows are there.
func takeGenerations[M metered](x *byteSource, g *rowGroup) {
	var meter M
	for r := range GroupRows {
		generation := x.byte()
		if g.ids[r] = 0; generation != 0 {
			g.ids[r] = netid.Make(g.index*GroupRows+r, generation)
		}
		if len(meter) == 1 {
			x.meter.row(generationReason(g.ids[r], g.was[r]), x.took())
		}
	}
}

// generationReason says what a generation tells.
func generationReason(id, was netid.ID) Reason {
	switch {
	case id == was && id == 0:
		return ReasonAbsent
	case id == was:
		return ReasonSame
	case id == 0:
		return ReasonGone
	case was == 0:
		return ReasonSpawn
	}
	return ReasonReplace
}

// takeChanges reads the changes of rows that stay.
func takeChanges[M metered](c *codec, x *byteSource, g *rowGroup, stay uint16) {
	var meter M
	fields := x.rows()
	if len(meter) == 1 {
		x.meter.row(ReasonMask, x.took())
	}
	x.bad = x.bad || int(fields)>>len(g.now) != 0
	for f := range g.now {
		if fields>>f&1 == 0 {
			continue
		}
		rows := x.rows()
		if len(meter) == 1 {
			x.meter.row(ReasonMask, x.took())
		}
		if rows == 0 || rows&^stay != 0 {
			x.bad = true
			return
		}
		for ; rows != 0; rows &= rows - 1 {
			r := bits.TrailingZeros16(rows) & 15
			v, ok := c.coders[f].ApplyDelta(x.change(), g.now[f][r])
			g.now[f][r] = v
			x.bad = x.bad || !ok
			if len(meter) == 1 {
				x.meter.field(f, ReasonUpdate, uint(x.took()))
			}
		}
	}
}

// takeFresh reads the values of new rows.
func takeFresh[M metered](c *codec, x *byteSource, g *rowGroup, fresh uint16) {
	var meter M
	for f := range g.now {
		field := &c.packed.fields[f]
		var codes [GroupRows]uint32
		for shift := range field.bytes {
			for rows := fresh; rows != 0; rows &= rows - 1 {
				r := bits.TrailingZeros16(rows) & 15
				codes[r] |= uint32(x.byte()) << (8 * shift)
				if len(meter) == 1 {
					x.meter.field(f, generationReason(g.ids[r], g.was[r]), uint(x.took()))
				}
			}
		}
		for rows := fresh; rows != 0; rows &= rows - 1 {
			r := bits.TrailingZeros16(rows) & 15
			v, ok := field.value(codes[r])
			g.now[f][r] = v
			x.bad = x.bad || !ok
		}
	}
}

// BlockSamples is columns of blocks as an encoder meets them, with a baseline and without: what
// dictionaries are trained on. Encoder.Sample fills it.
type BlockSamples struct {
	Delta, Spawn [][]byte
	fields       []columnField
	blocks       int // met so far
}

// NewBlockSamples returns no samples yet, for encoders of a model of s.
func NewBlockSamples(s schema.Schema) *BlockSamples { return &BlockSamples{fields: columnFields(s)} }

// Of every sampleEvery-th block the columns are kept.
const sampleEvery = 7

// add keeps the columns of a group, as they are and as they would be without a baseline.
func (s *BlockSamples) add(c *codec, g rowGroup) {
	if s.blocks++; s.blocks%sampleEvery != 0 {
		return
	}
	if g.was != &empty {
		if columns, idle := appendColumns(nil, c.coders, s.fields, &g); !idle {
			s.Delta = append(s.Delta, columns)
		}
	}
	g.was = &empty
	if columns, idle := appendColumns(nil, c.coders, s.fields, &g); !idle {
		s.Spawn = append(s.Spawn, columns)
	}
}

// Train makes a dictionary of about size bytes of each kind of sample.
func (s *BlockSamples) Train(size int) (*schema.Dictionaries, error) {
	return schema.NewDictionaries(dict.TrainBlocks(s.Delta, size), dict.TrainBlocks(s.Spawn, size))
}
