// Package aim measures how players aim. A match goes in after each of its ticks, and features come
// out: how far a player turned right before a hit, how soon it hit after its victim came in sight,
// and how many of its shots hit. A recording holds all that they need, so a replayed match gives the
// same features. They are for review; nothing acts on them.
//
// One goroutine owns a Tracker. It reads the match, changes nothing in it and reads no clock. It
// allocates for a match with more slots than New was told, and at no other time.
package aim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

const (
	snapMillis  = 200 // a snap is the greatest turn in one tick of this time before a hit
	sightMillis = 500 // longest time in sight before a hit that counts as a reaction
	turns       = 32  // ticks whose turns are kept: 200 ms at up to 155 Hz, and less at higher rates
	leastHits   = 8   // a score needs this many
	meanHits    = 32  // hits in a mean
)

// Features describe the hitscan shots of a player since it joined. Snap is a mean of about the last
// 32 hits, and Reaction of about the last 32 first hits.
type Features struct {
	Shots, Hits uint32
	Firsts      uint32  // hits on another player than the hit before, or half a second after it
	Snap        float32 // greatest turn in one tick of the 200 ms before a hit, degrees
	Reaction    float32 // from when a victim came in sight to the first hit, ms, at most 500
	OnTarget    float32 // Hits divided by Shots
}

// Score is near 0 for human aim, and 1 for aim that no person has: wide turns that end on a player
// that has just come into view, with few misses. It is 0 with fewer than 8 hits. Its weights are a
// judgment, not a fit.
func (f *Features) Score() float32 {
	if f.Hits < leastHits {
		return 0
	}
	// a fast flick of the wrist turns some 8 degrees in a tick at 60 Hz
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
	hasView    bool // yaw and pitch are of an earlier command
	yaw, pitch geom.Angle
	turn       [turns]float32 // by tick, degrees
	victim     int            // slot of the last player hit
	struckAt   tick.Tick      // when it was hit
	f          Features
}

// New returns a tracker for matches of the given number of slots. It takes 184 bytes a slot.
func New(slots int) *Tracker { return &Tracker{players: make([]player, slots)} }

// Features is the aim of a slot's player since it joined.
func (w *Tracker) Features(slot int) Features { return w.players[slot].f }

// Tick adds the tick that the match has just played. Another match clears all features.
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

// addCommand notes how far a command turned the view: the larger of the turns in yaw and pitch. After
// ticks without a command it is the turn since the last one.
func (p *player) addCommand(c sim.Command, now tick.Tick) {
	at := &p.turn[now%turns]
	*at = 0
	if c.Tick != now {
		return // no command came for this tick
	}
	if p.hasView {
		*at = max(degrees(c.Yaw-p.yaw), degrees(c.Pitch-p.pitch))
	}
	p.hasView, p.yaw, p.pitch = true, c.Yaw, c.Pitch
}

// degrees is the size of a turn, the shorter way round.
func degrees(by geom.Angle) float32 {
	n := int16(by)
	return max(float32(n), -float32(n)) * (360.0 / 65536)
}

// addShot adds a shot, and its hit if it has one, to the features of its shooter.
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
			now-p.struckAt > tick.Tick(sightMillis*int(m.Rules().Rate)/1000) {
			p.f.Firsts++
			p.f.Reaction = mean(p.f.Reaction, reaction(m, slot, victim), p.f.Firsts)
		}
		p.victim, p.struckAt = victim, m.Tick()
	}
	p.f.OnTarget = float32(p.f.Hits) / float32(p.f.Shots)
}

// mean adds the n-th value to a mean. From meanHits on, a new value weighs 1/meanHits.
func mean(was, v float32, n uint32) float32 {
	return was + (v-was)/float32(min(n, meanHits))
}

// snap is the greatest turn in one tick of the last snapMillis.
func (p *player) snap(m *sim.Match) (most float32) {
	n := min(tick.Tick(snapMillis*int(m.Rules().Rate)/1000), turns-1)
	for t := m.Tick(); t > 0 && t+n >= m.Tick(); t-- {
		most = max(most, p.turn[t%turns])
	}
	return most
}

// reaction is for how many ms, at most sightMillis, no wall has stood between the eyes of two players.
// It tests every other tick of the history. A player without a pose is hidden.
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
