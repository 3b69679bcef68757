package rangecoder_test

import (
	"fmt"

	"github.com/tickrate/tickrate/compress/rangecoder"
)

// A hundred decisions, one of them true, are coded with a probability of 2 % that both ends agree on.
func Example() {
	const still = rangecoder.One * 98 / 100 // probability of false
	var e rangecoder.Encoder
	e.Reset(nil)
	for i := range 100 {
		e.Bit(i == 42, still)
	}
	message := e.Finish()

	var d rangecoder.Decoder
	d.Reset(message)
	for i := range 100 {
		if d.Bit(still) {
			fmt.Println(len(message), "bytes: decision", i, "is true")
		}
	}
	fmt.Println(d.Err())
	// Output:
	// 1 bytes: decision 42 is true
	// <nil>
}
