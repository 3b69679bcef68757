package lagcomp

import (
	"syscall"
	"testing"
)

// cpuNanos is the processor time this process has used. Machines that measure are shared; the wall
// clock counts the others too.
func cpuNanos(tb testing.TB) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// loop runs f for the benchmark's iterations and reports its processor time as ns/op and as ns per
// thing, in the unit given.
func loop(b *testing.B, things int, unit string, f func()) {
	b.ReportAllocs()
	from := cpuNanos(b)
	for b.Loop() {
		f()
	}
	each := float64(cpuNanos(b)-from) / float64(b.N)
	b.ReportMetric(each, "ns/op")
	b.ReportMetric(each/float64(things), "ns/"+unit)
}
