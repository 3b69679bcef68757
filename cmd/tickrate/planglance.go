package main

import (
	"math/bits"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
)

// glances count how the sets of those change whom players see, from snapshot to snapshot.
type glances struct {
	snapshots int // that were looked at
	appeared  int // rows that came in sight
	told      int // rows
	blocks    int // and those of them that go in blocks
	flights   flight
}

// flight counts what of all that flies is told.
type flight struct {
	all, told             int // in the air or at rest
	launches, launchesNow int // what has just set out, and what is told of that at once
	came                  int // what comes in sight later
}

func (f *flight) add(o flight) {
	f.all, f.told, f.launches, f.launchesNow, f.came = f.all+o.all, f.told+o.told, f.launches+o.launches, f.launchesNow+o.launchesNow, f.came+o.came
}

func (g *glances) add(o glances) {
	g.snapshots, g.appeared, g.told, g.blocks = g.snapshots+o.snapshots, g.appeared+o.appeared, g.told+o.told, g.blocks+o.blocks
	g.flights.add(o.flights)
}

// note counts one snapshot to one client, from who is in which slot, and whom it was told of before and now. open is memory for as many.
func (g *glances) note(ids []netid.ID, was, now, open []uint64) {
	for i, w := range now {
		g.appeared += bits.OnesCount64(w &^ was[i])
		g.told += bits.OnesCount64(w)
		open[i] = ^uint64(0) // as a lobby has it: a block is whole if all who are there are seen
	}
	for slot, id := range ids {
		if id != 0 {
			open[slot>>6] &^= (^now[slot>>6]) & (1 << (slot & 63))
		}
	}
	groups, run := (len(ids)+snapshot.GroupRows-1)/snapshot.GroupRows, 0
	for k := range groups + 1 {
		if k < groups && group(open, k) == 1<<snapshot.GroupRows-1 {
			run++
			continue
		}
		if run >= snapshot.LeastWhole { // blocks are shared by so many in a row
			for shared := k - run; shared < k; shared++ {
				g.blocks += bits.OnesCount16(group(now, shared))
			}
		}
		run = 0
	}
	g.snapshots++
}

// group is the rows of one in a set.
func group(set []uint64, k int) uint16 {
	slot := k * snapshot.GroupRows
	return uint16(set[slot>>6] >> (slot & 63))
}

// facts are what they come to where so many snapshots a second are sent.
func (g *glances) facts(rate float64) (f capacity.Glances) {
	if g.snapshots == 0 {
		return f
	}
	n, share := float64(g.snapshots), func(part, all int) float64 { return float64(part) / float64(max(all, 1)) }
	return capacity.Glances{Snapshots: n, Appear: float64(g.appeared) / n * rate, Blocks: share(g.blocks, g.told), Flights: share(g.flights.told, g.flights.all),
		Launches: share(g.flights.launchesNow, g.flights.launches), Came: float64(g.flights.came) / n * rate}
}
