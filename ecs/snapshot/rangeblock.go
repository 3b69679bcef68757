package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// A block of schema.Range is a message of a range coder that says the same as a block of Huffman codes, in the same order: by
// yes or no, each as likely as schema.Decisions say, and by evenly likely bits.
//
//	no           1 of 256 yes: what follows is a byte 255 and a block of Huffman codes
//	changed      no: all as expected; nothing follows
//	per row, in slot order:
//	  not in the newest baseline:  spawned?     yes: 8 bits of generation, then each field in the width of its range
//	  in the newest:               left?        yes: replaced?, evenly likely; yes: as spawned
//	                               otherwise for each field: changed?, bucket, extra bits
//
// It ends by itself. A block that would be longer than the bound of Huffman codes is sent as those, so that groups fit a datagram.
const (
	escape  = 0xff
	escapeP = rangecoder.One - rangecoder.One/256
	evenly  = rangecoder.One / 2
)

// ranged reports whether blocks with a baseline are messages of a range coder.
func (c *codec) ranged() bool { return c.decide != nil }

// rangeGroup is group for schema.Range; there is a baseline.
func (c *codec) rangeGroup(e *rangecoder.Encoder, dst []byte, ids *idLane, lanes []lane, baseIDs *idLane, base []lane, ctx *contexts) []byte {
	var masks [GroupRows]uint16
	compare(&masks, lanes, base)
	changed := *ids != *baseIDs
	for r, id := range ids {
		changed = changed || id != 0 && masks[r] != 0
	}
	e.Reset(dst)
	e.Bit(false, escapeP)
	if e.Bit(changed, c.decide.Idle); changed {
		for r := range GroupRows {
			switch id, was := ids[r], baseIDs[r]; {
			case was == 0:
				if e.Bit(id != 0, c.decide.Spawn); id != 0 {
					c.rangeSpawn(e, id, r, lanes)
				}
			case id != was:
				e.Bit(true, c.decide.Leave)
				if e.Bit(id != 0, evenly); id != 0 {
					c.rangeSpawn(e, id, r, lanes)
				}
			default:
				e.Bit(false, c.decide.Leave)
				c.rangeRow(e, r, masks[r], lanes, base, ctx[r])
			}
		}
	}
	out := e.FinishAmong()
	if len(out)-len(dst) < c.bound {
		return out
	}
	return c.group(append(out[:len(dst)], escape), ids, lanes, baseIDs, base, ctx)
}

func (c *codec) rangeSpawn(e *rangecoder.Encoder, id netid.ID, r int, lanes []lane) {
	e.Bits(uint32(id.Generation()), schema.GenerationBits)
	for f := range lanes {
		code, n := c.coders[f].Raw(lanes[f][r])
		evenBits(e, uint32(code), n)
	}
}

// evenBits codes the lowest n bits of v, the lowest 16 first.
func evenBits(e *rangecoder.Encoder, v uint32, n uint) {
	if n > 16 {
		e.Bits(v&0xffff, 16)
		v, n = v>>16, n-16
	}
	if n > 0 {
		e.Bits(v, n)
	}
}

// rangeRow codes a row that stays.
func (c *codec) rangeRow(e *rangecoder.Encoder, r int, mask uint16, lanes, base []lane, ctx uint32) {
	var sizes [schema.MaxFields + 1]uint8 // of the changes; behind the last a place for those who look at none
	for f := range lanes {
		d := &c.decide.Fields[f]
		nodes := d.Nodes[(class(ctx, f)*schema.Sizes+uint32(sizes[d.Of]))*huffman.Buckets:][:huffman.Buckets]
		changed := mask>>f&1 != 0
		e.Bit(changed, uint32(nodes[0]))
		if !changed {
			continue
		}
		sym, extra, n := huffman.Bucket(c.coders[f].Change(lanes[f][r&15], base[f][r&15]))
		sizes[f] = uint8(schema.SizeOf(sym))
		node := 1
		for i := 3; i >= 0; i-- {
			b := sym >> i & 1
			e.Bit(b != 0, uint32(nodes[node&15]))
			node = node<<1 | b
		}
		if n > 0 {
			n--
			e.Bit(extra>>n&1 != 0, uint32(d.Top[sym&15]))
			evenBits(e, extra&(1<<n-1), n)
		}
	}
}

// rangeDecode is decode for schema.Range.
func (c *codec) rangeDecode(d *rangecoder.Tracker, src []byte, g int, ids *idLane, lanes []lane, baseIDs *idLane, ctx *contexts) (n int, err error) {
	if len(src) > 0 && src[0] == escape {
		n, err = c.decode(src[1:], g, ids, lanes, baseIDs, ctx)
		return n + 1, err
	}
	*ids = *baseIDs
	good := true
	d.Reset(src)
	d.Bit(escapeP)
	if d.Bit(c.decide.Idle) {
		for r := range GroupRows {
			switch {
			case baseIDs[r] == 0:
				if d.Bit(c.decide.Spawn) {
					good = c.rangeSpawned(d, g, r, ids, lanes) && good
				}
			case !d.Bit(c.decide.Leave):
				good = c.rangeDecodeRow(d, r, lanes, ctx[r]) && good
			case d.Bit(evenly):
				good = c.rangeSpawned(d, g, r, ids, lanes) && good
			default:
				ids[r] = 0
			}
		}
	}
	if n = d.Size(); !good || n > len(src) {
		return 0, ErrBlock
	}
	return n, nil
}

func (c *codec) rangeSpawned(d *rangecoder.Tracker, g, r int, ids *idLane, lanes []lane) (good bool) {
	generation := uint8(d.Bits(schema.GenerationBits))
	ids[r] = netid.Make(g*GroupRows+r, generation)
	good = generation != 0
	for f := range lanes {
		v, ok := c.coders[f].RawValue(uint64(evenlyBits(d, c.coders[f].Width())))
		lanes[f][r] = v
		good = good && ok
	}
	return good
}

// evenlyBits undoes evenBits.
func evenlyBits(d *rangecoder.Tracker, n uint) (v uint32) {
	if n <= 16 {
		if n > 0 {
			v = d.Bits(n)
		}
		return v
	}
	v = d.Bits(16)
	return v | d.Bits(n-16)<<16
}

func (c *codec) rangeDecodeRow(d *rangecoder.Tracker, r int, lanes []lane, ctx uint32) (good bool) {
	var sizes [schema.MaxFields + 1]uint8
	good = true
	for f := range lanes {
		p := &c.decide.Fields[f]
		nodes := p.Nodes[(class(ctx, f)*schema.Sizes+uint32(sizes[p.Of]))*huffman.Buckets:][:huffman.Buckets]
		if !d.Bit(uint32(nodes[0])) {
			continue
		}
		sym := decideBucket(d, nodes)
		sizes[f] = uint8(schema.SizeOf(sym))
		first, n := huffman.BucketRange(sym)
		if n > 0 {
			n--
			if d.Bit(uint32(p.Top[sym])) {
				first += 1 << n
			}
			first += evenlyBits(d, n)
		}
		v, ok := c.coders[f].Changed(first, lanes[f][r&15])
		lanes[f][r&15] = v
		good = good && ok
	}
	return good
}

// decideBucket reads a bucket, by what it is likely to be.
func decideBucket(d *rangecoder.Tracker, nodes []uint16) (sym int) {
	node := 1
	for range bits.Len(huffman.Buckets - 1) {
		node <<= 1
		if d.Bit(uint32(nodes[node>>1&15])) {
			node |= 1
		}
	}
	return node & (huffman.Buckets - 1)
}
