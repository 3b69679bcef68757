package dst

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// checkInputs checks that each player's tick used at most one command of its own, exactly as its
// client made it.
func (r *run) checkInputs() {
	m := r.Lobby.Match()
	for _, id := range r.players {
		in := m.CommandBuffer(id)
		if in == nil {
			continue
		}
		was := r.shadow.used[id]
		if in.Count.Used > was+1 {
			r.fail(OnceATick, "%v: %d commands in one tick", id, in.Count.Used-was)
		}
		if in.Count.Used == was+1 && in.Last().Tick != m.Tick() {
			r.fail(OnceATick, "%v: the command for tick %d in tick %d", id, in.Last().Tick, m.Tick())
		}
		if in.Count.Used > in.Count.Accepted {
			r.fail(OnceATick, "%v: %d commands applied of %d that came", id, in.Count.Used, in.Count.Accepted)
		}
		if lead := in.Lead(m.Tick()); lead > 64 {
			r.fail(Bounds, "%v: commands up to %d ticks ahead", id, lead)
		}
	}
	for i := range r.Clients {
		c := r.joined(i)
		if c == nil {
			continue
		}
		in := m.CommandBuffer(c.ID())
		if in == nil || in.Count.Used == r.shadow.used[c.ID()] {
			continue
		}
		if made, ok := c.Issued(m.Tick()); ok && made != in.Last() {
			r.fail(OnceATick, "client %d issued for tick %d %+v, and the server applied %+v",
				i, m.Tick(), made, in.Last())
		}
	}
}

// checkMoves checks that each player has finite coordinates outside solids and moves no faster
// than a body can.
func (r *run) checkMoves() {
	m := r.Lobby.Match()
	s := &r.shots
	for _, id := range r.players {
		motion, _, vital := m.Self(id)
		p, v := motion.Pos, motion.Vel
		if notFinite(p.X, p.Y, p.Z, v.X, v.Y, v.Z) {
			r.fail(Movement, "%v is at %v with %v", id, p, v)
			continue
		}
		if m.Spectates(id) {
			continue
		}
		at := &s.stood[id.Index()%len(s.stood)]
		if at.id == id && at.life == vital.Life && at.tick+1 == m.Tick() {
			d := p.Sub(at.pos)
			far := max(at.speed, horizontalSpeed(v))*float32(r.rate.Period().Seconds()) + 360/float32(r.rate*r.rate)
			if r.Lobby.Config().Arena.MoversNear(p.X, p.Z) != 0 { // it is carried, and pushed twice as fast
				far += 3*arena.MaxMoverSpeed/float32(r.rate) + 1./1024
			}
			if horizontalSpeed(d) > far {
				r.fail(Movement, "%v moved by %g m in a tick: expected at most %g",
					id, horizontalSpeed(d), far)
			}
			if up := float32(move.TopSpeed)/float32(r.rate) + move.StepHeight + 0.05; d.Y > up || d.Y < -up {
				r.fail(Movement, "%v rose by %g m in a tick", id, d.Y)
			}
		}
		*at = lastStance{id, vital.Life, m.Tick(), p, horizontalSpeed(v)}
		if m.Tick()%4 == 0 && vital.Alive() && r.insideSolid(torso(p)) {
			r.fail(Movement, "%v is inside a solid at %v", id, p)
		}
	}
}

// torso returns the part of a body at p that never touches a solid, whatever its stance: from 0.6 m
// to 1.2 m above its feet, 0.4 m wide.
func torso(p geom.Vec3) geom.AABB {
	const half = 0.2
	return geom.AABB{Min: geom.Vec3{X: p.X - half, Y: p.Y + 0.6, Z: p.Z - half},
		Max: geom.Vec3{X: p.X + half, Y: p.Y + 1.2, Z: p.Z + half}}
}

// horizontalSpeed returns the length of v without its vertical part.
func horizontalSpeed(v geom.Vec3) float32 { return geom.Sqrt(float32(v.X*v.X) + float32(v.Z*v.Z)) }

// insideSolid reports whether b overlaps a box of the arena. Ramps are skipped: their shape is not
// a box.
func (r *run) insideSolid(b geom.AABB) bool {
	mid := b.Min.Lerp(b.Max, 0.5)
	for _, s := range r.cfg.Arena.Near(mid.X, mid.Z) {
		x := b.Min.X < s.Max.X && s.Min.X < b.Max.X
		y := b.Min.Y < s.Max.Y && s.Min.Y < b.Max.Y
		z := b.Min.Z < s.Max.Z && s.Min.Z < b.Max.Z
		if s.Shape == arena.Box && x && y && z {
			return true
		}
	}
	return false
}
