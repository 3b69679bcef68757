// Package impair simulates bad network links. Datagrams and the instants of their sending go in;
// the same datagrams come out late, twice, out of order, altered, or never, as a profile says and
// a seed decides. A Link belongs to one goroutine; a Proxy may be used by any.
//
//	Link   one direction in virtual time; it reads no clock and opens no socket
//	Proxy  two Links per client, between UDP sockets and in real time (the files proxy*.go)
//
// Impairments apply in this order: a blackhole; loss, alone or in bursts; duplication; then, for
// each copy, a queue of bounded bytes and rate; delay, jitter and reordering; corruption or
// truncation.
package impair
