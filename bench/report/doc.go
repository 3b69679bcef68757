// Package report writes a capacity plan down for people and for programs. A Plan and a directory go in; three
// files come out, each written whole or not at all, so that a reader or a plan stopped by Ctrl-C never sees half a one:
//
//	index.html   the verdict, charts and every step; opens from disk, asks no server for anything
//	plan.json    the plan itself, for scripts and for comparing later
//	bench.txt    one line per step in Go's benchmark format, for benchstat
//
// Partial plans of no, one or many steps are written as they are and say that they are partial.
package report
