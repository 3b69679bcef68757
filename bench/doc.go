// Package bench writes BENCHMARKS.md. The output of go test -bench goes in (Go's benchmark format,
// six rounds of all benchmarks); a page of Markdown comes out: one table for each station of the
// pipeline. It measures nothing itself.
//
//	Jobs     the benchmarks that the page needs
//	Write    results in, page out
//
// A ratio of two lines of one round means more than a time: machines differ and are noisy, and both
// lines met the same machine. So a benchmark that claims speed runs its rival as a sub-benchmark, or
// the limit of its job, and opponents.go says in at most six words what code that is. A variant that
// is not named there is compared with nothing.
package bench
