// Package bench makes BENCHMARKS.md. The output of go test -bench goes in (Go's benchmark format, any number of runs of
// each benchmark), a page of Markdown comes out: one table a station, in the order in which data goes round the circle,
// with the rival of each benchmark beside it. It measures nothing itself.
//
//	Meta     where and how the runs were made
//	Write    results in, page out
//
// A ratio in one run says more than a time: machines differ and are noisy, and both sides of a ratio had the same one.
// So a benchmark that claims speed runs its rival beside it, as a sub-benchmark named for what it is: naive, plain,
// scalar, brute and the like (rivalWords).
package bench
