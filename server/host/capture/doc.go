// Package capture keeps what a server knows of its newest ticks and writes it down when one of them
// misses its deadline or exceeds a limit. Stages, connections and times of ticks go in, as marks of
// the threads that play; a folder for each captured tick comes out: an execution trace, the same
// ticks for Perfetto, a table of the stages with their medians, and the cause.
//
// A Recorder belongs to the process, since the flight recorder of the runtime does. A Thread belongs
// to the goroutine of a worker, and a Lobby to the worker that plays it. They write marks into
// memory that is allocated at the start; the files are written by a goroutine of the Recorder.
package capture
