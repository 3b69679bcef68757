// Package replay records matches and plays them again. A match is what it was and what came into it: a recording is a state from time
// to time (a key) and the diary of every tick in between, with fingerprints of the match every so often. Ticks of a sim.Match go in, and
// chunks come out; chunks go in, and a second match comes out that is the first, tick by tick, or the tick and the number where it is not.
//
//	Recorder   a match     -> chunks
//	Chunk      a piece     <-> bytes of a recording
//	Reader     a recording -> its head and chunks
//	Player     chunks      -> a match
//	Killcam        a match     -> the last seconds, as a recording
//
// It opens no file, starts no goroutine and reads no clock. Recordings may be hostile: whatever is in one, it is refused with an error or
// played as the rules have it, in memory bounded by the limits below.
package replay
