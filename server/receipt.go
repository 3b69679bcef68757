package server

import "github.com/tickrate/tickrate/ecs/tick"

// ackTag remembers what a package carried of a snapshot, for when it is acknowledged. 0 is nothing.
//
//	bits 32..63  tick of the snapshot
//	bits 24..31  first group of players
//	bits 15..23  number of groups of players
//	bit  14      with the owner's row
//	bits 7..13   first group of things
//	bits 0..6    number of groups of things
type ackTag uint64

// groupRange is a number of groups from first on.
type groupRange struct{ first, count int }

func makeAckTag(t tick.Tick, owner bool, players, things groupRange) ackTag {
	r := ackTag(t)<<32 | ackTag(players.first&0xff)<<24 | ackTag(players.count&0x1ff)<<15 | ackTag(things.first&0x7f)<<7 | ackTag(things.count&0x7f)
	if owner {
		r |= 1 << 14
	}
	return r
}

func (r ackTag) tick() tick.Tick     { return tick.Tick(r >> 32) }
func (r ackTag) owner() bool         { return r>>14&1 != 0 }
func (r ackTag) players() groupRange { return groupRange{int(r >> 24 & 0xff), int(r >> 15 & 0x1ff)} }
func (r ackTag) things() groupRange  { return groupRange{int(r >> 7 & 0x7f), int(r & 0x7f)} }
