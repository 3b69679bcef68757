//go:build !unix

package kernel

import (
	"testing"
	"time"
)

var started = time.Now()

// cpuNanos is the time since the start: this system's processor time is not read.
func cpuNanos(testing.TB) float64 { return float64(time.Since(started)) }
