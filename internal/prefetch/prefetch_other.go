//go:build !amd64

package prefetch

import "unsafe"

// lines does nothing: there is no prefetch instruction for this processor here.
func lines(unsafe.Pointer, uintptr) {}
