package hugepage

import (
	"context"
	"runtime/metrics"
	"time"
)

// Rest is what a process that keeps time does between two pages.
func Rest() { time.Sleep(2 * time.Millisecond) }

// Keep calls Heap now, and again after any second in which the process has taken more memory from the system, until ctx ends.
func Keep(ctx context.Context) {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	var had uint64
	for second := time.NewTicker(time.Second); ctx.Err() == nil; {
		if metrics.Read(total); total[0].Value.Uint64() > had {
			had = total[0].Value.Uint64()
			Heap(ctx, Rest)
		}
		select {
		case <-ctx.Done():
		case <-second.C:
		}
	}
}
