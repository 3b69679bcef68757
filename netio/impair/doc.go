// Package impair is a bad link. Datagrams and the instants of their sending go in; the same datagrams come out late,
// twice, out of order, damaged, or never, as a profile asks and a seed decides: one seed, one fate.
//
//	Link   one way in virtual time; it reads no clock and opens no socket
//	Conn   a Link in front of any netio.Conn
//	Proxy  two Links for every client, between real UDP sockets and in real time (the files proxy*.go)
//
// What a datagram meets on its way, in this order: a blackhole; loss, alone or in bursts; duplication; then each copy
// by itself a queue of bounded bytes and rate; delay, jitter and reordering; corruption or truncation.
package impair
