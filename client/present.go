package client

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/ability"
)

// Presented is what a camera of the own player shows between two ticks.
type Presented struct {
	Pos  geom.Vec3 // metres: shown position of the feet, Offset included
	Eye  geom.Vec3 // metres: shown position of the eye
	Vel  geom.Vec3 // metres a second
	Tick tick.Tick // newest with a command
	Frac float32   // of the tick after it, in [0, 1)

	// Offset is the smoothed error that is left: from the predicted position to Pos. Only the
	// picture has it: commands and shots do not.
	Offset geom.Vec3
}

// Present is the own player at the instant of the predicted clock, between two ticks, if the input
// stays in. The tick that has begun is played whole on a copy and shown in part; a step of partial
// length would end elsewhere than the whole tick, and show a jump at each tick. False before the
// first owner row and while dead. It changes nothing, and may be called for each frame of a screen.
func (c *Client) Present(in Intent) (Presented, bool) {
	p := &c.predict
	if !p.Ready() {
		return Presented{}, false
	}
	s := *p.State(p.Newest)
	if !s.Alive() {
		return Presented{}, false
	}
	begun, period := c.rate.At(p.Newest), c.rate.Period()
	out := Presented{Tick: p.Newest, Vel: s.Motion.Vel, Offset: p.Error.Offset}
	out.Frac = float32(max(0, min(c.clock.Predicted.At-begun, period-1))) / float32(period)
	from := s.Motion.Pos
	cmd := in.command(p.Newest + 1)
	var actions ability.Actions // not reported: the tick is played again by its command
	p.Kit.StepPlayer(&s.Self, &cmd, p.Arena, &actions)
	out.Pos = from.Add(s.Motion.Pos.Sub(from).Scale(out.Frac)).Add(out.Offset)
	out.Eye = p.Kit.Body(s.Hero).Eye(out.Pos)
	return out, true
}
