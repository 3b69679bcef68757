package client

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// arrivals remembers what had arrived when each command with a view was made, by tick.
type arrivals struct {
	ring [ringTicks]packet.AckState
	list [sim.MaxArrivals]sim.Arrival
}

// note remembers what has arrived by now for the command of a tick.
func (a *arrivals) note(t tick.Tick, has packet.AckState) { a.ring[t%ringTicks] = has }

// since lists, for a window of commands that is sent now, the packages that came after some of those with a view were made, the newest
// package first. Nothing leaves what has arrived, and each command's is part of has.
func (a *arrivals) since(cmds []sim.Command, has packet.AckState) []sim.Arrival {
	if has.Newest == 0 {
		return nil
	}
	if has.Newest <= 64 {
		has.Bits &= 1<<(has.Newest-1) - 1 // sequences begin at 1
	}
	found, newest := uint64(0), false // of those before the newest, and that one
	var came [64]uint8                // by bit of found: since which command
	last := 0                         // likewise of the newest
	for i := len(cmds) - 1; i >= 0; i-- {
		if cmds[i].View == (tick.View{}) { // as most
			continue
		}
		had := a.ring[cmds[i].Tick%ringTicks]
		if back := has.Newest - had.Newest; back > 0 {
			had.Bits = had.Bits<<back | 1<<(back-1)
			if !newest {
				newest, last = true, len(cmds)-1-i
			}
		}
		fresh := has.Bits &^ had.Bits &^ found
		found |= fresh
		for ; fresh != 0; fresh &= fresh - 1 {
			came[bits.TrailingZeros64(fresh)] = uint8(len(cmds) - 1 - i)
		}
	}
	n := 0
	if newest {
		a.list[0] = sim.Arrival{Since: uint8(last)}
		n = 1
	}
	for ; found != 0; found &= found - 1 {
		back := bits.TrailingZeros64(found)
		a.list[n] = sim.Arrival{Back: uint8(back + 1), Since: came[back]}
		n++
	}
	return a.list[:n]
}
