package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/sim"
)

// BlindBot plays a client that knows neither its position nor other players: it runs in random
// directions, jumps, and fires at random. Its commands change as often, and take as many bits, as
// those of a Bot that fights nobody.
type BlindBot struct {
	rng        rng
	yaw, pitch float32 // view direction, turns
	goal       float32 // yaw that it turns to
	ticks      uint32  // decisions so far
	turn       uint32  // decision with the next goal
	burst      uint32  // ticks of fire left
}

// NewBlindBot returns bot n.
func NewBlindBot(seed uint64, n int) BlindBot {
	d := BlindBot{rng: rng(seed ^ uint64(n)*0xd1342543de82ef95)}
	d.yaw = d.rng.unit() - 0.5
	return d
}

// Decide decides about one tick, by its number alone.
func (d *BlindBot) Decide(o *Observation) client.Intent {
	if d.ticks++; d.ticks >= d.turn {
		d.turn = d.ticks + uint32(o.Rate)/2 + uint32(d.rng.unit()*3*float32(o.Rate))
		d.goal = d.rng.unit() - 0.5
	}
	rate := 1 / float32(o.Rate)
	d.yaw = wrap(d.yaw + wrap(d.goal-d.yaw)*4*rate + (d.rng.unit()-0.5)*0.002)
	d.pitch = min(max(d.pitch*(1-4*rate)+(d.rng.unit()-0.5)*0.001, -0.24), 0.24)
	in := client.Intent{Yaw: angle(d.yaw), Pitch: angle(d.pitch), MoveMag: 255, Buttons: sim.Sprint}
	if d.burst == 0 && d.rng.chance(DefaultProfile.Bursts*rate) {
		d.burst = uint32(o.Rate) / 2
	}
	if d.burst > 0 {
		d.burst--
		in.Buttons |= sim.Fire
	}
	if d.rng.chance(jumpRate * rate) {
		in.Buttons |= sim.Jump
	}
	return in
}
