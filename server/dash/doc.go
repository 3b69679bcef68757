// Package dash is the live page of a lobby, for a browser. Frames of plain numbers go in, a few a
// second and only while there are readers; a page, a map and a stream of server-sent events come
// out. It knows nothing of the game.
//
// The goroutine that makes frames never waits: it writes into memory of its own and swaps an index.
// A goroutine that runs only while there are readers encodes each frame once for all of them. There
// are at most MaxReaders; a slow reader misses frames, which are counted, and a reader that takes
// nothing for seconds is closed.
package dash
