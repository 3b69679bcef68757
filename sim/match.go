package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// Match is one game: a world of players on an arena. It holds handles only; all state is in the world.
type Match struct {
	World *ecs.World

	player  ecs.Kind
	view    *ecs.View
	pos     ecs.Comp[geom.Vec3]
	vel     ecs.Comp[Velocity]
	state   ecs.Comp[move.State]
	look    ecs.Comp[Look]
	vital   ecs.Comp[Vital]
	weapon  ecs.Comp[Weapon]
	command ecs.Comp[Command]
	know    ecs.Comp[Knowledge]

	seen func(s *lagcomp.Shot, id uint32) bool // of Witness
}

// Clock is the resource that says which tick was simulated last.
type Clock struct{ Tick tick.Tick }

// Score is the resource of the team deathmatch: kills and members by team.
type Score struct{ Kills, Members [2]uint32 }

// Outcome is the resource of what the last tick brought about, for those who pass it on. Its memory is used again by
// the next Step.
type Outcome struct {
	Events  []Event        // in the order they happened
	Shots   []lagcomp.Shot // rounds fired, their views clamped, their rays cut at the first wall
	Clamped int            // shots whose claimed view was moved
	Hits    []lagcomp.Hit  // what each of them hit in its shooter's view, whatever became of the victim since
}

// inboxes is the resource of commands that wait, by slot.
type inboxes struct{ of []Inbox }

// poses is the resource of what everybody looks like to others, by slot; ID 0 = nobody.
type poses struct{ of []lagcomp.Pose }

// New makes an empty match for at most slots players.
func New(slots int, rules Rules, a *arena.Arena) *Match {
	rules = rules.WithDefaults()
	w := ecs.New(slots)
	m := &Match{World: w}
	m.pos, m.vel, m.state = ecs.Register[geom.Vec3](w), ecs.Register[Velocity](w), ecs.Register[move.State](w)
	m.look, m.vital, m.weapon = ecs.Register[Look](w), ecs.Register[Vital](w), ecs.Register[Weapon](w)
	m.command, m.know = ecs.Register[Command](w), ecs.Register[Knowledge](w)
	m.player = w.Kind("player", m.pos, m.vel, m.state, m.look, m.vital, m.weapon, m.command, m.know)
	m.view = w.View(m.player)

	ecs.SetResource(w, &rules)
	ecs.SetResource(w, a)
	ecs.SetResource(w, &Clock{})
	ecs.SetResource(w, &Score{})
	ecs.SetResource(w, &Outcome{Events: make([]Event, 0, 2*slots), Shots: make([]lagcomp.Shot, 0, slots), Hits: make([]lagcomp.Hit, slots)})
	ecs.SetResource(w, lagcomp.NewHistory(slots, int(rules.Rate)+int(rules.Rate)/4))
	ecs.SetResource(w, &inboxes{make([]Inbox, slots)})
	ecs.SetResource(w, &poses{make([]lagcomp.Pose, slots)})
	ecs.SetResource(w, newScratch(slots))
	return m
}

// Velocity is metres a second, a type of its own because a component is found by its type.
type Velocity geom.Vec3

// Rules returns the rules in force.
func (m *Match) Rules() *Rules { return ecs.Resource[Rules](m.World) }

// Tick returns the tick that was simulated last, 0 before the first.
func (m *Match) Tick() tick.Tick { return ecs.Resource[Clock](m.World).Tick }

// Score returns the standing.
func (m *Match) Score() *Score { return ecs.Resource[Score](m.World) }

// Outcome returns what the last tick brought about; valid until the next Step.
func (m *Match) Outcome() *Outcome { return ecs.Resource[Outcome](m.World) }

// History returns the memory that shots are tested against.
func (m *Match) History() *lagcomp.History { return ecs.Resource[lagcomp.History](m.World) }

// Poses returns what everybody looks like to others after the last tick, by slot; ID 0 = nobody. Valid until the next
// Step; not to be written.
func (m *Match) Poses() []lagcomp.Pose { return ecs.Resource[poses](m.World).of }

// Inbox returns the commands that wait for a player, nil for a stale id.
func (m *Match) Inbox(id ecs.NetID) *Inbox {
	if m.World.KindOf(id) != m.player {
		return nil
	}
	return &ecs.Resource[inboxes](m.World).of[id.Index()]
}

// Vital returns a player's fortune, nil for an id without a row. It may be used until the next Step.
func (m *Match) Vital(id ecs.NetID) *Vital { return m.vital.Get(id) }

// Self returns what a player's owner predicts from, zero for an id without a row.
func (m *Match) Self(id ecs.NetID) (motion move.Motion, weapon Weapon, vital Vital) {
	if p := m.pos.Get(id); p != nil {
		motion = move.Join(*p, geom.Vec3(*m.vel.Get(id)), *m.state.Get(id))
		weapon, vital = *m.weapon.Get(id), *m.vital.Get(id)
	}
	return motion, weapon, vital
}

// Know notes what the server has measured of a player's connection, for the shots of the coming tick. Last is the
// match's own business and kept.
func (m *Match) Know(id ecs.NetID, k lagcomp.Knowledge) {
	if at := m.know.Get(id); at != nil {
		k.Last = at.Last
		at.Knowledge = k
	}
}

// Witness sets what tells whether the shooter of a shot had the player called id in its view: one that it had not cannot be
// hit. nil, as at first: everybody sees everybody. Match calls it in the combat system, and it must not change the match.
func (m *Match) Witness(seen func(s *lagcomp.Shot, id uint32) bool) { m.seen = seen }

// Join brings a player in, on the smaller team, alive from the end of the coming tick. It returns 0 if the match is
// full.
func (m *Match) Join() ecs.NetID {
	id := m.World.Spawn(m.player)
	if id != 0 {
		ecs.Resource[inboxes](m.World).of[id.Index()].reset(m.Tick() + 1)
	}
	return id
}

// Leave takes a player out at the end of the coming tick; a stale id is ignored.
func (m *Match) Leave(id ecs.NetID) {
	if v := m.vital.Get(id); m.World.Despawn(id) && v != nil {
		m.Score().Members[v.Team]--
	}
}
