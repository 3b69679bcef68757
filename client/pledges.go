package client

import (
	"math"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// pledges is how far behind its commands the client looks, each delay chosen and told to the server half a second before it holds.
type pledges struct {
	lagcomp.ViewDelayTrack
	span  tick.Tick // the last for which there is a delay: one is chosen with the first command of each span
	delay uint8     // what packages say whose newest command is of that span
}

// The delay follows what the clocks want by steps: a small one when it is off by more than a step, large ones when far off. What is too short makes the picture
// stand still, so it is mended sooner than what is too long.
const (
	pledgeShort = lagcomp.ViewDelayUnit / 8
	pledgeLong  = lagcomp.ViewDelayUnit * 5 / 4
	pledgeFar   = 4 * lagcomp.ViewDelayUnit
)

// line is the instant of the view of the command for a tick, in 1/256 tick.
func (c *Client) line(t tick.Tick) int64 {
	p := &c.pledges
	if span := t / lagcomp.ViewDelaySpan; !p.Started() || span > p.span {
		p.choose(c.wanted())
		p.span = span
		p.Announce(t, p.delay, t)
	}
	at, _, _ := p.InstantAt(t, math.MaxInt64)
	return max(at, 1<<8)
}

// wanted is how far the predicted clock is ahead of where the render clock should be, in 1/256 tick.
func (c *Client) wanted() int64 {
	d := c.predicted.at - c.server.arriving(c.now) + c.delay()
	return max(0, int64(d)*256/int64(c.rate.Period()))
}

// choose goes from the last delay towards what is wanted.
func (p *pledges) choose(want int64) {
	if !p.Started() {
		p.delay = uint8(min((want+lagcomp.ViewDelayUnit-1)/lagcomp.ViewDelayUnit, 255))
		return
	}
	off, step := want-int64(p.delay)*lagcomp.ViewDelayUnit, 0
	switch {
	case off > pledgeFar:
		step = 4
	case off > pledgeLong:
		step = 2
	case off > pledgeShort:
		step = 1
	case off < -2*pledgeFar:
		step = -4
	case off < -pledgeFar:
		step = -2
	case off < -pledgeLong:
		step = -1
	}
	p.delay = uint8(min(max(int(p.delay)+step, 0), 255))
}
