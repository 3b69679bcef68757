package client

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
)

// Intent is a player's input for one tick, before the client stamps it with the tick and the view.
type Intent struct {
	Yaw, Pitch geom.Angle // view direction; pitch in [-90, 90] degrees, upwards positive
	MoveYaw    uint8      // move direction relative to Yaw, 1/256 turn
	MoveMag    uint8      // move speed, 255 = full
	Buttons    sim.Buttons
}

// A caller that falls behind is asked for a command for each of up to keepAll ticks. Up to
// skipAfter, ticks whose command would come too late are skipped; beyond that, all but the current
// one.
const (
	skipAfter = 16
	keepAll   = 2
)

// Advance moves the clocks to now, which never goes back, and returns how many ticks want a
// Command. It is 0 until the client has joined and measured its round trip. Later it is the number
// of predicted ticks begun since the last call: 0 in many render frames, and sometimes more than 1.
func (c *Client) Advance(now time.Duration) int {
	dt := c.clock.Advance(now)
	c.uplink.due = 0
	predicting := c.cfg.Decode != DecodeAcks
	if predicting {
		c.predict.Error.Decay(dt)
	}
	newest := c.interp.Newest()
	if c.state != Joined || newest == 0 {
		return 0
	}
	clk := &c.clock
	if !c.measured {
		if clk.AdvanceRender(dt, newest) {
			c.events.pending = true
		}
		c.interp.FollowRender(clk)
		return 0
	}
	if clk.Predicted.Advance(clk.Now, dt, clk.Ideal(c.rtt.Smoothed)) {
		c.events.pending = true
	}
	c.uplink.due = c.dueTicks()
	if predicting {
		// The view delay of a later tick is fixed only when its Command is given.
		next := c.predict.Newest + tick.Tick(min(c.uplink.due, 1))
		c.interp.FollowCommands(next, clk)
	} else {
		c.interp.UpdateAge(clk) // nothing is shown
	}
	return c.uplink.due
}

// dueTicks counts the ticks that the predicted clock has begun and that have no command yet. If
// there are more than keepAll, it skips those that the server will have played before their command
// can arrive.
func (c *Client) dueTicks() int {
	clk, p := &c.clock, &c.predict
	t, _ := clk.Rate.Since(clk.Predicted.At)
	switch {
	case p.First == 0 || t > p.Newest+skipAfter:
		p.Skip(t - min(t, 1))
	case t > p.Newest+keepAll:
		played, _ := clk.Rate.Since(clk.Server.Arriving(clk.Now) + c.rtt.Min)
		p.Skip(min(played, t-1))
	}
	return int(t) - int(min(t, p.Newest))
}

// Command gives the player's input for the next tick that Advance asked for. The client stamps it,
// predicts it, and keeps it until the server acks it. The command, and a shot in it, is judged by
// the view that the client announced to the server for that tick, not by the view of the current
// render frame; the two differ by at most one frame. It panics if Advance asked for no more.
func (c *Client) Command(in Intent) {
	if c.uplink.due == 0 {
		panic(fmt.Sprintf("client: Command of tick %d, want as many as Advance returned", c.predict.Newest+1))
	}
	c.uplink.due--
	cmd := in.command(c.predict.Newest + 1)
	if c.cfg.Decode == DecodeAcks {
		c.sendUnpredicted(cmd)
		return
	}
	shown := c.interp.View
	c.interp.View = c.interp.ViewOf(cmd.Tick, &c.clock)
	c.clock.Predicted.Issued(c.clock.Now, cmd.Tick)
	c.uplink.receipts.issued(cmd.Tick, c.peer.AckState())
	actions := c.predict.Push(cmd, c.interp.View)
	for i := range actions {
		a, self := &actions[i], c.predict.State(cmd.Tick)
		if c.cfg.Effects && c.cfg.Decode == DecodeFull {
			c.Effects.ownAction(c, &cmd, a, self)
		}
		switch {
		case a.Kind == ability.ActionShot:
			c.shoot(&cmd, a, self)
		case c.cfg.Decode == DecodeFull:
			c.Objects.Launch(&cmd, a, self)
		}
	}
	c.interp.View = shown
}

// sendUnpredicted is Command without prediction. The client cannot tell whether a button will fire,
// so every command with a button that might (predict.Acting) carries its view.
func (c *Client) sendUnpredicted(cmd sim.Command) {
	var view tick.View
	if cmd.Buttons&predict.Acting != 0 {
		view = c.interp.ViewOf(cmd.Tick, &c.clock)
	} else {
		c.interp.AnnounceOnly(cmd.Tick, &c.clock)
	}
	c.uplink.receipts.issued(cmd.Tick, c.peer.AckState())
	c.predict.Push(cmd, view)
}

// command stamps an input.
func (in *Intent) command(t tick.Tick) sim.Command {
	cmd, _ := sim.Command{
		Tick: t, Yaw: in.Yaw, Pitch: in.Pitch, MoveYaw: in.MoveYaw, MoveMag: in.MoveMag, Buttons: in.Buttons,
	}.Sanitize()
	return cmd
}

// Due returns the time at which Advance will next ask for a command, within a twentieth of a tick.
// It is at most one tick after the last Advance, and equal to it until the client has measured its
// round trip. A load generator need not call the client before, unless a datagram arrives.
func (c *Client) Due() time.Duration {
	clk := &c.clock
	if c.state != Joined || !c.measured || c.predict.First == 0 {
		return clk.Now
	}
	return clk.Now + min(max(0, clk.Rate.At(c.predict.Newest+1)-clk.Predicted.At), clk.Rate.Period())
}
