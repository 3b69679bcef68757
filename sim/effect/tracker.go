package effect

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Tracker finds the effects that follow from replicated rows: what a row counts, and how it changed
// since the row before it. The same rows give the same effects on every machine. Rows of a slot that
// are no newer than its last one are ignored.
type Tracker struct {
	kit     *sim.CompiledGame
	arena   *arena.Arena
	self    netid.ID
	players []playerMark
	objects []objectMark
}

// playerMark is what the newest row of a player's slot said.
type playerMark struct {
	id                     netid.ID
	tick                   tick.Tick
	shots, throws, punches uint8
	phase, hero            uint8
	stance                 rig.Stance
	flags                  uint16 // of the pose
}

func (m *playerMark) alive() bool { return m.flags&netstate.StateAlive != 0 }

// restarted reports whether the counters of m began anew after those of was: they do with each life
// and hero. If neither row shows that, more events than ticks do: a weapon fires once a tick at most.
func (m *playerMark) restarted(was *playerMark) bool {
	if !was.alive() || was.hero != m.hero {
		return true
	}
	most := uint8(min(m.tick-was.tick, 255))
	return (was.flags^m.flags)&rig.LifeMask != 0 && (m.shots-was.shots > most ||
		(m.throws-was.throws)&63 > most || (m.punches-was.punches)&15 > most)
}

// objectMark is what the newest row of an object's slot said.
type objectMark struct {
	id   netid.ID
	tick tick.Tick
	born uint16
	over bool
}

// NewTracker returns a tracker for a game on a map, for slots of players and objects. Shots and
// punches of player self are left out: a client predicts its own. 0 is nobody.
func NewTracker(kit *sim.CompiledGame, a *arena.Arena, slots int, self netid.ID) *Tracker {
	return &Tracker{kit: kit, arena: a, self: self, players: make([]playerMark, slots),
		objects: make([]objectMark, netstate.ObjectSlots(slots))}
}

// stale is for how long a row counts as the one before, in seconds divided by this. Effects of a
// longer gap would come too late, and counters may have gone round.
const stale = 2

// Known reports whether a row of a player's slot at a tick would be ignored.
func (k *Tracker) Known(slot int, t tick.Tick) bool { return t <= k.players[slot].tick }

// Player appends the effects of a player's row at tick t, or of an empty slot's with id 0.
func (k *Tracker) Player(dst []Effect, t tick.Tick, slot int, id netid.ID, p *netstate.PlayerState) []Effect {
	m := &k.players[slot]
	if t <= m.tick {
		return dst
	}
	was := *m
	*m = playerMark{id: id, tick: t}
	if id == 0 {
		return dst
	}
	m.shots, m.throws, m.punches = p.Shots, p.Throws, p.Punches
	m.phase, m.stance, m.hero, m.flags = p.Phase, p.Stance, p.Hero, p.Flags
	if was.id != id || t-was.tick > tick.Tick(k.kit.Rate)/stale || !was.alive() && !m.alive() {
		return dst
	}
	if m.restarted(&was) {
		was.shots, was.throws, was.punches = 0, 0, 0
	}
	e := Effect{Tick: t, Source: id, Pos: p.Pos}
	dst = k.weapons(dst, &was, m, p, e)
	if !m.alive() {
		e.Kind, e.Count, e.Target = Death, 1, id
		return append(dst, e)
	}
	return steps(dst, &was, m, p, e)
}

// weapons appends what a player's weapons did between two rows.
func (k *Tracker) weapons(dst []Effect, was, now *playerMark, p *netstate.PlayerState, e Effect) []Effect {
	if now.id == k.self {
		return dst
	}
	hero := k.kit.Hero(p.Hero)
	for kind, of := range [...]struct {
		count uint8
		slot  int
	}{
		Shot:   {now.shots - was.shots, hero.WeaponSlot(0)},
		Launch: {(now.throws - was.throws) & 63, hero.WeaponSlot(1)},
		Punch:  {(now.punches - was.punches) & 15, hero.PunchSlot()},
	} {
		if of.count == 0 {
			continue
		}
		e.Kind, e.Count, e.Registered = Kind(kind), of.count, k.kit.SlotEffect(p.Hero, of.slot)
		e.Pos, e.Dir = k.kit.Body(p.Hero).Eye(p.Pos), geom.Forward(p.Yaw, p.Pitch)
		dst = append(dst, e)
	}
	return dst
}

// Phases at which a foot comes down, of 32.
const (
	leftDown  = 8
	rightDown = 24
	phases    = 32
)

// steps appends what a player's feet did between two rows.
func steps(dst []Effect, was, now *playerMark, p *netstate.PlayerState, e Effect) []Effect {
	e.Count = 1
	switch {
	case grounded(was.stance) && now.stance == rig.Jump:
		e.Kind = Jump
		return append(dst, e)
	case airborne(was.stance) && grounded(now.stance):
		e.Kind = Land
		return append(dst, e)
	case !walks(was.stance) || !walks(now.stance):
		return dst
	}
	way := (now.phase - was.phase) & (phases - 1)
	for _, foot := range [...]struct {
		down uint8
		bone rig.Bone
	}{{leftDown, rig.FootL}, {rightDown, rig.FootR}} {
		if since := (now.phase - foot.down) & (phases - 1); since < way {
			e.Kind, e.Bone, e.Strength = Footstep, foot.bone, float32(p.Gait)/3
			dst = append(dst, e)
		}
	}
	return dst
}

func grounded(s rig.Stance) bool { return s <= rig.Sprint }
func airborne(s rig.Stance) bool { return s == rig.Jump || s == rig.InAir || s == rig.Land }
func walks(s rig.Stance) bool    { return s == rig.Run || s == rig.Sprint }

// Object appends the effects of an object's row at tick t, or of an empty slot's with id 0. Of a row
// without one before it, what happened in the last moment counts.
func (k *Tracker) Object(dst []Effect, t tick.Tick, slot int, id netid.ID, o *netstate.ObjectState) []Effect {
	m := &k.objects[slot]
	if t <= m.tick {
		return dst
	}
	was := *m
	*m = objectMark{id: id, tick: t}
	if id == 0 || !o.Kind.Known() {
		return dst
	}
	m.born, m.over = o.Born, o.Over()
	if was.id == id && was.over == m.over && (was.born == m.born || o.Kind.Flies()) || !m.over {
		return dst
	}
	at := o.Tick(t)
	if o.Kind.Flies() {
		at += tick.Tick(o.Span)
	} else if o.Born == 0 { // too long ago for a row
		return dst
	}
	if at > t || t-at > tick.Tick(k.kit.Rate)/stale {
		return dst
	}
	e := Effect{Count: 1, Tick: at, Pos: o.Pos, Source: netid.ID(o.Owner)}
	switch o.Kind {
	case netstate.Teleporter:
		e.Kind = Teleport
		return append(dst, e)
	case netstate.Grenade:
		e.Registered = k.kit.Effects().Grenade
		return appendExplosion(dst, e, k.kit.GrenadeKinds[0].Splash.Radius)
	case netstate.Barrel:
		e.Registered = k.kit.Effects().Barrel
		return appendExplosion(dst, e, k.kit.BarrelKind().Splash.Radius)
	case netstate.Projectile:
		return k.strike(dst, e, o)
	}
	return dst
}

// appendExplosion appends an explosion, if it has a radius.
func appendExplosion(dst []Effect, e Effect, radius float32) []Effect {
	if radius <= 0 {
		return dst
	}
	e.Kind, e.Strength, e.Cause = Explosion, radius, object.CauseBlast
	return append(dst, e)
}

// strike appends the impact of a projectile, and its explosion.
func (k *Tracker) strike(dst []Effect, e Effect, o *netstate.ObjectState) []Effect {
	if int(o.Type) >= len(k.kit.ProjectileKinds) {
		return dst
	}
	kind := &k.kit.ProjectileKinds[o.Type]
	hit := e
	hit.Kind, hit.Cause, hit.Registered = Impact, object.CauseProjectile, k.kit.ImpactEffect(o.Type)
	hit.Dir = geom.Forward(geom.Angle(o.Aim[0]), geom.Angle(o.Aim[1])).Scale(-1)
	switch object.HitKind(o.Phase) {
	case object.HitGround:
		if at, n, ok := k.arena.SurfaceAt(o.Pos, min(kind.Ground+wallReach, arena.Reach),
			arena.Moment{Tick: e.Tick, Rate: k.kit.Rate}); ok {
			hit.Pos, hit.Dir = at, n
		}
	case object.HitBody:
		hit.Surface = Player
	case object.HitBarrel, object.HitCube:
		hit.Surface = Object
	}
	e.Registered = k.kit.ExplosionEffect(o.Type)
	return appendExplosion(append(dst, hit), e, kind.Splash.Radius)
}
