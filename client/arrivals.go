package client

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/sim"
)

// arrivals remembers what had arrived when each command with a view was made, by tick.
type arrivals struct {
	ring [ringTicks]session.Arrivals
	list [sim.MaxArrivals]sim.Arrival
}

// note remembers what has arrived by now for the command of a tick.
func (a *arrivals) note(t tick.Tick, has session.Arrivals) { a.ring[t%ringTicks] = has }

// since lists, for a window of commands that is sent now, the packages that came after some of those with a view were made, the newest
// package first.
func (a *arrivals) since(cmds []sim.Command, has session.Arrivals) []sim.Arrival {
	n, views := 0, 0
	for i := range cmds {
		if cmds[i].View != (tick.View{}) {
			views++
		}
	}
	if views == 0 { // as most windows
		return nil
	}
	for back := range uint64(sim.MaxArrivals) {
		if has.Newest <= back {
			break
		}
		seq := has.Newest - back
		if !has.Has(seq) {
			continue
		}
		for i := len(cmds) - 1; i >= 0; i-- {
			if cmds[i].View != (tick.View{}) && !a.ring[cmds[i].Tick%ringTicks].Has(seq) {
				a.list[n] = sim.Arrival{Back: uint8(back), Since: uint8(len(cmds) - 1 - i)}
				n++
				break
			}
		}
	}
	return a.list[:n]
}
