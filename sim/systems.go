package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/move"
)

// System is one step of a tick: a function over the columns of all players.
type System struct {
	Name string // also its name in profiles and stage tables
	Does string
	run  func(*columns)
}

// Systems lists the systems in the order in which a tick runs them.
func Systems() []System { return systems[:] }

var systems = [...]System{
	{"commands", "takes each player's command for the tick out of its inbox", takeCommands},
	{"respawn", "brings the dead back whose time has come", respawn},
	{"move", "moves everybody by their command", movePlayers},
	{"fire", "runs the rifles; rounds that leave them become queries into the past", fire},
	{"combat", "finds what the rounds hit, in the world as each shooter saw it", combat},
	{"damage", "takes the damage from the hit, credits kills, once", damage},
	{"record", "notes what everybody looks like now, for the shots of later ticks", record},
}

// Step plays one tick.
func (m *Match) Step() {
	m.Begin()
	for i := range systems {
		m.Run(i)
	}
	m.End()
}

// Begin opens the next tick. Begin, Run of every system in order, End: that is Step, for callers who time the systems.
func (m *Match) Begin() {
	c := m.open()
	c.clock.Tick++
	o := c.outcome
	o.Events, o.Shots, o.Hits, o.Clamped = o.Events[:0], o.Shots[:0], o.Hits[:0], 0
}

// Run runs system i of Systems.
func (m *Match) Run(i int) {
	c := &ecs.Resource[scratch](m.World).now
	systems[i].run(c)
}

// End closes the tick and applies the joins and leaves that were asked for.
func (m *Match) End() {
	ecs.Resource[scratch](m.World).now.close()
	m.World.Flush()
	for _, id := range m.World.Spawned() {
		m.enter(id)
	}
}

func takeCommands(c *columns) {
	in := ecs.Resource[inboxes](c.match.World).of
	t := c.clock.Tick
	for i, id := range c.id {
		cmd, _ := in[id.Index()].Take(t)
		c.command[i] = cmd
		c.look[i] = Look{cmd.Yaw, cmd.Pitch}
	}
}

func respawn(c *columns) {
	for i := range c.vital {
		if v := &c.vital[i]; !v.Alive() && c.clock.Tick >= v.Respawn {
			v.Respawn, v.Health = 0, c.rules.Health
			c.weapon[i] = fresh(c.rules)
			c.pos[i], c.vel[i], c.state[i] = move.Split(c.match.place(c.id[i], v.Team))
		}
	}
}

func movePlayers(c *columns) {
	in := c.scratch.input[:len(c.id)]
	for i := range c.command {
		in[i] = c.command[i].Input()
	}
	move.StepColumns(move.Columns{Pos: c.pos, Vel: c.vel, State: c.state}, in, c.arena, uint16(c.rules.Rate))
}

func fire(c *columns) {
	shots := c.outcome.Shots
	for i := range c.weapon {
		v := &c.vital[i]
		if !v.Alive() {
			continue
		}
		cmd := &c.command[i]
		fired, cone := c.weapon[i].Step(c.clock.Tick, cmd.Buttons, c.rules)
		if !fired {
			continue
		}
		v.Shots++
		view, clamped := lagcomp.ClampView(cmd.View, c.clock.Tick, c.know[i].Knowledge)
		if clamped {
			c.outcome.Clamped++
		}
		if view.Valid() {
			c.know[i].Last = lagcomp.Instant(view)
		}
		s := lagcomp.Shot{View: view, Shooter: uint32(c.id[i]), Team: v.Team}
		s.Ray.Origin = Eye(c.pos[i])
		s.Ray.Dir = Aim(c.rules.Seed, s.Shooter, c.clock.Tick, cmd.Yaw, cmd.Pitch, cone)
		s.Ray.Max = c.rules.RangeMetres
		shots = append(shots, s)
	}
	c.outcome.Shots = shots
}

func combat(c *columns) {
	shots := c.outcome.Shots
	for i := range shots {
		if t, ok := c.arena.Raycast(shots[i].Ray); ok {
			shots[i].Ray.Max = t
		}
	}
	c.outcome.Hits = c.outcome.Hits[:len(shots)]
	c.history.CastSeen(shots, c.outcome.Hits, c.match.seen)
}

func damage(c *columns) {
	shots := c.outcome.Shots
	for i, h := range c.outcome.Hits {
		if h.ID == 0 {
			continue
		}
		victim, ok := c.match.World.Row(ecs.NetID(h.ID))
		if !ok || !c.vital[victim].Alive() { // gone or dead since the tick that was looked at
			continue
		}
		points := c.rules.Damage
		if h.Part == lagcomp.Head {
			points *= c.rules.HeadScale
		}
		hurt(c, ecs.NetID(shots[i].Shooter), victim, points, h.Part)
	}
}

// hurt takes points from the player in row victim and tells who must know. A player dies once.
func hurt(c *columns, actor ecs.NetID, victim int, points int16, part lagcomp.Part) {
	v := &c.vital[victim]
	v.Health -= points
	e := Event{Kind: EventHit, Part: part, Tick: c.clock.Tick, Actor: actor, Victim: c.id[victim], Amount: uint16(points)}
	c.outcome.Events = append(c.outcome.Events, e)
	if v.Health > 0 {
		return
	}
	v.Health, v.Respawn = 0, c.clock.Tick+c.rules.ticks(c.rules.RespawnMillis)
	v.Deaths++
	c.vel[victim], c.state[victim] = zero, move.State{Loco: move.Dead}
	if killer, ok := c.match.World.Row(actor); ok {
		k := &c.vital[killer]
		k.Kills++
		c.score.Kills[k.Team]++
		e.Amount = uint16(c.score.Kills[k.Team])
	}
	e.Kind = EventKill
	c.outcome.Events = append(c.outcome.Events, e)
}

func record(c *columns) {
	all := c.match.Poses()
	clear(all)
	for i, id := range c.id {
		all[id.Index()] = Seen(uint32(id), c.pos[i], c.look[i], c.vital[i])
	}
	c.history.Record(c.clock.Tick, all)
}
