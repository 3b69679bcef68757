// Package floor measures what the datagrams of a server cost in a loop that does nothing else: the
// least that a tick with this traffic takes on this machine. Traffic goes in; CPU time by part comes
// out. Measure opens sockets on the loopback and starts two threads, which end with it.
//
// A turn of the loop is what a server does between two waits, with the same datagrams:
//
//	recvmmsg    64 at a time, until fewer come
//	open        ChaCha20-Poly1305 by the key of the sender's address, in place
//	seal        ChaCha20-Poly1305 by the key of the receiver's address
//	sendmmsg    64 at a time; neighbours to one address leave as one (UDP_SEGMENT)
//
// Counted is the CPU time, user and system, of the one thread that makes these calls. It runs on the
// server's processor. The clients are another thread, which runs elsewhere and is not counted. On the
// loopback a send delivers, too: the thread pays for what the kernel does to put its datagrams into
// the clients' socket, and the clients pay for the delivery of theirs, as in a plan.
//
// The package is frozen. It imports nothing of this module, so a faster transport of ours changes the
// tick and not the floor below it. Caches are warm: nothing else runs between two turns.
package floor
