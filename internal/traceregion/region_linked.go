//go:build !nounsafe

package traceregion

import (
	_ "runtime/trace" // defines userRegion
	_ "unsafe"        // for linkname
)

// Allocates is whether regions allocate while a trace runs.
const Allocates = false

// The modes of userRegion.
const (
	regionBegin = 0
	regionEnd   = 1
)

// userRegion is what trace.StartRegion and Region.End call. StartRegion also allocates its Region,
// 24 bytes for each stage of each tick. With the tag nounsafe that is what is called.
//
//go:linkname userRegion runtime/trace.userRegion
func userRegion(task, mode uint64, name string)

// Region is a region that may be open. The zero value is not.
type Region struct{ name string }

// Begin opens a region of the calling goroutine, which must end it. The name must not be empty.
func (r *Region) Begin(name string) {
	userRegion(0, regionBegin, name)
	r.name = name
}

// Open reports whether the region has begun and not ended.
func (r *Region) Open() bool { return r.name != "" }

// End closes the region if it is open.
func (r *Region) End() {
	if r.name != "" {
		userRegion(0, regionEnd, r.name)
		r.name = ""
	}
}
