package quake3

import "errors"

// escape is the leaf of all symbols that have not been seen yet.
const escape = 256

// node is a node of an adaptive Huffman tree.
type node struct {
	weight    int
	parent    *node
	zero, one *node // children; nil for a leaf
	rank      int   // place in order
	symbol    int   // of a leaf
}

// adaptive is a Huffman tree that counts symbols while they pass. All nodes stand in one order,
// along which weights never fall and siblings are neighbours; the escape is first.
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
	if leaf := a.leaves[symbol]; leaf != nil {
		a.increment(leaf)
		return
	}
	// The escape becomes a node with the escape below 0 and the symbol below 1.
	old := a.leaves[escape]
	inner := &node{weight: 1, parent: old.parent, zero: old}
	leaf := &node{weight: 1, parent: inner, symbol: symbol}
	inner.one = leaf
	if old.parent != nil {
		old.parent.replace(old, inner)
	}
	old.parent = inner
	a.leaves[symbol] = leaf
	a.order = append([]*node{old, leaf, inner}, a.order[1:]...)
	for i, n := range a.order {
		n.rank = i
	}
	a.increment(inner.parent)
}

func (n *node) replace(child, by *node) {
	if n.zero == child {
		n.zero = by
	} else {
		n.one = by
	}
}

// increment raises the weights from a node to the root. A node first takes the last place among
// those of its weight; where that is its parent's, the two change places in the order alone, and
// again once both weights are raised.
func (a *adaptive) increment(n *node) {
	for n != nil {
		leader := a.leader(n)
		if leader != n {
			if leader != n.parent {
				swapBranches(leader, n)
			}
			a.swapRanks(leader, n)
		}
		n.weight++
		if n.parent != nil {
			defer a.below(n, n.parent) // from the root down, once all weights are raised
		}
		n = n.parent
	}
}

// below puts a node before its parent, as the order wants it.
func (a *adaptive) below(n, parent *node) {
	if parent.rank == n.rank-1 {
		a.swapRanks(n, parent)
	}
}

// leader is the last node of the order with the weight of n.
func (a *adaptive) leader(n *node) *node {
	i := n.rank
	for i+1 < len(a.order) && a.order[i+1].weight == n.weight {
		i++
	}
	return a.order[i]
}

func swapBranches(a, b *node) {
	pa, pb := a.parent, b.parent
	if pa == pb && pa != nil {
		pa.zero, pa.one = pa.one, pa.zero
		return
	}
	if pa != nil {
		pa.replace(a, b)
	}
	if pb != nil {
		pb.replace(b, a)
	}
	a.parent, b.parent = pb, pa
}

func (a *adaptive) swapRanks(x, y *node) {
	x.rank, y.rank = y.rank, x.rank
	a.order[x.rank], a.order[y.rank] = x, y
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
