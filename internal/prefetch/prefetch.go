// Package prefetch asks the processor for memory ahead of its use. An address goes in; the cache
// lines there are on their way when the call returns. Any goroutine may call it.
package prefetch

import "unsafe"

// Line is the bytes of a cache line.
const Line = 64

// Bytes prefetches the lines of the first n bytes at p. Any p is allowed, even one that points to
// nothing.
func Bytes(p unsafe.Pointer, n uintptr) {
	first := uintptr(p) % Line
	lines(p, (first+n+Line-1)/Line)
}
