// Package alloctest counts heap allocations in tests. A function and a number of calls go in; the
// allocations of all these calls together come out. testing.AllocsPerRun divides by the calls and
// rounds down, so that with 100 calls a function that allocates in every second one has none.
package alloctest

import "testing"

// series is how often the calls are counted at most: the runtime's own goroutines allocate now and
// then, but not in each series.
const series = 3

// In returns the heap allocations of calls calls of f: the least of up to three series, after one
// that does not count. GOMAXPROCS is 1 meanwhile. A value above 0 means that f allocates in each
// series.
func In(calls int, f func()) float64 {
	all := func() {
		for range calls {
			f()
		}
	}
	least := testing.AllocsPerRun(1, all) // it runs all twice, and counts the second
	for range series - 1 {
		if least == 0 {
			break
		}
		least = min(least, testing.AllocsPerRun(1, all))
	}
	return least
}
