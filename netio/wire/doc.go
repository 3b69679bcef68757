// Package wire lays out every datagram byte by byte. Values go in and bytes come out, or bytes come in and values or
// a reason to drop them come out. It keeps no state and allocates nothing but the arena's name in an Accept.
//
// All numbers are little-endian and all messages byte-aligned. The first byte is the Kind. PROTOCOL.md draws the same
// bytes for people; the tests here hold the code to it. Every Append writes at the end of dst, as append does, and
// every Parse accepts exactly the bytes that its Append can write: what parses, writes back to the same bytes.
//
// The signed and encrypted handshake (netcode 1.02) will take the place of kinds 1 to 5 and of the kind and token that
// open a payload; the package header behind them (sequence to echo) stays.
package wire
