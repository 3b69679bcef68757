// Package protocol lays out what client and server say to each other in packets, byte by byte: the Welcome and the Ready
// that begin a session, the roster, chat, spectating, content, map changes and the time scale. Values go in and bytes come
// out, or bytes come in and values or a packet.Drop come out. It keeps no state and allocates only the strings that it
// returns, and anybody may call it.
//
// All numbers are little-endian and all of it is byte-aligned. PROTOCOL.md draws the same bytes for people; the tests here
// hold the code to it. Every Append writes at the end of dst, as append does, and every Parse accepts exactly the bytes
// that its Append can write: what parses, writes back to the same bytes.
package protocol
