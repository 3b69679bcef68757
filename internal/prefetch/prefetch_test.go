package prefetch

import (
	"testing"
	"unsafe"
)

// Any address may be prefetched.
func TestBytes(t *testing.T) {
	var value [3 * Line]byte
	for n := range uintptr(len(value)) {
		Bytes(unsafe.Pointer(&value[n]), n)
	}
	Bytes(nil, 0)
	Bytes(nil, 1000)
}
