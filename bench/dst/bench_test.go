package dst

import (
	"runtime"
	"testing"

	"github.com/tickrate/tickrate/internal/pace"
)

// BenchmarkMinute is a virtual minute of a lobby with encryption, faults and all invariants: how many times faster than life, on one core.
func BenchmarkMinute(b *testing.B) {
	for _, c := range []struct {
		name string
		seed uint64
	}{{"players=32", 7}, {"players=10", 2}} {
		b.Run(c.name, func(b *testing.B) {
			runtime.LockOSThread() // whose time is taken
			defer runtime.UnlockOSThread()
			spent := pace.ThreadCPU()
			for range b.N {
				w, err := newWorld(Case{Seed: c.seed}, false)
				if err != nil {
					b.Fatal(err)
				}
				if breach := w.run(); breach != nil {
					b.Fatal(breach)
				}
			}
			spent = pace.ThreadCPU() - spent
			b.ReportMetric(float64(b.N)*Length.Seconds()/spent.Seconds(), "x-real-time")
		})
	}
}
