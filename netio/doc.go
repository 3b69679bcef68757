// Package netio moves datagrams in batches. Datagrams to send go in, datagrams received come out, 64 at a time and
// with their addresses, through one seam, Conn, that hides where they travel:
//
//	ListenGnet  a gnet event loop fills a ring as datagrams arrive; the owner takes what lies there
//	ListenMmsg  the owner asks the kernel itself, 64 datagrams a system call
//	ListenNet   a net.UDPConn and a reading goroutine; what the two above fall back to where Linux's calls are missing
//	Memory      endpoints inside one process, in order and without a goroutine, for tests in virtual time
//	ClientPool       the other end: thousands of client sockets driven by one goroutine
//
// Ownership is simple: one goroutine, the owner, calls Receive, Send and Close; only Stats may be called from anywhere.
// A Batch owns its memory and is reused; nothing on the way of a datagram allocates, blocks or logs. Every datagram is
// counted once, see Stats.
//
// Addresses are always in their short form: an IPv4 peer is 192.0.2.1 also on a socket that speaks IPv6.
package netio
