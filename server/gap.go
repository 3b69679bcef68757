package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

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
