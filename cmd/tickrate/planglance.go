package main

import (
	"math/bits"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/snapshot"
)

// glances count how the sets of those change whom players see, from snapshot to snapshot.
type glances struct {
	snapshots int // that were looked at
	appeared  int // rows that came in sight
	whole     int // snapshots with a block that is seen whole
	told      int // rows
	blocks    int // and those of them that go in blocks

	flights, flightsTold   int // in the air or at rest, and those of them that are told
	launches, launchesTold int // likewise, of what has just set out
	flightsCame            int // that came in sight later
}

func (g *glances) add(o glances) {
	g.snapshots, g.appeared, g.whole, g.told, g.blocks = g.snapshots+o.snapshots, g.appeared+o.appeared, g.whole+o.whole, g.told+o.told, g.blocks+o.blocks
	g.flights, g.flightsTold, g.launches, g.launchesTold = g.flights+o.flights, g.flightsTold+o.flightsTold, g.launches+o.launches, g.launchesTold+o.launchesTold
	g.flightsCame += o.flightsCame
}

// note counts one snapshot to one client, from who is in which slot, whom it was told of before and now. open is memory for as many.
func (g *glances) note(ids []ecs.NetID, was, now, open []uint64) {
	copy(open, now)
	for slot, id := range ids {
		if id == 0 {
			open[slot>>6] |= 1 << (slot & 63) // as a lobby has it: a block is whole if all who are there are seen
		}
	}
	for i, w := range now {
		g.appeared += bits.OnesCount64(w &^ was[i])
		g.told += bits.OnesCount64(w)
	}
	groups, run, any := (len(ids)+snapshot.GroupRows-1)/snapshot.GroupRows, 0, false
	shared := func(end int) { // blocks are shared by so many in a row
		if run >= snapshot.LeastWhole {
			for k := end - run; k < end; k++ {
				g.blocks += bits.OnesCount64(now[k/wordGroups] >> (k % wordGroups * snapshot.GroupRows) & allRows)
			}
		}
		run = 0
	}
	for k := range groups {
		rows := min(len(ids)-k*snapshot.GroupRows, snapshot.GroupRows)
		want := uint64(1)<<rows - 1
		if open[k/wordGroups]>>(k%wordGroups*snapshot.GroupRows)&want != want {
			shared(k)
			continue
		}
		run++
		any = true
	}
	shared(groups)
	g.snapshots++
	if any {
		g.whole++
	}
}

// flew counts what of flights one client is told of.
func (g *glances) flew(f *flown) {
	g.flights, g.flightsTold, g.launches, g.launchesTold = g.flights+f.all, g.flightsTold+f.told, g.launches+f.fresh, g.launchesTold+f.toldNew
	g.flightsCame += f.appeared
}

// Slots of a set: groups in a word, and the rows of one.
const (
	wordGroups = 64 / snapshot.GroupRows
	allRows    = 1<<snapshot.GroupRows - 1
)

// facts are what they come to where so many snapshots a second are sent.
func (g *glances) facts(rate float64) (f capacity.Glances) {
	if g.snapshots == 0 {
		return f
	}
	n := float64(g.snapshots)
	return capacity.Glances{Snapshots: n, Appear: float64(g.appeared) / n * rate, Whole: float64(g.whole) / n, Blocks: float64(g.blocks) / float64(max(g.told, 1)),
		Flights: float64(g.flightsTold) / float64(max(g.flights, 1)), Launches: float64(g.launchesTold) / float64(max(g.launches, 1)), Came: float64(g.flightsCame) / n * rate}
}
