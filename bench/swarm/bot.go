package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
)

// Bot is the seeded generator of plausible play: it runs to places on the map, sprints and jumps, looks round,
// fights whoever comes into sight with an aim that lags and trembles, strafes while it does, throws, strikes who is near,
// and gestures now and then. Four in five go for the capture point that is fought for, and stay there.
type Bot struct {
	dice  rng
	goal  geom.Vec3
	until uint32 // tick at which the goal is given up
	from  geom.Vec3
	check uint32 // tick at which progress is looked at

	yaw, pitch float32 // where it looks, turns
	enemy      uint32
	look       uint32 // tick at which it looks for an enemy again
	sees       bool
	strafe     uint8
	turn       uint32 // tick at which the strafe changes
	storms     bool   // goes for capture points
	detour     uint32 // tick until which it gives way to what is in its way to one
	side       float32
	burst      uint32 // ticks of blind fire left
	habit      Profile
	crowds     bool // stays in the middle of the map
}

// NewBot returns the brain of bot number n.
func NewBot(seed uint64, n int) *Bot { return NewBotWithProfile(seed, n, DefaultProfile) }

func newBot(seed uint64, n int) *Bot {
	w := &Bot{dice: rng(seed ^ uint64(n)*0xd1342543de82ef95)}
	w.yaw = w.dice.unit()
	lot := w.dice // of its own: a round without points must not draw
	w.storms = lot.chance(stormers)
	return w
}

// Distances in metres and shares a second.
const (
	arrived     = 1.5
	sightRange  = 45
	chest       = 1.2 // above the feet: where it aims
	jumpRate    = 0.35
	fistRange   = 3 // nearer than this it strikes
	gestureRate = 0.02
	stormers    = 0.8 // share of bots that go for capture points
)

// Decide decides about one tick.
func (w *Bot) Decide(s *Observation) client.Intent {
	if s.Self.RespawnTicks > 0 {
		w.until = 0
		return w.intent(0, 0, 0)
	}
	now, pos := uint32(s.Tick), s.Self.Motion.Pos
	stuck := w.progress(s, now)
	target, fights := w.target(s, now)
	var keys sim.Buttons
	heading, storms := w.goal.Sub(pos), false
	if w.storms && s.Field != nil {
		heading, storms = w.storm(s, now, stuck)
	}
	move, rate := float32(0), 1/float32(s.Rate)
	if !fights || storms {
		move = bearing(heading.X, heading.Z)
	}
	if fights {
		at := target.Sub(sim.Eye(pos))
		yaw := bearing(at.X, at.Z)
		w.aim(yaw, bearing(at.Y, hypot(at.X, at.Z)), 8*rate, 0.004)
		if now >= w.turn {
			w.strafe, w.turn = uint8(64+128*(w.dice.next()&1)), now+uint32(s.Rate)/2
		}
		if !storms {
			move = w.yaw + float32(w.strafe)/256
		}
		if off := wrap(yaw - w.yaw); geom.Abs(off) < 0.02 {
			keys |= sim.Fire
			if w.dice.chance(w.habit.Throws * rate) {
				keys = sim.Throw
			}
		}
		if at.LenSq() < fistRange*fistRange {
			keys |= sim.Melee
		}
	} else {
		w.aim(move, 0, 4*rate, 0.002)
		keys |= sim.Sprint
		if w.burst == 0 && w.dice.chance(w.habit.Bursts*rate) {
			w.burst = uint32(s.Rate) / 2
		}
		if w.burst > 0 {
			w.burst--
			keys |= sim.Fire
		} else if w.dice.chance(gestureRate * rate) {
			return w.intent(0, 0, sim.Victory<<(w.dice.next()%3))
		}
	}
	if stuck || w.dice.chance(jumpRate*rate) {
		keys |= sim.Jump
	}
	return w.intent(uint8(int32((move-w.yaw)*256)), 255, keys)
}

// progress picks a new goal on arrival, after a while, or when it gets nowhere, and reports the last.
func (w *Bot) progress(s *Observation, now uint32) (stuck bool) {
	pos := s.Self.Motion.Pos
	if now >= w.check {
		moved := pos.Sub(w.from)
		stuck = w.check != 0 && hypot(moved.X, moved.Z) < 0.5
		w.from, w.check = pos, now+uint32(s.Rate)/2
	}
	to := w.goal.Sub(pos)
	if w.storms && s.Field != nil {
		if flat(w.goal.Sub(s.Goal)) > s.Reach || now >= w.until || hypot(to.X, to.Z) < arrived {
			off := geom.Vec3{X: (w.dice.unit() - 0.5) * s.Reach, Z: (w.dice.unit() - 0.5) * s.Reach}
			w.goal, w.until = s.Goal.Add(off), now+4*uint32(s.Rate)
		}
		return stuck
	}
	if stuck || now >= w.until || hypot(to.X, to.Z) < arrived {
		w.goal = w.place(s.Arena.Bounds)
		w.until = now + 8*uint32(s.Rate)
	}
	return stuck
}

// storm is where to run to get to the point that is fought for; on is false once it is there. What stands in the way it goes round.
func (w *Bot) storm(s *Observation, now uint32, stuck bool) (heading geom.Vec3, on bool) {
	pos := s.Self.Motion.Pos
	if heading, on = w.goal.Sub(pos), flat(s.Goal.Sub(pos)) > 0.8*s.Reach; on {
		if to, ok := s.Field.Next(s.Point, pos); ok {
			heading = to.Sub(pos)
		}
	}
	if stuck {
		w.detour, w.side = now+uint32(s.Rate)/2, float32(1)
		if w.dice.next()&1 != 0 {
			w.side = -1
		}
	}
	if now < w.detour {
		heading.X, heading.Z = heading.Z*w.side, -heading.X*w.side
	}
	return heading, on
}

// target looks for an enemy twice a second and follows the one it found.
func (w *Bot) target(s *Observation, now uint32) (geom.Vec3, bool) {
	if now >= w.look {
		w.look = now + uint32(s.Rate)/2
		w.pick(s)
	}
	if !w.sees {
		return geom.Vec3{}, false
	}
	if e := &s.Visible[w.enemy>>8]; e.ID == w.enemy && e.Alive {
		p := e.Pos
		p.Y += chest
		return p, true
	}
	w.sees = false
	return geom.Vec3{}, false
}

// pick takes the nearest enemy in range whom no wall hides.
func (w *Bot) pick(s *Observation) {
	eye := sim.Eye(s.Self.Motion.Pos)
	best := float32(sightRange * sightRange)
	w.sees = false
	for i := range s.Visible {
		e := &s.Visible[i]
		if d := e.Pos.Sub(eye).LenSq(); e.Alive && e.Team != s.Team && d < best {
			best, w.enemy, w.sees = d, e.ID, true
		}
	}
	if !w.sees {
		return
	}
	to := s.Visible[w.enemy>>8].Pos.Sub(eye)
	to.Y += chest
	_, blocked := s.Arena.Raycast(geom.Ray{Origin: eye, Dir: to.Normalize(), Max: to.Len()})
	w.sees = !blocked
}

// aim turns the view a share k of the way, with a tremble.
func (w *Bot) aim(yaw, pitch, k, tremble float32) {
	w.yaw += wrap(yaw-w.yaw)*min(k, 1) + (w.dice.unit()-0.5)*tremble
	w.pitch += wrap(pitch-w.pitch)*min(k, 1) + (w.dice.unit()-0.5)*tremble/2
	w.yaw = wrap(w.yaw)
	w.pitch = min(max(w.pitch, -0.24), 0.24)
}

func (w *Bot) intent(moveYaw, mag uint8, keys sim.Buttons) client.Intent {
	return client.Intent{Yaw: angle(w.yaw), Pitch: angle(w.pitch), MoveYaw: moveYaw, MoveMag: mag, Buttons: keys}
}

// turns and angle convert between whole turns and geom.Angle; wrap brings turns to [-0.5, 0.5].
func turns(a geom.Angle) float32 { return float32(a.Signed()) / geom.Turn }
func angle(t float32) geom.Angle { return geom.Angle(int32(t * geom.Turn)) }
func wrap(t float32) float32 {
	for t > 0.5 {
		t--
	}
	for t < -0.5 {
		t++
	}
	return t
}
func flat(v geom.Vec3) float32   { return hypot(v.X, v.Z) }
func hypot(x, z float32) float32 { return geom.Vec3{X: x, Z: z}.Len() }
