package host

import (
	"strings"
	"testing"
)

// A host whose ticks have workers prints their number and ends them (TestMain checks). Invalid numbers
// are refused before anything is opened.
func TestTickWorkers(t *testing.T) {
	for _, c := range []struct{ workers, want int }{{0, 1}, {1, 1}, {3, 3}} {
		cfg := hostConfig("mmsg")
		cfg.TickWorkers = c.workers
		h, stop := running(t, cfg)
		at := "http://" + h.HTTPAddr()
		eventually(t, "the first tick ends", func() bool { return figures(t, at).TickWall.Max > 0 })
		if r := figures(t, at); r.Workers != c.want || h.pool.Workers() != c.want ||
			(h.initial().lobby.Config().Runner != nil) != (c.want > 1) {
			t.Errorf("%d workers asked for: %d are told, the pool has %d, want %d",
				c.workers, r.Workers, h.pool.Workers(), c.want)
		}
		stop()
	}
	for _, workers := range []int{-1, MaxTickWorkers + 1} {
		cfg := hostConfig("mmsg")
		cfg.TickWorkers = workers
		if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), "expected 1 to 16") {
			t.Errorf("%d workers: check says %v", workers, err)
		}
		if _, err := New(cfg); err == nil {
			t.Errorf("a host with %d workers", workers)
		}
	}
}
