package client

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
)

// Present is what a camera of the own player shows between two ticks.
type Present struct {
	Pos  geom.Vec3 // metres: where the player's feet are shown, Offset included
	Eye  geom.Vec3 // metres: where it is shown to look from
	Vel  geom.Vec3 // metres a second
	Tick tick.Tick // the newest that has a command
	Frac float32   // how much of the tick after it has passed, in [0, 1)

	// Offset is what is left to see of corrections: how far Pos is from where the player is known to be. It fades, and nothing but
	// the picture has it: neither commands nor shots start from there.
	Offset geom.Vec3
}

// Present is the partial tick: what we are at the instant of the predicted clock, which lies between two ticks, if in stays what the
// player wishes. The tick that has begun is played whole on a copy, and shown as far as it has passed. Playing a part of it instead,
// as the reference does with a shorter step, comes out beside what the whole tick will bring, and shows that as a jump at each
// tick's end. False until there is anything to predict from, and for the dead. It changes nothing, and may be called for each
// frame of a screen, however many fall into a tick; Advance before it moves the clock.
func (c *Client) Present(in Intent) (Present, bool) {
	p := &c.predict
	if !p.foresees() {
		return Present{}, false
	}
	s := *p.state(p.newest)
	if !s.known || s.dead {
		return Present{}, false
	}
	out := Present{Tick: p.newest, Vel: s.Motion.Vel, Frac: c.passed(), Offset: c.correction.off}
	from := s.Motion.Pos
	cmd := c.command(in)
	var acts ability.Actions // what the tick brings about is said when it is played in earnest
	p.kit.StepPlayer(&s.Self, &cmd, p.arena, &acts)
	way := s.Motion.Pos.Sub(from)
	out.Pos = from.Add(way.Scale(out.Frac)).Add(c.correction.off)
	out.Eye = p.kit.Body(s.Hero).Eye(out.Pos)
	return out, true
}

// passed is the share of the tick after the newest command's that has passed on the predicted clock, in [0, 1).
func (c *Client) passed() float32 {
	begun, period := c.rate.At(c.predict.newest), c.rate.Period()
	return float32(max(0, min(c.predicted.at-begun, period-1))) / float32(period)
}

// command stamps the wishes for the tick after the newest.
func (c *Client) command(in Intent) sim.Command {
	cmd, _ := sim.Command{
		Tick: c.predict.newest + 1, Yaw: in.Yaw, Pitch: in.Pitch, MoveYaw: in.MoveYaw, MoveMag: in.MoveMag, Buttons: in.Buttons,
	}.Sanitize()
	return cmd
}

// shown is where a living player is predicted to be after the newest command.
type shown struct {
	pos geom.Vec3
	ok  bool
}

func (p *predictor) shown() shown {
	if !p.foresees() {
		return shown{}
	}
	s := p.state(p.newest)
	return shown{s.Motion.Pos, s.known && !s.dead}
}
