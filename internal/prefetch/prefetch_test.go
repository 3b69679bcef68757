package prefetch

import (
	"testing"
	"unsafe"
)

// All lines of the bytes are prefetched, and no other.
func TestCount(t *testing.T) {
	for address := range uintptr(2 * Line) {
		for n := uintptr(1); n < 4*Line; n++ {
			lines := map[uintptr]bool{}
			for at := address; at < address+n; at++ {
				lines[at/Line] = true
			}
			if got := count(address, n); got != uintptr(len(lines)) {
				t.Fatalf("%d bytes from %d on: %d lines, want %d", n, address, got, len(lines))
			}
		}
	}
}

// A prefetch of any address leaves the process alive and the memory as it was.
func TestBytes(t *testing.T) {
	var value [3 * Line]byte
	for n := range uintptr(len(value)) {
		Bytes(unsafe.Pointer(&value[n]), n)
	}
	Bytes(nil, 0)
	Bytes(nil, 1000)
	if value != ([3 * Line]byte{}) {
		t.Errorf("the memory has changed: %v", value)
	}
}
