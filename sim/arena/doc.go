// Package arena is the map of a match: static boxes, ramps and spawn points. A map file, or a
// number of players and a seed, goes in; an immutable Arena comes out, which answers four queries
// without allocating: the solids near a point, what a body may touch there (Ground), the first hit
// of a ray, and the first touch of a moving sphere. Any number of goroutines may query it at once.
//
// Lengths are metres, y is up, and every coordinate is a multiple of 1/64 m within 2000 m of the
// origin: such numbers are exact in float32, and so are the differences between any two of them.
//
// Both ends of a match compare Hash; equal hashes mean equal maps, whatever the files were called.
package arena
