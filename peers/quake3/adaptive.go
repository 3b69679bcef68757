package quake3

import (
	"errors"
	"slices"
)

// The algorithm is dynamic Huffman coding, also called FGK: Gallager, Variations on a theme by
// Huffman (IEEE Transactions on Information Theory 24, 1978); Knuth, Dynamic Huffman coding
// (Journal of Algorithms 6, 1985). "Leader" and "interchange" are words of Vitter, Design and
// analysis of dynamic Huffman codes (Journal of the ACM 34, 1987).
//
// The wire format departs from the textbooks in one rule. They never interchange a node with its
// parent. Here, a node whose parent is its leader trades its number with the parent before both
// gain weight, and trades back after the whole path has gained it. Bits of later symbols depend on
// that, so the rule is a fact of the format.

// escape is the leaf of all symbols that have not been seen yet.
const escape = 256

// node is a node of an adaptive Huffman tree.
type node struct {
	weight    int // occurrences of the symbols below it
	parent    *node
	zero, one *node // children; nil for a leaf
	number    int   // index in adaptive.order
	symbol    int   // of a leaf
}

// adaptive is a Huffman tree that counts symbols while they pass. Its nodes are numbered from the
// escape, which is 0, to the root; weights never fall from a number to the next.
type adaptive struct {
	order  []*node
	leaves [escape + 1]*node
}

func newAdaptive() *adaptive {
	a := &adaptive{}
	a.leaves[escape] = &node{symbol: escape}
	a.order = []*node{a.leaves[escape]}
	return a
}

func (a *adaptive) root() *node { return a.order[len(a.order)-1] }

// count adds one occurrence of a symbol, 0 to 255.
func (a *adaptive) count(symbol int) {
	lowest := a.leaves[symbol]
	if lowest == nil {
		lowest = a.split(symbol)
	}
	var room [escape]*node
	path := room[:0] // nodes that gain weight, from the lowest to the root
	for n := lowest; n != nil; n = n.parent {
		if l := a.leader(n); l == n.parent {
			a.trade(l, n)
		} else if l != n {
			interchange(l, n)
			a.trade(l, n)
		}
		n.weight++
		path = append(path, n)
	}
	for _, n := range slices.Backward(path) {
		if p := n.parent; p != nil && p.number == n.number-1 {
			a.trade(p, n)
		}
	}
}

// split makes the escape a node with the escape below 0 and a new symbol, seen once, below 1. It
// returns that node's parent, whose weight lacks the symbol; nil at the root.
func (a *adaptive) split(symbol int) *node {
	old := a.leaves[escape]
	inner := &node{weight: 1, parent: old.parent, zero: old}
	leaf := &node{weight: 1, parent: inner, symbol: symbol}
	inner.one = leaf
	if old.parent != nil {
		*old.edge() = inner
	}
	old.parent, a.leaves[symbol] = inner, leaf
	a.order = slices.Insert(a.order, 1, leaf, inner)
	for i, n := range a.order {
		n.number = i
	}
	return inner.parent
}

// leader is the node of the highest number among those with the weight of n.
func (a *adaptive) leader(n *node) *node {
	for _, next := range a.order[n.number+1:] {
		if next.weight != n.weight {
			break
		}
		n = next
	}
	return n
}

// edge is the pointer of a node's parent to it.
func (n *node) edge() **node {
	if n.parent.zero == n {
		return &n.parent.zero
	}
	return &n.parent.one
}

// interchange lets two nodes, neither of them above the other, change places in the tree.
func interchange(a, b *node) {
	toA, toB := a.edge(), b.edge()
	*toA, *toB = b, a
	a.parent, b.parent = b.parent, a.parent
}

// trade lets two nodes change numbers.
func (a *adaptive) trade(x, y *node) {
	x.number, y.number = y.number, x.number
	a.order[x.number], a.order[y.number] = x, y
}

// appendCode appends the bits from the root to a leaf.
func appendCode(dst []byte, leaf *node) []byte {
	start := len(dst)
	for n := leaf; n.parent != nil; n = n.parent {
		bit := byte(0)
		if n.parent.one == n {
			bit = 1
		}
		dst = append(dst, bit)
	}
	for i, j := start, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	return dst
}

// Compress is the form of the userinfo of a connect packet: two bytes of length, most significant
// first, and an adaptive Huffman code, whose bits fill bytes from the lowest up.
func Compress(src []byte) []byte {
	tree, bits := newAdaptive(), []byte(nil)
	for _, b := range src {
		if leaf := tree.leaves[b]; leaf != nil {
			bits = appendCode(bits, leaf)
		} else {
			bits = appendCode(bits, tree.leaves[escape])
			for i := 7; i >= 0; i-- {
				bits = append(bits, b>>i&1)
			}
		}
		tree.count(int(b))
	}
	dst := make([]byte, 2+len(bits)/8+1)
	dst[0], dst[1] = byte(len(src)>>8), byte(len(src))
	for i, bit := range bits {
		dst[2+i/8] |= bit << (i % 8)
	}
	return dst
}

var errCompressed = errors.New("quake3: compressed text ends early")

// Decompress is the inverse of Compress.
func Decompress(src []byte) ([]byte, error) {
	if len(src) < 2 {
		return nil, errCompressed
	}
	size, tree, pos := int(src[0])<<8|int(src[1]), newAdaptive(), 16
	bit := func() int {
		if pos >= len(src)*8 {
			pos++
			return 0
		}
		b := int(src[pos/8] >> (pos % 8) & 1)
		pos++
		return b
	}
	var dst []byte
	for len(dst) < size {
		n := tree.root()
		for n.zero != nil {
			if bit() == 1 {
				n = n.one
			} else {
				n = n.zero
			}
		}
		symbol := n.symbol
		if symbol == escape {
			symbol = 0
			for range 8 {
				symbol = symbol<<1 | bit()
			}
		}
		if pos > len(src)*8 {
			return nil, errCompressed
		}
		dst = append(dst, byte(symbol))
		tree.count(symbol)
	}
	return dst, nil
}
