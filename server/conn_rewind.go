package server

import (
	"github.com/tickrate/tickrate/server/metrics"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

// connRewind is what lag compensation knows of the client.
type connRewind struct {
	newestCommand tick.Tick              // newest tick with a command
	lagSwitch     lagSwitchState         // evidence that the client holds back its packets to shoot at past positions
	snapshotGap   gap                    // age of the newest snapshot when the next arrives, by the client's acks
	inboxCount    sim.CommandCounts      // counts of the inbox that are in the lobby's counters
	announced     lagcomp.ViewDelayTrack // view delay that the client announces ahead
	limits        lagcomp.ClampLimits    // clamp limits of the coming tick
	arrivals      [64]snapshot.Command   // the newest commands and when they came
}

// lagSwitchState says whether the client has fallen silent and how much it has acknowledged since.
type lagSwitchState struct {
	suspected bool
	acks      int // packets acknowledged since the last silence
}

// brief tells the match what the server itself has measured of this connection, for the shots of the coming tick.
//
// Who has acknowledged no snapshot has seen nobody, and hits nobody. oldest is the match's History.Oldest.
func (c *conn) brief(now time.Duration, l *Lobby, oldest tick.Tick) {
	if c.suspect(now) {
		l.Stats.Count[metrics.LagSwitchSuspected].Inc()
	}
	rate := l.cfg.Rules.Rate
	ticks := func(d time.Duration) float32 { return float32(d) * float32(rate) / float32(time.Second) }
	rtt := c.session.peer.RTT()
	k := &c.rewind.limits // field by field: a literal would be built aside and copied
	*k = lagcomp.ClampLimits{}
	k.Rate = rate
	k.RTTTicks = ticks(rtt.Min)
	k.InterpTicks = max(float32(2*c.repl.pacing.spacing), min(ticks(c.rewind.snapshotGap.age), float32(2*c.repl.pacing.spacing)+ticks(mostGap)))
	k.SlackTicks = bufferTicks + ticks(4*rtt.Var)
	k.CapTicks = tick.Tick(int64(l.cfg.Rules.RewindMillis) * int64(rate) / 1000)
	k.NewestAcked, k.Newest, k.Oldest = c.repl.acks.newest, c.repl.pacing.sent, oldest
	c.look(l, k)
	if c.rewind.lagSwitch.suspected {
		k.RTTTicks, k.InterpTicks, k.SlackTicks, k.CapTicks = 0, 0, 0, 1
	}
	if c.repl.acks.newest == 0 {
		k.Newest = 0
	}
	k.CapTicks = max(k.CapTicks, 1)
	l.match.SetClampLimits(c.id, *k)
}

// An honest client sends at least every 50 ms. One that is silent for longer than muteAfter may be somebody who holds the line
// shut to shoot at where others were: it does not look back until it has acknowledged enoughProofs packages.
const (
	muteAfter    = 250 * time.Millisecond
	enoughProofs = 10
)

// suspect reports whether the connection has just fallen silent.
func (c *conn) suspect(now time.Duration) bool {
	was := c.rewind.lagSwitch.suspected
	switch {
	case c.session.ready && c.session.peer.SinceReceive(now) > muteAfter:
		c.rewind.lagSwitch.suspected, c.rewind.lagSwitch.acks = true, 0
	case c.rewind.lagSwitch.acks >= enoughProofs:
		c.rewind.lagSwitch.suspected = false
	}
	return c.rewind.lagSwitch.suspected && !was
}

// bufferTicks is what an honest client's commands may wait in its inbox, and a tick for each end's quantised clock.
const bufferTicks = 6

// gap is how old the newest snapshot of a client gets before the next arrives, as far as its acks tell: what loss makes it draw behind,
// see client.Client. It is a 98th percentile by steps of a fixed size, 49 times as large upwards as downwards, as the client's own is.
type gap struct{ age time.Duration }

const (
	gapStep = 250 * time.Microsecond
	mostGap = 200 * time.Millisecond // what a client draws behind for it at most, and so all that lying about it can buy
)

// add notes that the ack of snapshot tick next has come behind that of last.
func (g *gap) add(now time.Duration, rate tick.Rate, last, next tick.Tick, rtt time.Duration) {
	switch {
	case next <= last || last == 0:
	case now-rate.At(last)-rtt > g.age:
		g.age = min(g.age+49*gapStep, mostGap+time.Second)
	default:
		g.age = max(0, g.age-gapStep)
	}
}
