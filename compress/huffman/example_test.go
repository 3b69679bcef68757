package huffman_test

import (
	"fmt"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
)

// Counts of four symbols become a code. Its lengths are all that the other end needs.
func Example() {
	lengths := huffman.Build([]uint64{70, 20, 8, 2}, huffman.MaxLength)
	table, err := huffman.FromLengths(lengths)
	if err != nil {
		panic(err)
	}
	var w bitio.Writer
	for _, sym := range []int{0, 0, 1, 0, 3, 0} {
		table.Encode(&w, sym)
	}
	fmt.Println("lengths", lengths, "in", w.Len(), "bits")

	var r bitio.Reader
	r.Reset(w.Bytes())
	for range 6 {
		sym, n := table.Lookup(r.Peek(huffman.MaxLength))
		r.Skip(n)
		fmt.Print(sym, " ")
	}
	fmt.Println(r.Err())
	// Output:
	// lengths [1 2 3 3] in 9 bits
	// 0 0 1 0 3 0 <nil>
}
