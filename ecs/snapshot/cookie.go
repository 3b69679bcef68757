package snapshot

import "github.com/tickrate/tickrate/ecs/tick"

// Cookie remembers what a datagram carried, for when it is acknowledged. 0 is nothing.
//
//	bits 32..63  tick of the snapshot
//	bits 16..31  first group
//	bit  15      with the owner's row
//	bits 0..14   number of groups
type Cookie uint64

// MakeCookie packs a datagram's contents as Packer.Next returns them.
func MakeCookie(t tick.Tick, first, count int, owner bool) Cookie {
	c := Cookie(t)<<32 | Cookie(first&0xffff)<<16 | Cookie(count&0x7fff)
	if owner {
		c |= 1 << 15
	}
	return c
}

// Tick is the snapshot's tick.
func (c Cookie) Tick() tick.Tick { return tick.Tick(c >> 32) }

// Groups returns the first group and how many there were.
func (c Cookie) Groups() (first, count int) { return int(c >> 16 & 0xffff), int(c & 0x7fff) }

// Owner reports whether the datagram carried the owner's row.
func (c Cookie) Owner() bool { return c>>15&1 != 0 }
