// Package dash is a host's live page: what its lobby does, for somebody with a browser. Frames of plain numbers go in, a few a
// second and only while somebody watches; a page, a map and a stream of server-sent events come out. It never sees the game.
//
// Whoever makes frames never waits: it writes into memory of its own and swaps an index. A goroutine that runs only while there are
// readers turns a frame into text once for all of them. There are at most MaxReaders; one that does not keep up misses frames, which
// are counted, and one that takes nothing for a while is let go.
package dash
