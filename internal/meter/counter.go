package meter

import "sync/atomic"

// Counter is a number that only grows. The zero value is ready. It must not be copied after first
// use.
type Counter struct{ n atomic.Uint64 }

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Add adds n. Prefer one Add a batch to an Inc an item: an atomic addition costs some 5 ns.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

// Load returns the total so far.
func (c *Counter) Load() uint64 { return c.n.Load() }
