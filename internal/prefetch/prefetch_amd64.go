package prefetch

import "unsafe"

// lines prefetches n lines from that of p on.
//
//go:noescape
func lines(p unsafe.Pointer, n uintptr)
