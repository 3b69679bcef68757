package swarm

import (
	"time"

	"github.com/tickrate/tickrate/bench/trace"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// TraceBot plays a recording of human movement: it looks, fires and jumps as recorded, and runs
// along the recorded path. The path is shifted to the bot's position at each continuous stretch of
// the recording, and whenever walls of another map have kept the bot too far from it.
type TraceBot struct {
	sampler *trace.Sampler
	anchor  geom.Vec3 // bot minus recording
	run     uint32
	begun   bool
	first   tick.Tick
}

// NewTraceBot returns bot n: a person of the recording, shifted in time and rotated.
func NewTraceBot(t *trace.Trace, seed uint64, n int) *TraceBot {
	return &TraceBot{sampler: trace.NewSampler(t, n, seed)}
}

// Limits, in metres and metres a second.
const (
	maxOff    = 4 // at a longer distance the path is shifted
	catchRate = 3 // share of the distance that is corrected a second
	walking   = 6
)

// Decide decides about one tick.
func (f *TraceBot) Decide(o *Observation) client.Intent {
	if f.first == 0 && o.Tick > 1 {
		f.first = o.Tick
	}
	now := f.sampler.At(since(f.first, o.Tick, o.Rate))
	in := client.Intent{Yaw: now.Yaw, Pitch: now.Pitch}
	if o.Self.RespawnTicks > 0 {
		f.begun = false
		return in
	}
	pos := o.Self.Motion.Pos
	off := now.Pos.Add(f.anchor).Sub(pos)
	off.Y = 0
	if !f.begun || now.Run != f.run || off.Len() > maxOff {
		f.begun, f.run = true, now.Run
		f.anchor = pos.Sub(now.Pos)
		off = geom.Vec3{}
	}
	want := now.Vel.Mad(off, catchRate)
	want.Y = 0
	speed := want.Len()
	if speed > 0.3 {
		to := geom.Atan2(want.X, want.Z) - now.Yaw
		in.MoveYaw = uint8((to + 128) >> 8)
		in.MoveMag = uint8(min(speed/walking, 1) * 255)
	}
	if speed > walking*1.1 {
		in.Buttons |= sim.Sprint
	}
	if now.Jump {
		in.Buttons |= sim.Jump
	}
	if now.Fire {
		in.Buttons |= sim.Fire
	}
	return in
}

// since is the time from tick a to tick b.
func since(a, b tick.Tick, rate tick.Rate) time.Duration {
	if b < a {
		return 0
	}
	return rate.At(b - a)
}
