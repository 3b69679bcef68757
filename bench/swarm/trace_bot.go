package swarm

import (
	"time"

	"github.com/tickrate/tickrate/bench/trace"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// TraceBot plays a recording: it looks where the recorded person looked, shoots and jumps when they did, and runs after
// the recorded path. The path is shifted to where the bot stands, anew for each continuous stretch of the recording
// and whenever the map's walls have kept the bot from it for too long, because the map is another one.
type TraceBot struct {
	sampler *trace.Sampler
	anchor  geom.Vec3 // bot minus recording
	run     uint32
	begun   bool
	first   tick.Tick
}

// NewTraceBot returns the brain of bot number n: a copy of one of the recording's people, shifted in time and turned.
func NewTraceBot(t *trace.Trace, seed uint64, n int) *TraceBot {
	return &TraceBot{sampler: trace.NewSampler(t, n, seed)}
}

// Limits of following, metres and metres a second.
const (
	leash     = 4 // further off than this, the path is shifted instead of chased
	catchRate = 3 // share of the distance that is made up a second
	walking   = 6
)

// Decide decides about one tick.
func (f *TraceBot) Decide(s *Observation) client.Intent {
	if f.first == 0 && s.Tick > 1 {
		f.first = s.Tick
	}
	now := f.sampler.At(since(f.first, s.Tick, s.Rate))
	in := client.Intent{Yaw: now.Yaw, Pitch: now.Pitch}
	if s.Self.RespawnTicks > 0 {
		f.begun = false
		return in
	}
	pos := s.Self.Motion.Pos
	off := now.Pos.Add(f.anchor).Sub(pos)
	off.Y = 0
	if !f.begun || now.Run != f.run || off.Len() > leash {
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
