// Package query answers server browsers in the Server Query Protocol (SQP). Requests and the
// addresses of their senders go in; datagrams to send come out. It opens no socket, starts no
// goroutine and reads no clock. A Responder and a Client belong to one goroutine each.
//
// A client asks for a challenge, and asks again with the token it got:
//
//	client                     server
//	challenge   5 bytes   ->
//	                      <-   challenge   5 bytes, with a token
//	query       8 bytes   ->
//	                      <-   response    one to MaxPackets datagrams of at most MaxPacket bytes
//
// A token is a keyed hash of the client's address and the time, so the server keeps no state per
// client. It is valid from its own address only, for 10 to 20 seconds. Without a valid token a
// client is sent at most as many bytes as it sent: the port amplifies nothing. Unity's
// implementation neither expires tokens nor checks them.
package query
