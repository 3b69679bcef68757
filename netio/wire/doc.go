// Package wire lays out packages byte by byte: what is sealed inside a datagram. Values go in and bytes come out, or bytes
// come in and values or a reason to drop them come out. It keeps no state and allocates nothing but the arena's name in a
// Welcome.
//
// All numbers are little-endian and all of it is byte-aligned. PROTOCOL.md draws the same bytes for people; the tests here
// hold the code to it. Every Append writes at the end of dst, as append does, and every Parse accepts exactly the bytes
// that its Append can write: what parses, writes back to the same bytes.
package wire
