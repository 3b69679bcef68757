package client

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
)

// Shot is a round that left our predicted gun.
type Shot struct {
	Tick   tick.Tick // of the command
	Ray    geom.Ray  // as the server will compute it, if it agrees with our prediction; with Config.Judge cut at the first wall
	Radius float32   // metres
	View   tick.View // what we were looking at

	// With Config.Judge, who in our own view is hit by it. Hit is 0 for nobody.
	Hit      netid.ID
	Bone     rig.Bone
	Part     rig.Part
	Distance float32
	Normal   geom.Vec3
}

// shotRing is how many shots are kept: four seconds at 14 a second.
const shotRing = 64

// shots keeps the newest predicted shots.
type shots struct {
	ring  [shotRing]Shot
	fired uint64
}

// Shots copies the newest shots that were predicted since shot number from on into dst and returns how many, and the number
// to go on from. Shots are numbered from 0; at most the newest 64 are kept. A later correction takes no shot back.
func (c *Client) Shots(from uint64, dst []Shot) (n int, next uint64) {
	s := &c.shots
	if s.fired > shotRing {
		from = max(from, s.fired-shotRing)
	}
	for ; from < s.fired && n < len(dst); from++ {
		dst[n] = s.ring[from%shotRing]
		n++
	}
	return n, from
}

// shoot notes the round that command cmd fired.
func (c *Client) shoot(cmd *sim.Command, a *ability.Action) {
	s := &c.shots.ring[c.shots.fired%shotRing]
	c.shots.fired++
	self := c.predict.state(cmd.Tick)
	*s = Shot{Tick: cmd.Tick, View: c.view, Radius: a.Radius}
	s.Ray = c.predict.kit.ShotRay(c.welcome.NetID, self.Hero, self.Motion.Pos, cmd, a)
	if !c.cfg.Judge || c.cfg.Thin {
		return
	}
	if t, ok := c.predict.arena.Raycast(s.Ray); ok {
		s.Ray.Max = t
	}
	c.judge(s, self.Team)
}

// judge finds who is hit, by the rules of lagcomp.Sweeper.Cast: the nearest living player of another team, the lowest
// slot where two are equally near.
func (c *Client) judge(s *Shot, team uint8) {
	for slot := range int(c.welcome.MaxPlayers) {
		p, ok := c.Pose(slot)
		if !ok || !p.Alive() || p.ID == c.welcome.NetID || p.Team() == team {
			continue
		}
		if h, ok := lagcomp.Test(s.Ray, s.Radius, &p); ok && (s.Hit == 0 || h.Distance < s.Distance) {
			s.Hit, s.Bone, s.Part, s.Distance, s.Normal = netid.ID(p.ID), h.Bone, h.Part, h.Distance, h.Normal
		}
	}
}
