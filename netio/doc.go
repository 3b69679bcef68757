// Package netio moves UDP datagrams in batches. Datagrams to send go in; received datagrams come
// out, 64 at a time and with their addresses. One goroutine, the owner, calls Receive, Send and
// Close of a Conn; only Stats may be called from others.
//
//	ListenGnet  a gnet event loop fills a ring as datagrams arrive; the owner takes them from it
//	ListenMmsg  the owner reads the socket itself, 64 datagrams per system call
//	ListenNet   a net.UDPConn and a reading goroutine; the fallback for systems other than Linux
//	Memory      endpoints inside one goroutine, in order, for tests in virtual time
//	ClientPool  thousands of clients driven by one goroutine
//
// A Batch owns its memory and is reused. Moving a datagram does not allocate, block or log. Every
// datagram is counted once, see Stats. Addresses are canonical: an IPv4 peer is 192.0.2.1 also on
// an IPv6 socket.
package netio
