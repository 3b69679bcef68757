// Package bench writes BENCHMARKS.md. The output of go test -bench goes in (Go's benchmark format,
// any number of runs of each benchmark); a page of Markdown comes out: one table for each station
// of the pipeline, with the rival of each benchmark. It measures nothing itself.
//
//	Meta     where and how the runs were made
//	Write    results in, page out
//
// A ratio of two lines of one run means more than a time: machines differ and are noisy, and both
// lines met the same machine. So a benchmark that claims speed runs its rival as a sub-benchmark
// with a name of rivalWords: naive, plain, scalar, brute.
package bench
