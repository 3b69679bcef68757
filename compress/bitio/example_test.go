package bitio_test

import (
	"fmt"

	"github.com/tickrate/tickrate/compress/bitio"
)

// A health of 7 bits and a flag, and back.
func Example() {
	var w bitio.Writer
	w.Bits(100, 7)
	w.Bits(1, 1)
	w.Bits(3, 2)
	packed := w.Bytes()

	var r bitio.Reader
	r.Reset(packed)
	health, alive, team := r.Bits(7), r.Bits(1), r.Bits(2)
	fmt.Println(len(packed), "bytes:", health, alive, team, r.Err())
	fmt.Println(r.Bits(7), r.Err()) // 6 bits are left
	// Output:
	// 2 bytes: 100 1 3 <nil>
	// 0 bitio: out of bits
}
