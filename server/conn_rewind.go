package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

// connRewind is the state of lag compensation for the client.
type connRewind struct {
	newestCommand tick.Tick              // newest tick with a command
	lagSwitch     lagSwitchState         // evidence that the client holds back its packets
	snapshotGap   snapshotGap            // longest age of the newest snapshot, by acks
	inboxCount    sim.CommandCounts      // counts of the inbox that are in the lobby's counters
	announced     lagcomp.ViewDelayTrack // view delay that the client announces ahead
}

// arrivals are the newest commands of a client and when they came, by tick.
type arrivals [64]snapshot.CommandTime

// add notes that the command for tick t has come, for which acks until deadline count.
func (a *arrivals) add(t, deadline tick.Tick) {
	if at := &a[t%64]; at.Tick < t {
		*at = snapshot.CommandTime{Tick: t, AckDeadline: deadline}
	}
}

// command is the client's command for a tick and when it arrived.
func (a *arrivals) command(t tick.Tick) snapshot.CommandTime {
	if cmd := a[t%64]; cmd.Tick == t {
		return cmd
	}
	return snapshot.CommandTime{Tick: t, AckDeadline: t}
}

// lagSwitchState says whether the client has fallen silent and how much it has acknowledged since.
type lagSwitchState struct {
	suspected bool
	acks      int // packets acknowledged since the last silence
}

// update takes for how long the client has been silent. It reports whether the client has just
// become suspect.
func (g *lagSwitchState) update(silence time.Duration) (suspect bool) {
	was := g.suspected
	switch {
	case silence > lagSwitchSilence:
		g.suspected, g.acks = true, 0
	case g.acks >= lagSwitchClearAcks:
		g.suspected = false
	}
	return g.suspected && !was
}

// snapshotGap estimates how old a client's newest snapshot gets before the next one arrives, by its
// acks. With loss a client draws behind by that much. The estimate is a 98th percentile: steps up
// are 49 times as large as steps down, as in the client's own estimate.
type snapshotGap struct{ age time.Duration }

const gapStep = 250 * time.Microsecond

// add takes the ack of snapshot tick next, which follows that of last.
func (g *snapshotGap) add(now time.Duration, rate tick.Rate, last, next tick.Tick, rtt time.Duration) {
	switch {
	case next <= last || last == 0:
	case now-rate.At(last)-rtt > g.age:
		g.age = min(g.age+49*gapStep, maxSnapshotGap+time.Second)
	default:
		g.age = max(0, g.age-gapStep)
	}
}
