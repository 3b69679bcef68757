package sim

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// scratch is the resource of a tick's temporary memory. Nothing in it outlives the tick.
type scratch struct {
	input []move.Input
	now   columns
}

func newScratch(slots int) *scratch { return &scratch{input: make([]move.Input, slots)} }

// columns is what systems work on: every player's components, one row a player, and the resources, for one tick.
type columns struct {
	match   *Match
	rules   *Rules
	clock   *Clock
	arena   *arena.Arena
	history *lagcomp.History
	score   *Score
	outcome *Outcome
	scratch *scratch

	id      []ecs.NetID
	pos     []geom.Vec3
	vel     []geom.Vec3
	state   []move.State
	look    []Look
	vital   []Vital
	weapon  []Weapon
	command []Command
	know    []Knowledge
}

// open takes the columns of all players; close follows. With nobody in the match every column is empty.
func (m *Match) open() *columns {
	s := ecs.Resource[scratch](m.World)
	c := &s.now
	*c = columns{
		match: m, rules: m.Rules(), clock: ecs.Resource[Clock](m.World), arena: ecs.Resource[arena.Arena](m.World),
		history: m.History(), score: m.Score(), outcome: m.Outcome(), scratch: s,
	}
	if !m.view.Open() {
		return c
	}
	c.id = m.view.IDs()
	c.pos = ecs.Column(m.view, m.pos)
	c.vel = asVec3(ecs.Column(m.view, m.vel))
	c.state = ecs.Column(m.view, m.state)
	c.look = ecs.Column(m.view, m.look)
	c.vital = ecs.Column(m.view, m.vital)
	c.weapon = ecs.Column(m.view, m.weapon)
	c.command = ecs.Column(m.view, m.command)
	c.know = ecs.Column(m.view, m.know)
	return c
}

func (c *columns) close() {
	c.match.view.Close()
	*c = columns{}
}

// asVec3 sees velocities as the vectors they are; both types have one layout.
func asVec3(v []Velocity) []geom.Vec3 {
	return unsafe.Slice((*geom.Vec3)(unsafe.SliceData(v)), len(v))
}
