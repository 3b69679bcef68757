// Package meter counts and measures without disturbing what it measures. Events and durations go
// in; totals and quantiles come out. Recording never allocates and never waits for a reader; any
// goroutine may call every method.
package meter
