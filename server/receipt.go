package server

import "github.com/tickrate/tickrate/ecs/tick"

// receipt remembers what a package carried of a snapshot, for when it is acknowledged. 0 is nothing.
//
//	bits 32..63  tick of the snapshot
//	bits 24..31  first group of players
//	bits 15..23  number of groups of players
//	bit  14      with the owner's row
//	bits 7..13   first group of things
//	bits 0..6    number of groups of things
type receipt uint64

// span is a number of groups from first on.
type span struct{ first, count int }

func makeReceipt(t tick.Tick, owner bool, players, things span) receipt {
	r := receipt(t)<<32 | receipt(players.first&0xff)<<24 | receipt(players.count&0x1ff)<<15 | receipt(things.first&0x7f)<<7 | receipt(things.count&0x7f)
	if owner {
		r |= 1 << 14
	}
	return r
}

func (r receipt) tick() tick.Tick { return tick.Tick(r >> 32) }
func (r receipt) owner() bool     { return r>>14&1 != 0 }
func (r receipt) players() span   { return span{int(r >> 24 & 0xff), int(r >> 15 & 0x1ff)} }
func (r receipt) things() span    { return span{int(r >> 7 & 0x7f), int(r & 0x7f)} }
