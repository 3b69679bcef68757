//go:build nounsafe

package traceregion

import (
	"context"
	"runtime/trace"
)

// Allocates is whether regions allocate while a trace runs.
const Allocates = true

var noTask = context.Background()

// Region is a region that may be open. The zero value is not.
type Region struct{ region *trace.Region }

// Begin opens a region of the calling goroutine, which must end it. It
// allocates.
func (r *Region) Begin(name string) { r.region = trace.StartRegion(noTask, name) }

// Open reports whether the region has begun and not ended.
func (r *Region) Open() bool { return r.region != nil }

// End closes the region if it is open.
func (r *Region) End() {
	if r.region != nil {
		r.region.End()
		r.region = nil
	}
}
