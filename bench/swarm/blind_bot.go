package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/sim"
)

// BlindBot plays a bare client, which knows neither where it is nor who is near: it runs in a direction for a while, then in another, jumps, and fires
// at nobody in particular. Its commands change as often, and in as many bits, as those of a Bot that fights nobody.
type BlindBot struct {
	dice       rng
	yaw, pitch float32 // where it looks, turns
	goal       float32 // where it turns to
	ticks      uint32  // so many wishes were made
	turn       uint32  // and with this one it picks another goal
	burst      uint32  // ticks of fire left
}

// NewBlindBot returns the brain of bot number n.
func NewBlindBot(seed uint64, n int) BlindBot {
	d := BlindBot{dice: rng(seed ^ uint64(n)*0xd1342543de82ef95)}
	d.yaw = d.dice.unit() - 0.5
	return d
}

// Decide decides about one tick, by its number alone.
func (d *BlindBot) Decide(s *Observation) client.Intent {
	if d.ticks++; d.ticks >= d.turn {
		d.turn = d.ticks + uint32(s.Rate)/2 + uint32(d.dice.unit()*3*float32(s.Rate))
		d.goal = d.dice.unit() - 0.5
	}
	rate := 1 / float32(s.Rate)
	d.yaw = wrap(d.yaw + wrap(d.goal-d.yaw)*4*rate + (d.dice.unit()-0.5)*0.002)
	d.pitch = min(max(d.pitch*(1-4*rate)+(d.dice.unit()-0.5)*0.001, -0.24), 0.24)
	in := client.Intent{Yaw: angle(d.yaw), Pitch: angle(d.pitch), MoveMag: 255, Buttons: sim.Sprint}
	if d.burst == 0 && d.dice.chance(DefaultProfile.Bursts*rate) {
		d.burst = uint32(s.Rate) / 2
	}
	if d.burst > 0 {
		d.burst--
		in.Buttons |= sim.Fire
	}
	if d.dice.chance(jumpRate * rate) {
		in.Buttons |= sim.Jump
	}
	return in
}
