package client

import (
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
)

// Shot is a predicted shot.
type Shot struct {
	Tick   tick.Tick // of the command
	Ray    geom.Ray  // as on the server; with Config.PredictHits or Effects up to the first wall
	Radius float32   // metres
	View   tick.View // that the command carries

	// With Config.PredictHits or Effects, the player that the shot hits in the own view. Hit is 0 for none.
	Hit      netid.ID
	Bone     rig.Bone
	Part     rig.Part
	Distance float32
	Normal   geom.Vec3
}

// maxShots is how many shots are kept: four seconds at 14 a second.
const maxShots = 64

// Shots keeps the newest predicted shots.
type Shots struct{ ring ringbuf.Ring[Shot] }

// Since copies the predicted shots from number from on into dst, and returns how many those are and
// the number to go on from. Shots are numbered from 0; the newest 64 are kept. A misprediction
// takes no shot back.
func (s *Shots) Since(from uint64, dst []Shot) (n int, next uint64) {
	if s.ring.Added() == 0 {
		return 0, from
	}
	for next = s.ring.First(from); next < s.ring.Added() && n < len(dst); next++ {
		dst[n] = *s.ring.At(next)
		n++
	}
	return n, next
}

// shoot records a shot of a command; self is the state after the command.
func (c *Client) shoot(cmd *sim.Command, a *ability.Action, self *predict.State) {
	s := c.Shots.ring.Next()
	*s = Shot{Tick: cmd.Tick, View: c.interp.View, Radius: a.Radius}
	s.Ray = c.kit.ShotRay(c.welcome.NetID, self.Hero, self.Motion.Pos, cmd, a)
	if !c.cfg.PredictHits && !c.cfg.Effects || c.cfg.Decode != DecodeFull {
		return
	}
	t, wall := c.arena.RaycastAt(s.Ray, c.moment(cmd.Tick))
	if wall {
		s.Ray.Max = t
	}
	for slot := range int(c.welcome.MaxPlayers) {
		p, ok := c.Pose(slot)
		if ok && p.Alive() && p.ID != c.welcome.NetID && p.Team() != self.Team {
			s.hit(&p)
		}
	}
	if c.cfg.Effects {
		c.Effects.ownImpact(c, s, self.Hero, wall)
	}
}

// moment is a tick of the match, as movers need it.
func (c *Client) moment(t tick.Tick) arena.Moment { return arena.Moment{Tick: t, Rate: c.rate} }

// hit takes a pose as the target if the shot hits it. By the rules of lagcomp.Sweeper.Cast the
// nearest target counts, and the lowest slot where two are equally near.
func (s *Shot) hit(p *rig.Pose) {
	if h, ok := lagcomp.Test(rig.HeroBodies, s.Ray, s.Radius, p); ok && (s.Hit == 0 || h.Distance < s.Distance) {
		s.Hit, s.Bone, s.Part, s.Distance, s.Normal = netid.ID(p.ID), h.Bone, h.Part, h.Distance, h.Normal
	}
}
