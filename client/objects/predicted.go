package objects

import (
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Stats counts own projectiles and grenades.
type Stats struct {
	Launched uint64  // predicted
	Matched  uint64  // of these, found in a row of the server
	Moved    uint64  // of these, with another launch than predicted
	Rejected uint64  // that the server does not have: they vanish
	NotShown uint64  // not shown before their first row, because too many were in the air
	MaxJump  float32 // metres: the longest correction of a position
}

// maxOwn is how many own projectiles are in the air before the server has told of their ends.
const maxOwn = 64

// rejectAfter is how many snapshots may lack an own projectile that they should have until it
// counts as rejected: a packet may be lost, and the first packet of a snapshot has limited room.
const rejectAfter = 3

// projectile is a predicted projectile or grenade of our own.
type projectile struct {
	kind   netstate.Kind
	index  uint8 // among those of its kind and tick
	misses uint8
	slot   int32    // the server's, if id is not 0
	id     netid.ID // of the server's row
	path   object.Trajectory
	swept  tick.Tick  // the path is clear up to here
	landed tick.Tick  // it hits the arena; 0: not yet
	at     geom.Vec3  // where
	arc    trajectory // of a grenade
	launch object.Grenade
}

// Launch begins an own projectile or grenade: an action of a command, and the state after the
// command.
func (s *Set) Launch(cmd *sim.Command, a *ability.Action, self *predict.State) {
	k := s.match.Kit
	p := projectile{swept: cmd.Tick}
	eye := k.Body(self.Hero).Eye(self.Motion.Pos)
	switch a.Kind {
	case ability.ActionProjectile:
		p.kind = netstate.Projectile
		p.path = object.Launch(0, object.Trajectory{
			Start: eye, Yaw: cmd.Yaw, Pitch: cmd.Pitch + a.Pitch, Tick: cmd.Tick,
			Owner: s.match.Self, Type: a.Type - 1, Team: self.Team,
		}, tick.View{}).Trajectory
		if int(p.path.Type) >= len(k.ProjectileKinds) {
			return
		}
	case ability.ActionGrenade:
		p.kind = netstate.Grenade
		p.launch = object.Throw(object.Grenade{
			Pos: eye, Vel: geom.Forward(cmd.Yaw, cmd.Pitch+a.Pitch).Scale(a.Speed),
			Owner: s.match.Self, Thrown: cmd.Tick, Team: self.Team,
		})
		p.arc.begin(0, p.launch, &k.GrenadeKinds[p.launch.Type], s.match.Arena)
	default:
		return
	}
	for i := range s.own[:s.n] {
		if o := &s.own[i]; o.kind == p.kind && o.since() == cmd.Tick {
			p.index++
		}
	}
	s.stats.Launched++
	if s.n == maxOwn {
		s.stats.NotShown++
		return
	}
	if s.own == nil {
		s.own = make([]projectile, maxOwn)
	}
	s.own[s.n] = p
	s.n++
	o := p.object()
	s.addChange(Launched, cmd.Tick, &o)
}

func (s *Set) removeOwn(i int) {
	copy(s.own[i:s.n], s.own[i+1:s.n])
	s.n--
}

// since is the tick of the launch.
func (p *projectile) since() tick.Tick {
	if p.kind == netstate.Grenade {
		return p.launch.Thrown
	}
	return p.path.Tick
}

// object is the projectile at its launch.
func (p *projectile) object() (o Object) {
	if p.kind == netstate.Grenade {
		o.ObjectState.OfGrenade(&p.launch, &p.launch, int(p.index))
	} else {
		flight := object.Projectile{Trajectory: p.path}
		o.ObjectState.OfProjectile(&flight, int(p.index))
	}
	o.ID, o.Since, o.Own = p.id, p.since(), true
	return o
}

// matchOwn finds the own projectile of a row in the snapshot of tick t: of the same kind, tick and
// index. The row then replaces the prediction.
func (s *Set) matchOwn(t tick.Tick, slot int, o *Object) bool {
	for i := range s.own[:s.n] {
		p := &s.own[i]
		if p.id != 0 || p.kind != o.Kind || p.since() != o.Since || p.index != o.Index {
			continue
		}
		s.stats.Matched++
		p.id, p.slot = o.ID, int32(slot)
		now := s.predicted()
		was := s.ownPosition(p, now)
		if s.adopt(p, t, o) {
			s.stats.Moved++
			s.stats.MaxJump = max(s.stats.MaxJump, was.Sub(s.ownPosition(p, now)).Len())
		}
		s.addChange(Matched, t, o)
		return true
	}
	return false
}

// adopt takes the launch from the server's row and reports whether it differs from the prediction.
// A row of a projectile that has ended has only its end.
func (s *Set) adopt(p *projectile, t tick.Tick, o *Object) bool {
	if o.Over() {
		return false
	}
	k := s.match.Kit
	if p.kind == netstate.Grenade {
		g := o.Launch(t)
		if g.Pos == p.launch.Pos && g.Vel == p.launch.Vel && g.Type == p.launch.Type {
			return false
		}
		if p.launch = g; int(g.Type) < len(k.GrenadeKinds) {
			p.arc.begin(0, g, &k.GrenadeKinds[g.Type], s.match.Arena)
		}
		return true
	}
	path := o.Flight(t)
	if path == p.path || int(path.Type) >= len(k.ProjectileKinds) {
		return false
	}
	p.path, p.swept, p.landed = path, path.Tick, 0
	return true
}

// rejectMissing removes own projectiles that the snapshots up to tick t should have and lack.
func (s *Set) rejectMissing(t tick.Tick) {
	for i := s.n - 1; i >= 0; i-- {
		p := &s.own[i]
		if p.id != 0 || p.since() > t {
			continue
		}
		if p.misses++; p.misses >= rejectAfter {
			s.stats.Rejected++
			o := p.object()
			s.addChange(Rejected, t, &o)
			s.removeOwn(i)
		}
	}
}

// ownPosition is where an own projectile is at an instant by prediction: it stops at the arena.
func (s *Set) ownPosition(p *projectile, now instant) geom.Vec3 {
	if p.kind == netstate.Grenade {
		fuse := &s.match.Kit.GrenadeKinds[p.launch.Type]
		if p.arc.at > now.tick { // the clock went back
			p.arc.begin(0, p.launch, fuse, s.match.Arena)
		}
		p.arc.advance(fuse, s.match.Arena, now.tick, maxSteps)
		return lerp(p.arc.now.Pos, p.arc.next.Pos, now.frac)
	}
	r := &s.match.Kit.ProjectileKinds[p.path.Type]
	for end := min(now.tick+1, p.path.Tick+r.Life); p.landed == 0 && p.swept < end; {
		p.swept++
		if at, ok := p.path.HitsArena(r, s.match.Arena, p.swept); ok {
			p.landed, p.at = p.swept, at
		}
	}
	return lerp(p.onPath(r, now.tick), p.onPath(r, now.tick+1), now.frac)
}

// onPath is the position at the end of tick t.
func (p *projectile) onPath(r *object.CompiledProjectile, t tick.Tick) geom.Vec3 {
	if p.landed != 0 && t >= p.landed {
		return p.at
	}
	return p.path.At(r, t)
}

// showOwn is an own projectile at an instant. False if it is spent. Once the server has told of its
// end, that is shown.
func (s *Set) showOwn(p *projectile, now instant) (o Object, ok bool) {
	if p.id != 0 {
		slot := int(p.slot)
		f := s.decoder.At(s.decoder.Newest(slot))
		if f != nil && f.ID(slot) == p.id && s.read(f.Tick, slot, &o) && o.Over() {
			o.Own = true
			return o, true
		}
	}
	o = p.object()
	if p.kind == netstate.Projectile && p.landed == 0 {
		if end := p.path.Tick + s.match.Kit.ProjectileKinds[p.path.Type].Life; now.tick >= end {
			return o, false
		}
	}
	o.Pos = s.ownPosition(p, now)
	if p.landed != 0 && now.tick >= p.landed {
		o.Phase, o.Span = uint8(object.HitGround), uint16(p.landed-p.path.Tick)
	}
	return o, true
}
