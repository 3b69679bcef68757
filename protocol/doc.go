// Package protocol lays out the messages that client and server exchange in packets, byte by
// byte: the Welcome and the Ready that begin a session, the roster, chat, spectating, content,
// map changes and the time scale. Values go in and bytes come out, or bytes go in and values or a
// packet.Drop come out. It keeps no state, allocates only the strings that it returns, and may be
// used by any goroutine.
//
// All numbers are little-endian and byte-aligned. PROTOCOL.md draws the same bytes for people;
// the tests hold the code to it. Every Append writes at the end of dst, as append does. Every
// Parse accepts exactly the bytes that its Append can write.
package protocol
