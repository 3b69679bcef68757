// Package aim measures how players aim. A match goes in after each of its ticks, and features come
// out: how far a player turned right before a hit, how soon after its victim came in sight, and
// how many of its shots hit. They follow from what a recording holds, so a replayed match gives
// the same features. They are for review; nothing acts on them.
//
// One goroutine owns a Tracker. It reads the match and changes nothing, allocates nothing after
// New and reads no clock.
package aim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

// Implementation constants.
const (
	snapMillis  = 200 // before a hit, in which the greatest turn of a tick is a snap
	sightMillis = 500 // longest time in sight before a hit that counts as a reaction
	turns       = 32  // ticks of turns that are kept, at least snapMillis
	leastHits   = 8   // needed for a score
	memory      = 32  // hits that a mean is over
)

// Features are a player's recent aim. Means are over about its last 32 hits with hitscan shots.
type Features struct {
	Shots, Hits uint32
	Firsts      uint32  // hits on a player that it had not hit for half a second
	Snap        float32 // greatest turn in a tick of the 200 ms before a hit, degrees
	Reaction    float32 // from when a victim came in sight to the first hit, ms, at most 500
	OnTarget    float32 // share of its shots that hit
}

// Score is 0 for human aim up to 1 for aim that no hand can have: wide turns that end on a player
// that has just come into view, and hardly a miss. It is 0 with fewer than 8 hits.
func (f *Features) Score() float32 {
	if f.Hits < leastHits {
		return 0
	}
	// a fast flick of the wrist is some 8 degrees in a tick, and over some ticks
	snap := between(f.Snap, 8, 30)
	sooner := 1 - between(f.Reaction, 60, 180) // people take 150 ms at least
	sure := between(f.OnTarget, 0.5, 0.9)
	return float32(0.5*snap*sure) + float32(0.3*sooner) + float32(0.2*snap*sooner)
}

// between is how far v is from lo to hi, 0 to 1.
func between(v, lo, hi float32) float32 { return min(max((v-lo)/(hi-lo), 0), 1) }

// Tracker measures the players of a match.
type Tracker struct {
	match   *sim.Match
	players []player
}

// player is the state of one slot.
type player struct {
	id         netid.ID
	seen       bool // yaw and pitch are of a command
	yaw, pitch geom.Angle
	turn       [turns]float32 // by tick, degrees
	victim     int
	struck     tick.Tick
	f          Features
}

// New returns a tracker for matches of the given number of slots. It takes 184 bytes a slot.
func New(slots int) *Tracker { return &Tracker{players: make([]player, slots)} }

// Features is the aim of a slot's player since it joined.
func (w *Tracker) Features(slot int) Features { return w.players[slot].f }

// Tick takes the tick that the match has just played. It starts again for another match.
func (w *Tracker) Tick(m *sim.Match) {
	if w.match != m {
		w.match = m
		if n := len(m.Poses()); n > len(w.players) {
			w.players = make([]player, n)
		}
		clear(w.players)
	}
	now := m.Tick()
	poses := m.Poses()
	for slot := range poses {
		p, id := &w.players[slot], netid.ID(poses[slot].ID)
		if id != p.id {
			*p = player{id: id}
		}
		if id == 0 {
			continue
		}
		in := m.CommandBuffer(id)
		if in == nil {
			continue
		}
		p.addCommand(in.Last(), now)
	}
	out := m.Outcome()
	for i := range min(len(out.Shots), len(out.Hits)) {
		w.addShot(m, &out.Shots[i], &out.Hits[i])
	}
}

// addCommand notes how far a command turned the view.
func (p *player) addCommand(c sim.Command, now tick.Tick) {
	at := &p.turn[now%turns]
	*at = 0
	if c.Tick != now {
		return // it was bridged
	}
	if p.seen {
		*at = max(degrees(c.Yaw-p.yaw), degrees(c.Pitch-p.pitch))
	}
	p.seen, p.yaw, p.pitch = true, c.Yaw, c.Pitch
}

// degrees is the size of a turn, the shorter way round.
func degrees(by geom.Angle) float32 {
	n := int16(by)
	return max(float32(n), -float32(n)) * (360.0 / 65536)
}

// addShot counts a shot.
func (w *Tracker) addShot(m *sim.Match, s *sim.Shot, hit *lagcomp.Hit) {
	slot := netid.ID(s.Shooter).Index()
	p := &w.players[slot]
	if p.id != netid.ID(s.Shooter) {
		return
	}
	p.f.Shots++
	if victim := hit.Slot; hit.ID != 0 {
		p.f.Hits++
		p.f.Snap = mean(p.f.Snap, p.snap(m), p.f.Hits)
		if now := m.Tick(); p.victim != victim ||
			now-p.struck > tick.Tick(sightMillis*int(m.Rules().Rate)/1000) {
			p.f.Firsts++
			p.f.Reaction = mean(p.f.Reaction, reaction(m, slot, victim), p.f.Firsts)
		}
		p.victim, p.struck = victim, m.Tick()
	}
	p.f.OnTarget = float32(p.f.Hits) / float32(p.f.Shots)
}

// mean adds the n-th value to a mean of the last ones.
func mean(was, v float32, n uint32) float32 {
	return was + (v-was)/float32(min(n, memory))
}

// snap is the greatest recent turn in a tick.
func (p *player) snap(m *sim.Match) (most float32) {
	n := min(tick.Tick(snapMillis*int(m.Rules().Rate)/1000), turns-1)
	for t := m.Tick(); t > 0 && t+n >= m.Tick(); t-- {
		most = max(most, p.turn[t%turns])
	}
	return most
}

// reaction is for how long two players have been in sight of each other, by their eyes, in ms: it
// tests each second tick of history until a wall stands between them.
func reaction(m *sim.Match, a, b int) float32 {
	h, rate := m.History(), int(m.Rules().Rate)
	ticks := tick.Tick(sightMillis * rate / 1000)
	for back := tick.Tick(0); back < ticks; back += 2 {
		if back >= m.Tick() {
			break
		}
		from, okA := h.Pose(m.Tick()-back, a)
		to, okB := h.Pose(m.Tick()-back, b)
		if !okA || !okB || hidden(m, m.Tick()-back, sim.Eye(from.Pos), sim.Eye(to.Pos)) {
			return float32(back) * 1000 / float32(rate)
		}
	}
	return sightMillis
}

// hidden reports whether a wall stands between two places at a tick.
func hidden(m *sim.Match, at tick.Tick, from, to geom.Vec3) bool {
	way := to.Sub(from)
	far := geom.Sqrt(float32(way.X*way.X) + float32(way.Y*way.Y) + float32(way.Z*way.Z))
	if far < 0.1 {
		return false
	}
	then := m.Scene().Moment()
	then.Tick = at
	_, wall := m.Scene().Arena.RaycastAt(geom.Ray{Origin: from, Dir: way.Scale(1 / far), Max: far}, then)
	return wall
}
