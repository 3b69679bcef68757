// Package prefetch loads memory into the processor's cache before it is used. An address and a
// length go in; the loads go on after the call has returned. On processors other than amd64 it does
// nothing. Any goroutine may call it.
package prefetch

import "unsafe"

// Line is the size of a cache line, bytes.
const Line = 64

// Bytes prefetches the cache lines of the n bytes from p on. Any address is allowed, nil included:
// a prefetch never faults.
func Bytes(p unsafe.Pointer, n uintptr) {
	lines(p, count(uintptr(p), n))
}

// count is the number of cache lines of the n bytes from an address on.
func count(address, n uintptr) uintptr { return (address%Line + n + Line - 1) / Line }

// Field prefetches the n bytes that begin offset bytes behind p. The address of a field, as &v.f,
// would load *v first: a nil check is a read, and waits for memory.
func Field(p unsafe.Pointer, offset, n uintptr) { Bytes(unsafe.Add(p, offset), n) }
