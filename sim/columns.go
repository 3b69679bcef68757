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
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// scratch is the resource of a tick's temporary memory. Nothing in it outlives the tick.
type scratch struct {
	rowScratch
	shotScratch
	damageScratch
	now    columns
	loop   parallel.Loop[columns]
	grain  int          // least rows of a part of a loop
	memory []ecs.Memory // of components
	saved  *State       // of Save; nil before the first
}

// rowScratch has one entry a row, except for actions.
type rowScratch struct {
	input       []move.Input
	bodyTeams   []move.BodyTeam
	alive       []bool
	team        []uint8
	motions     []anim.Input
	teleports   []object.TeleportRequest          // that begin in this tick
	fires       []object.Fire                     // lit in this tick
	actions     []playerAction                    // of the tick, in the order of rows
	actionParts [parallel.MaxParts][]playerAction // the same, by part of a loop
	moveBatches [parallel.MaxParts]*move.Batch    // by part of a loop
}

// shotScratch is the memory of systems fire and combat.
type shotScratch struct {
	sweeps    []lagcomp.Sweep // of shots, then punches
	hits      []lagcomp.Hit   // of sweeps
	castStats []lagcomp.CastStats
	parts     []rig.Part // by slot of the shooter: what its shots hit in this tick
}

// damageScratch is the memory of systems damage and mode.
type damageScratch struct {
	push        []move.Push // by row
	damage      []object.DamageResult
	killDetails []killDetail
	kills       []mode.Kill
	mode        mode.Output
}

// playerAction is an action of a tick and the row of its player.
type playerAction struct {
	row    int32
	action ability.Action
}

// killDetail is what the event of a kill says besides mode.Kill.
type killDetail struct {
	part  rig.Part
	cause object.Cause
}

// newScratch allocates for slots players, so that ticks do not.
func newScratch(slots int) *scratch {
	s := &scratch{grain: rowGrain}
	s.rowScratch = rowScratch{
		input: make([]move.Input, slots), bodyTeams: make([]move.BodyTeam, slots),
		alive: make([]bool, slots), team: make([]uint8, slots), motions: make([]anim.Input, slots),
		actions: make([]playerAction, 0, slots), teleports: make([]object.TeleportRequest, 0, slots),
		fires: make([]object.Fire, 0, slots),
	}
	s.shotScratch = shotScratch{
		sweeps: make([]lagcomp.Sweep, 0, slots), hits: make([]lagcomp.Hit, 0, slots),
		parts: make([]rig.Part, slots),
	}
	s.damageScratch = damageScratch{
		push: make([]move.Push, slots), damage: make([]object.DamageResult, 0, 2*slots),
		killDetails: make([]killDetail, 0, slots), kills: make([]mode.Kill, 0, slots),
		mode: mode.Output{
			Announcements: make([]mode.Announcement, 0, slots+3), Awards: make([]netid.ID, 0, slots),
		},
	}
	s.actionParts[0], s.moveBatches[0] = make([]playerAction, 0, slots), new(move.Batch)
	return s
}

// columns is what systems work on: the resources, and the components of all players, one row a
// player, for one tick.
type columns struct {
	match *Match
	resources
	rows
}

// moment is the tick being played, as movers need it.
func (c *columns) moment() arena.Moment { return arena.Moment{Tick: c.clock.Tick, Rate: c.kit.Rate} }

// rows are the components of all players. Every column is empty without players and between ticks.
type rows struct {
	id          []netid.ID
	pos         []geom.Vec3
	vel         []geom.Vec3
	state       []move.State
	look        []Look
	vital       []Vital
	ability     []ability.State
	anim        []anim.State
	command     []Command
	clampLimits []ClampLimits
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
	c.clampLimits = ecs.Column(m.view, m.clampLimits)
	return c
}

// close returns the columns to the world; the slices are invalid afterwards.
func (c *columns) close() {
	c.match.view.Close()
	c.rows = rows{}
}

// asVec3 views velocities as vectors; both types have one layout.
func asVec3(v []Velocity) []geom.Vec3 {
	return unsafe.Slice((*geom.Vec3)(unsafe.SliceData(v)), len(v))
}

// motion is a row's motion; setMotion writes it back.
func (c *columns) motion(i int) move.Motion { return move.Join(c.pos[i], c.vel[i], c.state[i]) }

func (c *columns) setMotion(i int, m move.Motion) { c.pos[i], c.vel[i], c.state[i] = move.Split(m) }

// row is the row of a player; false for any other id.
func (c *columns) row(id netid.ID) (int, bool) {
	if id.Index() >= ecs.PageSlots {
		return 0, false
	}
	return c.match.World.Row(id)
}

// bodies is the players as package object sees them.
func (c *columns) bodies() object.Bodies {
	n := len(c.id)
	s := c.scratch
	return object.Bodies{ID: c.id, Pos: c.pos, Team: s.team[:n], Alive: s.alive[:n]}
}
