// Package netid names entities on the wire and in memory. A slot and a generation go in; a 32-bit
// id comes out. It imports nothing of this module, so that a client, a snapshot or a tool can speak
// of entities without a world.
package netid
