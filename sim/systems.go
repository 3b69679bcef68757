package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
)

// Step plays one tick.
func (m *Match) Step() {
	m.Begin()
	for i := range systems {
		m.Run(i)
	}
	m.End()
}

// Begin opens the next tick. Begin, Run of every system in order, End: that is Step, for callers
// that time the systems.
func (m *Match) Begin() {
	if m.inputLog != nil {
		m.inputLog.beginTick()
	}
	c := m.open()
	c.clock.Tick++
	c.scene.Now = c.clock.Tick
	o := c.outcome
	o.Events, o.Announcements, o.Shots, o.Hits, o.Punches, o.Clamped = o.Events[:0], nil, o.Shots[:0],
		o.Hits[:0], o.Punches[:0], 0
	o.ViewsExpired, o.NotShown, o.Refused, o.Damage = 0, 0, 0, nil
	s := c.scratch
	s.actions, s.killDetails, s.kills, s.damage = s.actions[:0], s.killDetails[:0], s.kills[:0], s.damage[:0]
}

// Run runs system i of Systems.
func (m *Match) Run(i int) {
	c := &m.scratch.now
	systems[i].run(c)
}

// End closes the tick and applies requested joins and leaves.
func (m *Match) End() {
	c := &m.scratch.now
	if m.inputLog != nil {
		m.inputLog.endTick(c)
	}
	c.close()
	if m.World.Pending() == 0 {
		m.World.Flush() // lists nobody as spawned or despawned
		return
	}
	m.World.Flush()
	m.bindMoved()
	for _, id := range m.World.Spawned() {
		if id.Index() < ecs.PageSlots {
			m.initPlayer(id)
		}
	}
}

// takeCommands fetches each player's command of the tick from its buffer.
func takeCommands(c *columns) { c.parallelRows(len(c.id), takeCommandsOf) }

// takeCommandsOf is takeCommands for a range of rows.
func takeCommandsOf(c *columns, p parallel.Part) {
	in := c.commandBuffers.of
	t := c.clock.Tick
	for i := p.From; i < p.To; i++ {
		cmd := &c.command[i]
		in[c.id[i].Index()].take(t, cmd)
		c.look[i] = Look{cmd.Yaw, cmd.Pitch}
	}
}

// changeHeroes grants the requests of dead players and of players where the mode allows it.
func changeHeroes(c *columns) {
	for i := range c.vital {
		v := &c.vital[i]
		if v.RequestedHero == 0 || c.spectates(i) {
			continue
		}
		if !v.Alive() || c.kit.Mode.MayChangeHero(c.mode, v.Team, c.location(i)) {
			c.changeHero(i, v.RequestedHero-1)
		}
	}
}

// changeHero makes a player another hero where it stands; dead players take effect at the respawn.
func (c *columns) changeHero(i int, hero uint8) {
	v := &c.vital[i]
	if v.RequestedHero = 0; hero == v.Hero {
		return
	}
	v.Hero = hero
	h := c.kit.Heroes[hero]
	c.ability[i] = h.NewState()
	c.anim[i].Hero = c.kit.Figures[hero]
	if v.Alive() {
		v.Health = h.Health()
		v.place()
	}
}

// location is where a player stands with regard to bases.
func (c *columns) location(i int) (at mode.Location) {
	o := c.objects
	for h := range o.Homes {
		if home := &o.Homes[h]; home.Team == c.vital[i].Team &&
			c.pos[i].Max(home.Box.Min).Min(home.Box.Max) == c.pos[i] {
			at.Home = true
		}
	}
	for z := range o.Zones {
		if o.Zones[z].Holds(c.pos[i]) {
			at.Points |= 1 << z
		}
	}
	return at
}

// respawn brings dead players back that the mode lets return in this tick.
func respawn(c *columns) {
	for i := range c.vital {
		v := &c.vital[i]
		if v.Alive() || !c.kit.Mode.MayRespawn(c.mode, v.Died, c.clock.Tick) || c.spectates(i) {
			continue
		}
		h := c.kit.Heroes[v.Hero]
		v.Respawn, v.Died, v.Health = 0, 0, h.Health()
		v.place()
		c.ability[i] = h.NewState()
		c.setMotion(i, c.match.spawnMotion(v.Team))
		c.resetAnim(i)
		c.objects.areaHits.Forget(c.id[i].Index())
	}
}

// teleport moves the players that stepped into a teleporter in the last tick.
func teleport(c *columns) {
	ids, due := c.match.teleporting.Rows()
	for k, id := range ids {
		if i, ok := c.row(id); ok && c.vital[i].Alive() {
			c.setMotion(i, move.Teleport(c.motion(i), due[k].Pos, due[k].Yaw))
			c.vital[i].place()
		}
		c.match.teleporting.Remove(id)
	}
}

// runAbilities steps all abilities and collects their actions in the order of rows.
func runAbilities(c *columns) {
	s := c.scratch
	parts := c.parallelRows(len(c.id), runAbilitiesOf)
	for i := range parts { // in the order of rows
		s.actions = append(s.actions, s.actionParts[i]...)
		s.actionParts[i] = s.actionParts[i][:0]
	}
}

// runAbilitiesOf is runAbilities for a range of rows. Launches apply at once, other actions are
// collected by part.
func runAbilitiesOf(c *columns, p parallel.Part) {
	s := c.scratch
	deeds := s.actionParts[p.Index]
	var out ability.Actions
	for i := p.From; i < p.To; i++ {
		v, cmd := &c.vital[i], &c.command[i]
		s.bodyTeams[i] = move.BodyTeam{Body: v.Hero, Team: v.Team}
		keys := abilityInput(cmd, c.state[i].Loco)
		keys.Alive = v.Alive()
		s.input[i] = stepAbilities(&c.ability[i], keys, cmd, c.kit.Heroes[v.Hero], &out)
		for _, a := range out.All() {
			if a.Kind == ability.ActionLaunch {
				c.setMotion(i, move.Launch(c.motion(i), cmd.Yaw))
			} else if a.Kind != ability.ActionEmote {
				deeds = append(deeds, playerAction{int32(i), a})
			}
		}
	}
	s.actionParts[p.Index] = deeds
}

// movePlayers moves all bodies by a tick.
func movePlayers(c *columns) { c.parallelRows(len(c.id), movePlayersOf) }

// movePlayersOf is movePlayers for a range of rows.
func movePlayersOf(c *columns, p parallel.Part) {
	from, to := p.From, p.To
	rows := move.Rows{
		Columns: move.Columns{Pos: c.pos[from:to], Vel: c.vel[from:to], State: c.state[from:to]},
		In:      c.scratch.input[from:to], Who: c.scratch.bodyTeams[from:to],
	}
	c.scratch.moveBatches[p.Index].StepBodies(rows, c.kit.Bodies, c.arena, c.moment())
}

// record adds the poses of the tick to the history. Empty slots and spectators have none.
func record(c *columns) {
	clear(c.poses.of)
	c.parallelRows(len(c.id), recordOf)
	c.history.Record(c.clock.Tick, c.poses.of)
}

// recordOf is record for a range of rows.
func recordOf(c *columns, part parallel.Part) {
	p, s := c.poses, c.scratch
	for i := part.From; i < part.To; i++ {
		id, v := c.id[i], &c.vital[i]
		s.team[i], s.alive[i] = v.Team, v.Alive()
		if !v.Alive() && c.spectates(i) {
			continue
		}
		slot := id.Index()
		v.PublicPose(&p.of[slot], uint32(id), &c.pos[i], c.look[i], &c.anim[i])
		c.kit.Heroes[v.Hero].WritePublic(&c.ability[i], &p.acts[slot])
	}
}
