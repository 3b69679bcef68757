package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// Bot is a seeded generator of plausible play: it runs to places on the map, sprints, jumps and
// looks around; it fights visible enemies with an aim that lags and trembles, strafes, throws
// grenades and strikes near ones. Four in five go for the contested capture point and stay there.
type Bot struct {
	rng        rng
	profile    Profile
	crowds     bool    // stays in the middle of the map
	captures   bool    // goes for capture points
	yaw, pitch float32 // view direction, turns
	burst      uint32  // ticks of random fire left
	route      route
	combat     combat
}

// route is where a bot runs to.
type route struct {
	goal   geom.Vec3
	until  uint32    // tick at which another goal is picked
	from   geom.Vec3 // position at the last check
	check  uint32    // tick at which progress is checked
	detour uint32    // tick until which it walks around an obstacle
	side   float32   // of the detour, 1 or -1
}

// combat is the enemy that a bot fights.
type combat struct {
	enemy   uint32
	visible bool
	scanAt  uint32 // tick at which it looks for an enemy again
	strafe  uint8  // direction, 1/256 turn
	turn    uint32 // tick at which the strafe changes
}

// NewBot returns bot n with DefaultProfile.
func NewBot(seed uint64, n int) *Bot { return NewBotWithProfile(seed, n, DefaultProfile) }

func newBot(seed uint64, n int) *Bot {
	w := &Bot{rng: rng(seed ^ uint64(n)*0xd1342543de82ef95)}
	w.yaw = w.rng.unit()
	draw := w.rng // a copy: the draw must not change those of rounds without points
	w.captures = draw.chance(captureShare)
	return w
}

// Distances in metres, rates per second.
const (
	arrived      = 1.5
	sightRange   = 45
	chest        = 1.2 // above the feet: aim point
	jumpRate     = 0.35
	fistRange    = 3 // it strikes nearer enemies
	gestureRate  = 0.02
	captureShare = 0.8 // share of bots that go for capture points
)

// Decide decides about one tick.
func (w *Bot) Decide(o *Observation) client.Intent {
	if o.Self.RespawnTicks > 0 {
		w.route.until = 0
		return w.intent(0, 0, 0)
	}
	now, pos := uint32(o.Tick), o.Self.Motion.Pos
	stuck := w.progress(o, now)
	target, fights := w.target(o, now)
	var buttons sim.Buttons
	heading, captures := w.route.goal.Sub(pos), false
	if w.captures && o.Field != nil {
		heading, captures = w.approachPoint(o, now, stuck)
	}
	move, rate := float32(0), 1/float32(o.Rate)
	if !fights || captures {
		move = bearing(heading.X, heading.Z)
	}
	if fights {
		at := target.Sub(sim.Eye(pos))
		yaw := bearing(at.X, at.Z)
		w.aim(yaw, bearing(at.Y, hypot(at.X, at.Z)), 8*rate, 0.004)
		if now >= w.combat.turn {
			w.combat.strafe, w.combat.turn = uint8(64+128*(w.rng.next()&1)), now+uint32(o.Rate)/2
		}
		if !captures {
			move = w.yaw + float32(w.combat.strafe)/256
		}
		if off := wrap(yaw - w.yaw); geom.Abs(off) < 0.02 {
			buttons |= sim.Fire
			if w.rng.chance(w.profile.Throws * rate) {
				buttons = sim.Throw
			}
		}
		if at.LenSq() < fistRange*fistRange {
			buttons |= sim.Melee
		}
	} else {
		w.aim(move, 0, 4*rate, 0.002)
		buttons |= sim.Sprint
		if w.burst == 0 && w.rng.chance(w.profile.Bursts*rate) {
			w.burst = uint32(o.Rate) / 2
		}
		if w.burst > 0 {
			w.burst--
			buttons |= sim.Fire
		} else if w.rng.chance(gestureRate * rate) {
			return w.intent(0, 0, sim.Victory<<(w.rng.next()%3))
		}
	}
	if stuck || w.rng.chance(jumpRate*rate) {
		buttons |= sim.Jump
	}
	return w.intent(uint8(int32((move-w.yaw)*256)), 255, buttons)
}

// progress picks a new goal on arrival, after a while, or when stuck, and reports the latter.
func (w *Bot) progress(o *Observation, now uint32) (stuck bool) {
	pos := o.Self.Motion.Pos
	if now >= w.route.check {
		moved := pos.Sub(w.route.from)
		stuck = w.route.check != 0 && hypot(moved.X, moved.Z) < 0.5
		w.route.from, w.route.check = pos, now+uint32(o.Rate)/2
	}
	to := w.route.goal.Sub(pos)
	if w.captures && o.Field != nil {
		if flat(w.route.goal.Sub(o.Goal)) > o.Reach || now >= w.route.until || hypot(to.X, to.Z) < arrived {
			off := geom.Vec3{X: (w.rng.unit() - 0.5) * o.Reach, Z: (w.rng.unit() - 0.5) * o.Reach}
			w.route.goal, w.route.until = o.Goal.Add(off), now+4*uint32(o.Rate)
		}
		return stuck
	}
	if stuck || now >= w.route.until || hypot(to.X, to.Z) < arrived {
		w.route.goal = w.place(o.Arena.Bounds)
		w.route.until = now + 8*uint32(o.Rate)
	}
	return stuck
}

// approachPoint is the heading to the contested point, around obstacles; on is false once the bot
// is there.
func (w *Bot) approachPoint(o *Observation, now uint32, stuck bool) (heading geom.Vec3, on bool) {
	pos := o.Self.Motion.Pos
	if heading, on = w.route.goal.Sub(pos), flat(o.Goal.Sub(pos)) > 0.8*o.Reach; on {
		if to, ok := o.Field.Next(o.Point, pos); ok {
			heading = to.Sub(pos)
		}
	}
	if stuck {
		w.route.detour, w.route.side = now+uint32(o.Rate)/2, float32(1)
		if w.rng.next()&1 != 0 {
			w.route.side = -1
		}
	}
	if now < w.route.detour {
		heading.X, heading.Z = heading.Z*w.route.side, -heading.X*w.route.side
	}
	return heading, on
}

// target looks for an enemy twice a second and follows the one that it found.
func (w *Bot) target(o *Observation, now uint32) (geom.Vec3, bool) {
	if now >= w.combat.scanAt {
		w.combat.scanAt = now + uint32(o.Rate)/2
		w.pick(o)
	}
	if !w.combat.visible {
		return geom.Vec3{}, false
	}
	if e := &o.Visible[w.combat.enemy>>8]; e.ID == w.combat.enemy && e.Alive {
		p := e.Pos
		p.Y += chest
		return p, true
	}
	w.combat.visible = false
	return geom.Vec3{}, false
}

// pick takes the nearest enemy in range, unless a wall hides it.
func (w *Bot) pick(o *Observation) {
	eye := sim.Eye(o.Self.Motion.Pos)
	best := float32(sightRange * sightRange)
	w.combat.visible = false
	for i := range o.Visible {
		e := &o.Visible[i]
		if d := e.Pos.Sub(eye).LenSq(); e.Alive && e.Team != o.Team && d < best {
			best, w.combat.enemy, w.combat.visible = d, e.ID, true
		}
	}
	if !w.combat.visible {
		return
	}
	to := o.Visible[w.combat.enemy>>8].Pos.Sub(eye)
	to.Y += chest
	_, blocked := o.Arena.RaycastAt(geom.Ray{Origin: eye, Dir: to.Normalize(), Max: to.Len()},
		arena.Moment{Tick: o.Tick, Rate: o.Rate})
	w.combat.visible = !blocked
}

// aim turns the view by a share k of the error, with a tremble.
func (w *Bot) aim(yaw, pitch, k, tremble float32) {
	w.yaw += wrap(yaw-w.yaw)*min(k, 1) + (w.rng.unit()-0.5)*tremble
	w.pitch += wrap(pitch-w.pitch)*min(k, 1) + (w.rng.unit()-0.5)*tremble/2
	w.yaw = wrap(w.yaw)
	w.pitch = min(max(w.pitch, -0.24), 0.24)
}

func (w *Bot) intent(moveYaw, mag uint8, buttons sim.Buttons) client.Intent {
	return client.Intent{
		Yaw: angle(w.yaw), Pitch: angle(w.pitch), MoveYaw: moveYaw, MoveMag: mag, Buttons: buttons,
	}
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
