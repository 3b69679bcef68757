package traceregion

import (
	"bytes"
	"runtime/trace"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// A trace has the names of the regions that were opened while it ran, and no name of others.
func TestTraceHasTheRegions(t *testing.T) {
	var out bytes.Buffer
	var r Region
	r.Begin("before the trace")
	if err := trace.Start(&out); err != nil {
		t.Skip(err) // another trace runs
	}
	r.End()
	r.Begin("within the trace")
	if !r.Open() {
		t.Error("a region that has begun is not open")
	}
	r.End()
	r.End()
	trace.Stop()
	if r.Open() {
		t.Error("a region that has ended is open")
	}
	if !bytes.Contains(out.Bytes(), []byte("within the trace")) {
		t.Error("the trace lacks the region")
	}
}

// Regions allocate nothing while a flight recorder runs.
func TestRegionsAllocateNothing(t *testing.T) {
	if Allocates {
		t.Skip("built with nounsafe")
	}
	f := trace.NewFlightRecorder(trace.FlightRecorderConfig{MaxBytes: 1 << 20})
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	var r Region
	if n := alloctest.In(1000, func() { r.Begin("a"); r.End() }); n != 0 {
		t.Errorf("a region allocates %v times", n)
	}
}
