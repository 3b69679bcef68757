package huffman

import (
	"fmt"
	"sort"
)

// node is one item of a level of package-merge: a symbol, or a package of two items of the level
// before.
type node struct {
	weight uint64
	symbol int32 // -1: a package
}

// Build returns the code lengths, none above maxLen, that give the shortest coding of symbols that
// occur counts times. Every symbol gets a code, also one that was never counted: what a training
// set lacks, traffic will bring. A lone symbol gets 1 bit. It panics if the alphabet is empty, too
// large for maxLen, or maxLen is not 1 to MaxLength.
//
// This is package-merge (Larmore and Hirschberg, 1990), which is optimal: level by level the
// cheapest pairs of the level before are merged with the symbols; how often a symbol is among the
// first 2n-2 items is its length.
func Build(counts []uint64, maxLen int) []uint8 {
	n := len(counts)
	if n == 0 || n > MaxSymbols || maxLen < 1 || maxLen > MaxLength || n > 1<<maxLen {
		panic(fmt.Sprintf("huffman: %d symbols with codes of at most %d bits, want 1 to %d symbols, 1 to %d bits, "+
			"and no more symbols than such codes", n, maxLen, MaxSymbols, MaxLength))
	}
	lengths := make([]uint8, n)
	if n == 1 {
		lengths[0] = 1
		return lengths
	}
	leaves := sortedLeaves(counts)
	levels := make([][]node, maxLen)
	levels[0] = leaves
	for i := 1; i < maxLen; i++ {
		levels[i] = merge(leaves, levels[i-1])
	}
	// Unpack from the last level down: packages among the chosen items choose twice as many of the
	// level before.
	chosen := 2*n - 2
	for i := maxLen - 1; i >= 0; i-- {
		packages := 0
		for _, item := range levels[i][:chosen] {
			if item.symbol >= 0 {
				lengths[item.symbol]++
			} else {
				packages++
			}
		}
		chosen = 2 * packages
	}
	return lengths
}

// sortedLeaves scales counts so that no sum of packages can overflow: 15 levels of all symbols stay
// below 1<<62.
func sortedLeaves(counts []uint64) []node {
	shift, total := 0, uint64(0)
	for _, c := range counts {
		total += c >> 16 // so that 8192 symbols of 1<<64 fit
	}
	for total>>shift >= 1<<42 {
		shift++
	}
	leaves := make([]node, len(counts))
	for sym, c := range counts {
		leaves[sym] = node{c >> shift, int32(sym)}
	}
	sort.SliceStable(leaves, func(a, b int) bool { return leaves[a].weight < leaves[b].weight })
	return leaves
}

// merge pairs up the level before and sorts the pairs in among the leaves; on equal weights the
// leaf comes first.
func merge(leaves, before []node) []node {
	out := make([]node, 0, len(leaves)+len(before)/2)
	next := 0
	for i := 0; i+1 < len(before); i += 2 {
		weight := before[i].weight + before[i+1].weight
		for next < len(leaves) && leaves[next].weight <= weight {
			out = append(out, leaves[next])
			next++
		}
		out = append(out, node{weight, -1})
	}
	return append(out, leaves[next:]...)
}
