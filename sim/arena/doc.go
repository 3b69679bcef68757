// Package arena is the ground a match is played on: boxes, ramps and places to spawn, none of which
// ever moves. A map file, or a number of players and a seed, goes in; an immutable Arena comes out,
// which answers two questions without allocating: what stands near here, and how far does this ray
// fly. Any number of goroutines may ask at once.
//
// Lengths are metres, y is up, and every coordinate is a multiple of 1/64 m within 2000 m of the
// origin: such numbers are exact in float32, and so are the differences between any two of them.
//
// Both ends of a match compare Hash; equal hashes mean equal ground, whatever the files were
// called.
package arena
