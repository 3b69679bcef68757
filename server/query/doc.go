// Package query tells strangers what is played on a server, in the Server Query Protocol (SQP) that
// hosters and server browsers speak. Requests and their senders' addresses go in; datagrams to send
// come out. It opens no socket, starts no goroutine and reads no clock.
//
// A client asks for a challenge, and asks again with the token it got:
//
//	client                     server
//	challenge   5 bytes   ->
//	                      <-   challenge   5 bytes, with a token
//	query       8 bytes   ->
//	                      <-   response    one to MaxPackets datagrams of at most MaxPacket bytes
//
// A token is a keyed hash of the address it was sent to and of the time, so the server remembers
// nobody: it is worth nothing from another address, and nothing after 20 seconds. Who has not shown
// one gets no byte more than it has sent. The reference, whose tokens live for ever and are not
// looked at when they come back, answers anybody whose address once asked.
package query
