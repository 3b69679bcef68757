// Package report writes a capacity plan for people and for programs. A Plan and a directory go in;
// three files come out, each written whole or not at all, so that an interrupted plan never leaves
// half a file:
//
//	index.html   the verdict, charts and every step; opens from disk and asks no server for anything
//	plan.json    the plan itself, for programs and for later comparison
//	bench.txt    one line for each step in Go's benchmark format, for benchstat
//
// Plans of no, one or many steps are written as they are. Partial plans say that they are partial.
// The command plan writes reports; inspect draws the clocks of a client with WriteClocks.
package report
