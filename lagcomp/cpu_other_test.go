//go:build !unix

package lagcomp

import (
	"testing"
	"time"
)

var started = time.Now()

// cpuNanos is the time since the start: this system's processor time is not read.
func cpuNanos(testing.TB) int64 { return int64(time.Since(started)) }
