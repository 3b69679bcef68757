package schema

import (
	"math"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Decisions are the probabilities of an entity row's decisions in a range coder: one byte each in
// a file; here the probability of false, in 65536ths. It is immutable.
//
// For each field the coder codes whether it changed, then the bucket of the change (schema.Coder),
// bit by bit from the highest, then the highest of the extra bits; the other bits are equally
// likely. The field, its class, and the size of the change of one earlier field choose the
// probabilities.
type Decisions struct {
	Idle   uint32 // a group is not all as predicted
	Spawn  uint32 // a slot that was empty is filled
	Leave  uint32 // a row that was there is gone or replaced
	Fields []FieldDecisions
}

// FieldDecisions are the probabilities of one field.
type FieldDecisions struct {
	ContextField int // an earlier field; MaxFields: none
	// Nodes[(class*SizeClasses+size)*16:]: node 0 is "changed", 1 to 15 a binary tree of the
	// bucket.
	Nodes []uint16
	Top   [huffman.Buckets]uint16
}

// SizeClasses is the number of sizes of change; 0 is unchanged.
const SizeClasses = 6

// SizeClass is the size of a change in a bucket.
func SizeClass(bucket int) int { return min((bucket+2)/2, SizeClasses-1) }

// treeNodes is the nodes for one class and size.
const treeNodes = 16

// noField stands for none in a file.
const noField = 0xff

// probability is a file's byte as 65536ths.
func probability(q uint8) uint32 { return uint32(q)<<8 | 0x80 }

// chance is the byte of a decision that was false no times and true yes times.
func chance(no, yes float64) uint8 {
	return uint8(min(max(math.Floor(float64(no/(no+yes))*256), 0), 255))
}

// newDecisions reads what trainDecisions wrote. All of it is valid but the earlier fields.
func newDecisions(raw []byte, classes [][ErrorLevels]uint8) *Decisions {
	d := &Decisions{Idle: probability(raw[0]), Spawn: probability(raw[1]), Leave: probability(raw[2])}
	raw = raw[3:]
	for i := range classes {
		f := FieldDecisions{ContextField: int(raw[0])}
		if f.ContextField == noField || f.ContextField >= i {
			f.ContextField = MaxFields
		}
		n := fieldBytes(classes[i]) - 1 - huffman.Buckets
		for _, q := range raw[1 : 1+n] {
			f.Nodes = append(f.Nodes, uint16(probability(q)))
		}
		for i, q := range raw[1+n : 1+n+huffman.Buckets] {
			f.Top[i] = uint16(probability(q))
		}
		d.Fields, raw = append(d.Fields, f), raw[1+n+huffman.Buckets:]
	}
	return d
}

// fieldBytes is the size of a field's decisions in a file.
func fieldBytes(classes [ErrorLevels]uint8) int {
	most := 0
	for _, k := range classes {
		most = max(most, int(k))
	}
	return 1 + (most+1)*SizeClasses*treeNodes + huffman.Buckets
}

// decisionBytes is the size of all of them.
func decisionBytes(classes [][ErrorLevels]uint8) int {
	n := 3
	for _, c := range classes {
		n += fieldBytes(c)
	}
	return n
}

// pairSymbols is the symbols of a field in Counts.Pairs: unchanged, and the buckets.
const pairSymbols = 1 + huffman.Buckets

// pairSize is the number of counts of one field and one earlier field.
const pairSize = ErrorLevels * SizeClasses * pairSymbols

// pairs is the counts of field f with the earlier field of; of == f: with none.
func (c *Counts) pairs(f, of int) []uint64 {
	i := f*(f+1)/2 + of
	return c.Pairs[i*pairSize : (i+1)*pairSize]
}

// Row counts the decisions of a row: for each field its level, its bucket, or -1 if it is as
// predicted, and the bucket's extra bits.
func (c *Counts) Row(levels []uint8, buckets []int8, extras []uint32) {
	for f, level := range levels {
		if b := int(buckets[f]); b >= 0 {
			if _, n := huffman.BucketRange(b); n > 0 {
				c.Tops[(f*huffman.Buckets+b)*2+int(extras[f]>>(n-1)&1)]++
			}
		}
		for of := 0; of <= f; of++ {
			size := 0
			if of < f && buckets[of] >= 0 {
				size = SizeClass(int(buckets[of]))
			}
			c.pairs(f, of)[(int(level)*SizeClasses+size)*pairSymbols+int(buckets[f])+1]++
		}
	}
}

// trainDecisions returns the file's part for what was counted.
func trainDecisions(s Schema, c *Counts, classes [][ErrorLevels]uint8) []byte {
	here, gone, rest := 8.0, 0.1, 8.0
	for sym, n := range c.Masks[0] {
		if sym < Update {
			gone += float64(n)
		} else {
			here += float64(n)
		}
	}
	for k, n := range c.ContextSymbols {
		if k&0xffff < Update {
			gone += float64(n)
		} else {
			here += float64(n)
		}
	}
	raw := []byte{chance(rest/2, rest), chance(255, 1), chance(here, gone)}
	for f, field := range s.Fields {
		of, seen := pickPair(c, f, classes[f])
		raw = append(raw, of)
		prior := fieldPrior(field)
		total := 0.0
		for _, w := range prior {
			total += w
		}
		often := float64(max(field.Often, 1)) / 100
		if field.Often == 0 {
			often = 0.1
		}
		var all [pairSymbols]float64
		for i, n := range seen {
			all[i%pairSymbols] += float64(n)
		}
		pooled := 0.0
		for _, n := range all {
			pooled += n
		}
		for i := 0; i < len(seen); i += pairSymbols {
			var w [pairSymbols]float64
			w[0] = 1 - often
			for sym := range prior {
				w[1+sym] = often * prior[sym] / total
			}
			for sym := range w {
				w[sym] = float64(w[sym]*2) + float64(seen[i+sym])
				if pooled > 0 {
					w[sym] += float64(all[sym] / pooled * 8)
				}
			}
			raw = append(raw, nodesOf(w[:])...)
		}
		for sym := range huffman.Buckets {
			n := c.Tops[(f*huffman.Buckets+sym)*2:]
			// Values fall off, if nothing is known.
			raw = append(raw, chance(float64(n[0])+9, float64(n[1])+8))
		}
	}
	return raw
}

// pickPair picks the earlier field that says most about field f, and returns its counts by class
// and size.
func pickPair(c *Counts, f int, classes [ErrorLevels]uint8) (of uint8, best []uint64) {
	least := math.Inf(1)
	n := (fieldBytes(classes) - 1 - huffman.Buckets) / treeNodes * pairSymbols
	for other := f; other >= 0; other-- { // f itself first: no other
		sum := make([]uint64, n)
		for i, v := range c.pairs(f, other) {
			level, rest := i/(SizeClasses*pairSymbols), i%(SizeClasses*pairSymbols)
			sum[int(classes[level])*SizeClasses*pairSymbols+rest] += v
		}
		bits := 0.0
		for i := 0; i < n; i += pairSymbols {
			bits += cost(sum[i : i+pairSymbols])
		}
		if other != f {
			bits += tableBits
		}
		if bits < least {
			least, best, of = bits, sum, uint8(other)
		}
	}
	if int(of) == f {
		of = noField
	}
	return of, best
}

// nodesOf is a tree's bytes for the weights of unchanged and the buckets.
func nodesOf(w []float64) (nodes []byte) {
	var sums [2 * huffman.Buckets]float64
	for sym := range huffman.Buckets {
		sums[huffman.Buckets+sym] = w[1+sym] + 1e-3
	}
	for i := huffman.Buckets - 1; i > 0; i-- {
		sums[i] = sums[2*i] + sums[2*i+1]
	}
	nodes = append(nodes, chance(w[0], sums[1]))
	for i := 1; i < huffman.Buckets; i++ {
		nodes = append(nodes, chance(sums[2*i], sums[2*i+1]))
	}
	return nodes
}
