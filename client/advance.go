package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
)

// A caller who was away for more than maxDue ticks has missed them; up to fewDue are always made up for.
const (
	maxDue = 16
	fewDue = 2
)

// Advance moves the clocks to now, which never goes back, and returns how many ticks want a Command. It is 0 until the
// client has joined and knows the path, and from time to time later, as the predicted clock does not run exactly as fast as
// the caller's.
func (c *Client) Advance(now time.Duration) int {
	now = c.looks.at(now)
	if !c.begun {
		c.begun, c.now = true, now
	}
	dt := max(0, now-c.now)
	c.now, c.due = max(now, c.now), 0
	if !c.cfg.Bare {
		c.correction.fade(dt)
	}
	if c.state != Joined || c.held.n == 0 {
		return 0
	}
	if !c.measured {
		c.look(dt)
		return 0
	}
	if c.predicted.advance(c.now, dt, c.ideal()) {
		c.hears = true
	}
	if c.due = c.ask(); c.cfg.Bare {
		c.stats.SnapshotAge = max(0, c.serverTime()-c.rate.At(c.held.newest())) // nothing is looked at
	} else {
		c.follow()
	}
	return c.due
}

// ideal is the server time for which a command made now arrives as early as wanted.
func (c *Client) ideal() time.Duration {
	return max(0, c.server.arriving(c.now)+c.rtt.Smoothed+c.predicted.want())
}

// ask counts the ticks that the predicted clock has begun and that have no command. A few are caught up with; of more,
// those are left out whose commands could only arrive when the server has played the tick without them.
func (c *Client) ask() int {
	t, _ := c.rate.Since(c.predicted.at)
	switch p := &c.predict; {
	case p.first == 0 || t > p.newest+maxDue:
		p.skip(t - min(t, 1))
	case t > p.newest+fewDue:
		over, _ := c.rate.Since(c.server.arriving(c.now) + c.rtt.Min)
		p.skip(min(over, t-1))
	}
	return int(t) - int(min(t, c.predict.newest))
}

// look moves the render clock and works out the view while there is no predicted clock that both keep step with.
func (c *Client) look(dt time.Duration) {
	newest := c.rate.At(c.held.newest())
	if c.render.advance(dt, c.server.arriving(c.now)-c.delay(), newest) {
		c.hears = true
	}
	if v := c.held.view(c.rate, c.render.at); v.To > c.view.From || v.From >= c.view.From { // else an older one than the first has come late
		c.view = v
	}
	c.stats.SnapshotAge = max(0, c.serverTime()-newest)
}

// follow works out the view of this instant, as was pledged: that of the newest command, or of the next if one is due, and what passed since.
// What is drawn never goes back.
func (c *Client) follow() {
	t := c.predict.newest + tick.Tick(min(c.due, 1)) // no further: the pledges are asked tick by tick, by the commands
	at := c.line(t)
	if passed := c.predicted.at - c.rate.At(t); passed > 0 {
		at += int64(min(passed, maxDue*c.rate.Period())) * c.pledges.Slope() / int64(c.rate.Period())
	}
	newest := c.held.newest()
	c.render.follow(c.rate, at, newest)
	if v := c.held.at(at); lagcomp.Instant(v) >= lagcomp.Instant(c.view) || planted.On(planted.RenderBack) {
		c.view = v
	}
	c.stats.SnapshotAge = max(0, c.serverTime()-c.rate.At(newest))
}

// delay is how far the render clock runs behind the snapshots that arrive: two send intervals, so that one may be lost,
// and the jitter; more where so many are lost that the render clock would often have to wait.
func (c *Client) delay() time.Duration {
	two := c.rate.At(2 * tick.Tick(c.welcome.SendInterval) * tick.Tick(c.cfg.Every))
	return min(max(two+c.server.jitter, c.server.gap), two+maxJitter)
}

// serverTime estimates the server's clock at this moment.
func (c *Client) serverTime() time.Duration {
	return c.now + c.server.ahead
}

// Command gives the player's wishes for the next tick that Advance asked for: it is stamped, predicted, and kept until
// the server has it. It panics if Advance asked for no more. Its view, and so that of a shot, is the pledged one of its tick, which began at
// most a frame ago: not before what was drawn last.
func (c *Client) Command(in Intent) {
	if c.due == 0 {
		panic("client: a command that Advance did not ask for")
	}
	c.due--
	cmd := c.command(in)
	if c.cfg.Bare {
		c.blindly(cmd)
		return
	}
	drawn := c.view
	c.view = c.held.at(c.line(cmd.Tick))
	defer func() { c.view = drawn }()
	c.predicted.made(c.now, cmd.Tick)
	c.arrivals.note(cmd.Tick, c.peer.AckState())
	acts := c.predict.push(cmd, c.view)
	for i := range acts {
		if acts[i].Kind == ability.ActionShot {
			c.shoot(&cmd, &acts[i])
		} else {
			c.flights.launch(c, &cmd, &acts[i])
		}
	}
}

// blindly is Command where nothing is predicted: whether a key lets something go only the server knows, and the view it would be judged by goes
// with every key that may.
func (c *Client) blindly(cmd sim.Command) {
	at := c.line(cmd.Tick) // of each command: the delay is chosen with the first of a span
	var view tick.View
	if cmd.Buttons&acting != 0 {
		view = c.held.at(at)
	}
	c.arrivals.note(cmd.Tick, c.peer.AckState())
	c.predict.push(cmd, view)
}
