package dict_test

import (
	"fmt"

	"github.com/tickrate/tickrate/compress/dict"
)

// Player lists have much in common: a dictionary trained on some makes all others smaller.
func Example() {
	list := func(n int) []byte {
		return fmt.Appendf(nil, `{"match":%d,"players":[{"name":"player%d","kills":%d,"deaths":%d}]}`, n*7919, n*31, n%17, n%13)
	}
	var samples [][]byte
	for n := range 200 {
		samples = append(samples, list(n))
	}
	dictionary := dict.Train(samples, 1<<10)

	for _, d := range [][]byte{nil, dictionary} {
		packer, err := dict.NewPacker(d)
		if err != nil {
			panic(err)
		}
		unpacker, err := dict.NewUnpacker(d, 1<<10) // blobs of at most 1 KiB
		if err != nil {
			panic(err)
		}
		packed := packer.Append(nil, list(1000))
		blob, err := unpacker.Into(make([]byte, 0, 1<<10), packed)
		fmt.Println("dictionary:", d != nil, "a third smaller:", 3*len(packed) < 2*len(blob), string(blob) == string(list(1000)), err)
		unpacker.Close()
	}
	// Output:
	// dictionary: false a third smaller: false true <nil>
	// dictionary: true a third smaller: true true <nil>
}
