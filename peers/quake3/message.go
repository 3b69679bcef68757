package quake3

import "sync"

// code is the Huffman code of messages, the same for all.
type code struct {
	bits [256][]byte // bits[b] is the code of byte b, one bit an element, the first sent first
	tree *node
}

// fixed makes the code: an adaptive tree that has seen each byte as often as frequencies says, in
// the order of bytes.
var fixed = sync.OnceValue(func() *code {
	tree := newAdaptive()
	for symbol, n := range frequencies {
		for range n {
			tree.count(symbol)
		}
	}
	c := &code{tree: tree.root()}
	for symbol := range c.bits {
		c.bits[symbol] = appendCode(nil, tree.leaves[symbol])
	}
	return c
})

// Writer writes a message. A value of n bits is written as its lowest n%8 bits as they are, then as
// whole bytes by the code, the lowest first.
type Writer struct {
	data []byte
	bit  int
	code *code
}

// NewWriter returns a writer of an empty message.
func NewWriter() *Writer { return &Writer{code: fixed()} }

// Bytes is what was written, bits/8+1 bytes: a zero byte follows a message of whole bytes, as in the game.
func (w *Writer) Bytes() []byte {
	for len(w.data) < w.bit/8+1 {
		w.data = append(w.data, 0)
	}
	return w.data
}

func (w *Writer) raw(bit byte) {
	if w.bit%8 == 0 {
		w.data = append(w.data, 0)
	}
	w.data[w.bit/8] |= bit << (w.bit % 8)
	w.bit++
}

// Bits writes the lowest n bits of a value.
func (w *Writer) Bits(v uint32, n int) {
	for range n & 7 {
		w.raw(byte(v & 1))
		v >>= 1
	}
	for range n >> 3 {
		for _, bit := range w.code.bits[v&255] {
			w.raw(bit)
		}
		v >>= 8
	}
}

// Byte writes a byte.
func (w *Writer) Byte(v byte) { w.Bits(uint32(v), 8) }

// Long writes 32 bits.
func (w *Writer) Long(v int32) { w.Bits(uint32(v), 32) }

// Text writes a text and the zero that ends it.
func (w *Writer) Text(s string) {
	for i := range len(s) {
		w.Byte(s[i])
	}
	w.Byte(0)
}

// Reader reads a message. Past its end it reads zeros and is Over.
type Reader struct {
	data []byte
	bit  int
	tree *node
}

// NewReader returns a reader of data, which it does not copy.
func NewReader(data []byte) *Reader { return &Reader{data: data, tree: fixed().tree} }

// Over reports whether more was read than there is.
func (r *Reader) Over() bool { return r.bit > len(r.data)*8 }

// Offset is the number of bits read.
func (r *Reader) Offset() int { return r.bit }

func (r *Reader) raw() uint32 {
	if r.bit >= len(r.data)*8 {
		r.bit = len(r.data)*8 + 1
		return 0
	}
	b := r.data[r.bit>>3] >> (r.bit & 7) & 1
	r.bit++
	return uint32(b)
}

// Bits reads a value of n bits, at most 32.
func (r *Reader) Bits(n int) (v uint32) {
	low := n & 7
	for i := range low {
		v |= r.raw() << i
	}
	for i := low; i < n; i += 8 {
		at := r.tree
		for at.zero != nil {
			if r.raw() == 0 {
				at = at.zero
			} else {
				at = at.one
			}
			if r.Over() {
				return 0
			}
		}
		v |= uint32(at.symbol&255) << i
	}
	return v
}

// Byte reads a byte.
func (r *Reader) Byte() int { return int(r.Bits(8)) }

// Short reads 16 bits.
func (r *Reader) Short() int { return int(r.Bits(16)) }

// Long reads 32 bits.
func (r *Reader) Long() int32 { return int32(r.Bits(32)) }

// Text reads a text up to its zero, or limit bytes and no zero.
func (r *Reader) Text(limit int) string {
	var s []byte
	for len(s) < limit {
		b := r.Byte()
		if b == 0 || r.Over() {
			break
		}
		s = append(s, byte(b))
	}
	return string(s)
}
