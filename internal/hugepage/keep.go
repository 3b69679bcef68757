package hugepage

import (
	"context"
	"runtime/metrics"
	"time"
)

// Pause is what a process that keeps time does between two pages.
func Pause() { time.Sleep(2 * time.Millisecond) }

// KeepCollapsed calls CollapseHeap now, and again after any second in which the process has taken
// more memory from the system, until ctx ends.
func KeepCollapsed(ctx context.Context) {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	var had uint64
	for second := time.NewTicker(time.Second); ctx.Err() == nil; {
		if metrics.Read(total); total[0].Value.Uint64() > had {
			had = total[0].Value.Uint64()
			CollapseHeap(ctx, Pause)
		}
		select {
		case <-ctx.Done():
		case <-second.C:
		}
	}
}
