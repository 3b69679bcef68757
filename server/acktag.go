package server

import "github.com/tickrate/tickrate/ecs/tick"

// ackTag says what a packet carried of a snapshot. It comes back with the packet's ack. 0 is
// nothing.
//
//	bits 32..63  tick of the snapshot
//	bits 24..31  first group of players
//	bits 15..23  number of groups of players
//	bit  14      with the owner row
//	bits 7..13   first group of objects
//	bits 0..6    number of groups of objects
type ackTag uint64

// groupRange is count groups from first on.
type groupRange struct{ first, count int }

// packetContent is what a packet carries of a snapshot.
type packetContent struct {
	tick             tick.Tick
	owner            bool
	players, objects groupRange
}

func (p packetContent) ackTag() ackTag {
	a := ackTag(p.tick)<<32 | ackTag(p.players.first&0xff)<<24 | ackTag(p.players.count&0x1ff)<<15 |
		ackTag(p.objects.first&0x7f)<<7 | ackTag(p.objects.count&0x7f)
	if p.owner {
		a |= 1 << 14
	}
	return a
}

func (a ackTag) tick() tick.Tick     { return tick.Tick(a >> 32) }
func (a ackTag) owner() bool         { return a>>14&1 != 0 }
func (a ackTag) players() groupRange { return groupRange{int(a >> 24 & 0xff), int(a >> 15 & 0x1ff)} }
func (a ackTag) objects() groupRange { return groupRange{int(a >> 7 & 0x7f), int(a & 0x7f)} }
