package client

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// slowSince compares every packet with every command.
func slowSince(a *receipts, cmds []sim.Command, has packet.AckState) (list []sim.Arrival) {
	for back := range uint64(sim.MaxArrivals) {
		if has.Newest <= back {
			break
		}
		seq := has.Newest - back
		if !has.Has(seq) {
			continue
		}
		for i := len(cmds) - 1; i >= 0; i-- {
			if cmds[i].View != (tick.View{}) && !a.ring[cmds[i].Tick%clock.History].Has(seq) {
				list = append(list, sim.Arrival{Back: uint8(back), Since: uint8(len(cmds) - 1 - i)})
				break
			}
		}
	}
	return list
}

// TestArrivalsSince: packets arrive in order, late, in bursts and not at all, while commands are
// issued.
func TestArrivalsSince(t *testing.T) {
	longest := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var a receipts
		var has packet.AckState
		got := map[uint64]bool{}
		var cmds []sim.Command
		next := uint64(1)
		for now := tick.Tick(1); now < 200; now++ {
			for range rng.IntN(1 + int(seed%8)) {
				seq := next
				switch rng.IntN(8) {
				case 0:
					next += rng.Uint64N(3 + seed%70) // lost, or late
				case 1:
					seq -= min(seq-1, rng.Uint64N(70))
				}
				next = max(next, seq+1)
				got[seq] = true
				has.Newest = max(has.Newest, seq)
				has.Bits = 0
				for n := range uint64(64) {
					if has.Newest > n+1 && got[has.Newest-1-n] {
						has.Bits |= 1 << n
					}
				}
			}
			cmd := sim.Command{Tick: now}
			if rng.IntN(3) == 0 {
				cmd.View = tick.View{From: now, To: now}
			}
			a.issued(now, has)
			cmds = append(cmds, cmd)
			window := cmds[max(0, len(cmds)-1-rng.IntN(sim.MaxWindow)):]
			list, want := a.since(window, has), slowSince(&a, window, has)
			if !slices.Equal(list, want) {
				t.Fatalf("seed %d, tick %d: %v, want %v", seed, now, list, want)
			}
			longest = max(longest, len(list))
		}
	}
	if longest < sim.MaxArrivals {
		t.Errorf("at most %d packets in a list", longest)
	}
}
