// Package aim watches how players aim. A match goes in after each of its ticks, and features come out: how far a player turned right before it
// hit, how soon after its victim came in sight, and how many of its rounds hit. They are made of what a recording has, so a match that is
// played again gives the same: nothing else needs to be recorded. Nobody is punished by them; somebody may look.
//
// It reads the match and changes nothing, allocates nothing after New and reads no clock.
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
	snapMillis  = 200 // before a hit in which the greatest turn of a tick is a snap
	sightMillis = 500 // that a victim was in sight before it was hit, at most: more is no reaction
	turns       = 32  // ticks of turns that are remembered, of which snapMillis is a part at any rate
	leastHits   = 8   // of which a score is made
	memory      = 32  // hits that a mean is over
)

// Features are how a player has aimed lately. Means are over about the last 32 hits of rounds that fly at once.
type Features struct {
	Shots, Hits uint32
	Firsts      uint32  // hits of those whom it had not hit for half a second
	Snap        float32 // greatest turn in a tick of the 200 ms before a hit, degrees
	Reaction    float32 // from when a victim came in sight to the first hit, ms, at most 500
	OnTarget    float32 // part of the rounds that hit
}

// Score is 0 for how people aim to 1 for what no hand does: great turns that end on somebody who has just come in sight, and hardly a round
// that misses. It is 0 with fewer than 8 hits.
func (f *Features) Score() float32 {
	if f.Hits < leastHits {
		return 0
	}
	snap := between(f.Snap, 8, 30)             // a fast flick of the wrist is some 8 degrees in a tick, and over some ticks
	sooner := 1 - between(f.Reaction, 60, 180) // people take 150 ms at least
	sure := between(f.OnTarget, 0.5, 0.9)
	return float32(0.5*snap*sure) + float32(0.3*sooner) + float32(0.2*snap*sooner)
}

// between is how far v is from lo to hi, 0 to 1.
func between(v, lo, hi float32) float32 { return min(max((v-lo)/(hi-lo), 0), 1) }

// Tracker watches the players of a match. It belongs to whoever owns that.
type Tracker struct {
	match   *sim.Match
	players []player
}

// player is what is known of a slot's.
type player struct {
	id         netid.ID
	seen       bool // yaw and pitch are of a command
	yaw, pitch geom.Angle
	turn       [turns]float32 // by tick, degrees
	victim     int
	struck     tick.Tick
	f          Features
}

// New returns a watch for matches of so many slots. It takes 184 bytes for each.
func New(slots int) *Tracker { return &Tracker{players: make([]player, slots)} }

// Features is how the player of a slot has aimed since it came.
func (w *Tracker) Features(slot int) Features { return w.players[slot].f }

// Tick takes the tick that the match has just played. With another match all begins anew.
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

// addCommand notes how far a player has turned by a command.
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

// addShot notes a round.
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
		if now := m.Tick(); p.victim != victim || now-p.struck > tick.Tick(sightMillis*int(m.Rules().Rate)/1000) {
			p.f.Firsts++
			p.f.Reaction = mean(p.f.Reaction, reaction(m, slot, victim), p.f.Firsts)
		}
		p.victim, p.struck = victim, m.Tick()
	}
	p.f.OnTarget = float32(p.f.Hits) / float32(p.f.Shots)
}

// mean takes the n-th value into a mean that forgets.
func mean(was, v float32, n uint32) float32 {
	return was + (v-was)/float32(min(n, memory))
}

// snap is the greatest turn of late.
func (p *player) snap(m *sim.Match) (most float32) {
	n := min(tick.Tick(snapMillis*int(m.Rules().Rate)/1000), turns-1)
	for t := m.Tick(); t > 0 && t+n >= m.Tick(); t-- {
		most = max(most, p.turn[t%turns])
	}
	return most
}

// reaction is for how long two have been in sight of each other, by their eyes, in ms: the history is asked for each second tick until a
// wall stands between them.
func reaction(m *sim.Match, a, b int) float32 {
	h, rate := m.History(), int(m.Rules().Rate)
	ticks := tick.Tick(sightMillis * rate / 1000)
	for back := tick.Tick(0); back < ticks; back += 2 {
		if back >= m.Tick() {
			break
		}
		from, okA := h.Pose(m.Tick()-back, a)
		to, okB := h.Pose(m.Tick()-back, b)
		if !okA || !okB || hidden(m, sim.Eye(from.Pos), sim.Eye(to.Pos)) {
			return float32(back) * 1000 / float32(rate)
		}
	}
	return sightMillis
}

// hidden reports whether a wall stands between two places.
func hidden(m *sim.Match, from, to geom.Vec3) bool {
	way := to.Sub(from)
	far := geom.Sqrt(float32(way.X*way.X) + float32(way.Y*way.Y) + float32(way.Z*way.Z))
	if far < 0.1 {
		return false
	}
	_, wall := m.Scene().Arena.Raycast(geom.Ray{Origin: from, Dir: way.Scale(1 / far), Max: far})
	return wall
}
