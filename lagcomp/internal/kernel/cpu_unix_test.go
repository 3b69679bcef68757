//go:build unix

package kernel

import (
	"syscall"
	"testing"
)

// cpuNanos is the processor time this process has used. Machines that measure are shared; the wall
// clock counts the others too.
func cpuNanos(tb testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}
