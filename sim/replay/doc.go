// Package replay records matches and plays them again. A recording is a state from time to time (a
// key) and the inputs of every tick in between, with checksums of the match every so often. Ticks
// of a sim.Match go in, and chunks come out; chunks go in, and a second match comes out that
// equals the first, tick by tick, or the tick and the number where it differs.
//
//	Recorder   a match     -> raw chunks, in the tick
//	RawChunk   copies      -> a chunk, on any goroutine
//	Chunk      a piece     <-> bytes of a recording
//	Reader     a recording -> its head and chunks
//	Player     chunks      -> a match
//	FlightRecorder  a match that panics -> chunks of its last seconds
//	Killcam    a match     -> the last seconds, as a recording
//
// It opens no file, starts no goroutine and reads no clock; one goroutine at a time uses a value.
// Recordings may be hostile: each is either refused with an error or played by the rules, in
// memory bounded by the limits below.
package replay
