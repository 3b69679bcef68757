package dst

import (
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

// BenchmarkMinute plays a virtual minute of a lobby with encryption and faults, on one core, and
// reports its CPU time. lobby is the server, its clients, links and
// attackers alone; whole is the same minute, to the bit (TestWithoutChecks), with all checks, the
// shadow match and the recording. setup-ns/op is the time to make a run, which both include.
func BenchmarkMinute(b *testing.B) {
	for _, c := range []struct {
		name string
		seed uint64
		skip skipped
	}{
		{"players=32/lobby", 7, skipped{checks: true}},
		{"players=32/whole", 7, skipped{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			runtime.LockOSThread() // its CPU time is measured
			defer runtime.UnlockOSThread()
			var setup, spent time.Duration
			for range b.N {
				from := clock.ThreadCPU()
				r, err := newRun(Case{Seed: c.seed}, c.skip)
				if err != nil {
					b.Fatal(err)
				}
				setup += clock.ThreadCPU() - from
				if v := r.play(); v != nil {
					b.Fatal(v)
				}
				spent += clock.ThreadCPU() - from
			}
			b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(setup)/float64(b.N), "setup-ns/op")
		})
	}
}
