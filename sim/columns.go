package sim

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// scratch is the resource of a tick's temporary memory. Nothing in it outlives the tick.
type scratch struct {
	input   []move.Input
	who     []move.BodyTeam
	acts    []deed
	alive   []bool
	team    []uint8
	push    []move.Push
	motions []anim.Input
	parts   []rig.Part // by slot of the shooter: what its rounds hit in this tick
	rounds  []lagcomp.Sweep
	hits    []lagcomp.Hit
	notes   []lagcomp.CastStats // of rounds, for receipts
	wounds  []object.DamageResult
	deaths  []death
	kills   []mode.Kill
	mode    mode.Output
	now     columns
	loop    parallel.Loop[columns]
	grain   int                       // least rows of a part
	deeds   [parallel.MaxParts][]deed // acts, by part of a loop
	memory  []ecs.Memory              // of components
}

// deed is an action of a tick and the row of who does it.
type deed struct {
	row    int32
	action ability.Action
}

// death is a kill that is to be told.
type death struct {
	part  rig.Part
	cause object.Cause
}

func newScratch(slots int) *scratch {
	s := &scratch{
		grain: rowsGrain,
		input: make([]move.Input, slots), who: make([]move.BodyTeam, slots), acts: make([]deed, 0, slots),
		alive: make([]bool, slots), team: make([]uint8, slots), push: make([]move.Push, slots), parts: make([]rig.Part, slots),
		motions: make([]anim.Input, slots),
		rounds:  make([]lagcomp.Sweep, 0, slots), hits: make([]lagcomp.Hit, 0, slots), wounds: make([]object.DamageResult, 0, 2*slots),
		deaths: make([]death, 0, slots), kills: make([]mode.Kill, 0, slots),
		mode: mode.Output{Announcements: make([]mode.Announcement, 0, slots+3), Awards: make([]netid.ID, 0, slots)},
	}
	s.deeds[0] = make([]deed, 0, slots)
	return s
}

// columns is what systems work on: the resources, and every player's components, one row a player, for one tick.
type columns struct {
	match *Match
	resources
	rows
}

// rows are the components of all players. With nobody in the match, or between ticks, every column is empty.
type rows struct {
	id      []netid.ID
	pos     []geom.Vec3
	vel     []geom.Vec3
	state   []move.State
	look    []Look
	vital   []Vital
	ability []ability.State
	anim    []anim.State
	command []Command
	know    []ClampLimits
}

// open takes the columns of all players; close follows.
func (m *Match) open() *columns {
	c := &m.scratch.now
	if !m.view.Open() {
		return c
	}
	c.id = m.view.IDs()
	c.pos = ecs.Column(m.view, m.pos)
	c.vel = asVec3(ecs.Column(m.view, m.vel))
	c.state = ecs.Column(m.view, m.state)
	c.look = ecs.Column(m.view, m.look)
	c.vital = ecs.Column(m.view, m.vital)
	c.ability = ecs.Column(m.view, m.ability)
	c.anim = ecs.Column(m.view, m.anim)
	c.command = ecs.Column(m.view, m.command)
	c.know = ecs.Column(m.view, m.know)
	return c
}

func (c *columns) close() {
	c.match.view.Close()
	c.rows = rows{}
}

// asVec3 sees velocities as the vectors they are; both types have one layout.
func asVec3(v []Velocity) []geom.Vec3 {
	return unsafe.Slice((*geom.Vec3)(unsafe.SliceData(v)), len(v))
}

// motion is a row's motion; put writes it back.
func (c *columns) motion(i int) move.Motion { return move.Join(c.pos[i], c.vel[i], c.state[i]) }

func (c *columns) put(i int, m move.Motion) { c.pos[i], c.vel[i], c.state[i] = move.Split(m) }

// bodies is how package object sees the players.
func (c *columns) bodies() object.Bodies {
	n := len(c.id)
	s := c.scratch
	return object.Bodies{ID: c.id, Pos: c.pos, Team: s.team[:n], Alive: s.alive[:n]}
}
