package main

import (
	"math"
	"math/rand/v2"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	body "github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/pvs"
)

// solo is the match of a scenario by itself: its generated players act on the match, and there are neither server nor clients nor links between them.
// What those do to play is put in its place: commands are made some ticks ahead, by what was seen some ticks ago, and shots are judged by that.
type solo struct {
	m       *sim.Match
	players int // seats of those who play; others look on
	every   tick.Tick
	lag     lag
	seats   []seat
	brain   func(n int) swarm.Brain
	past    []instant // by snapshot, as many as are looked back at
	dead    [][]bool  // by tick, by slot, as many ticks
	shows   [soloShows]vista
	sight   swarm.Sight
	skill   ability.State // nobody goes by it
	leave   float64       // chance of each player in each tick
	dice    *rand.Rand
	grid    *interest.Grid // nil: everybody sees everybody
	walls   *pvs.Lazy      // nil: none hide anybody
	ids     []netid.ID
	x, z    []float32
	team    []uint8
	looks   []looker
	open    []uint64 // memory for glances
	flown   *flown   // nil: everybody is told of all that flies
	unhid   bool     // a town where nobody is hidden: they see all
	told    match
}

// looker is a player who is asked whom it sees. The first player is, as all go by what that one sees; whom it sees is not counted, as those who came first are not like the rest.
type looker struct {
	seat  int
	eyes  *interest.Client
	was   []uint64 // whom it saw in the snapshot before
	skies []sky    // what it sees fly, by page
}

// counted are those whose sights are.
func (p *solo) counted() []looker { return p.looks[min(1, len(p.looks)):] }

// soloPast is how many snapshots and ticks are remembered at most, soloShows how many pictures, and soloEyes how many players are asked whom they see beside the first; where houses
// hide soloTown, as what they see takes longer than the match.
const (
	soloPast  = 256
	soloShows = 4
	soloEyes  = 8
	soloTown  = 2
)

// seat is a player's.
type seat struct {
	id    netid.ID
	brain swarm.Brain // nil of who looks on
	phase float64     // of a tick, at which its machine acts
	joins tick.Tick   // in which it comes in, if there is no id
	quits tick.Tick   // in which it goes, if not 0
	entry
}

// vista is what everybody goes by whose command is made in a tick.
type vista struct {
	made tick.Tick
	eyes []swarm.Enemy
}

// instant is what a snapshot told of.
type instant struct {
	poses []body.Pose
	shown []uint64 // to the first player, if not everybody
}

// newSolo sets one up: the dice are the scenario's seed, and the map is the place's.
func newSolo(s scenario.Scenario, at place) (*solo, error) {
	a := at.arena
	n := s.Lobby.Players + s.Lobby.Spectators
	p := &solo{players: s.Lobby.Players, every: tick.Tick(s.Every()), lag: lagOf(s), seats: make([]seat, n), brain: brainOf(s, movement{})}
	p.m = sim.New(n, sim.Rules{Rate: tick.Rate(s.Rates.TickHz), Seed: s.Play.Seed, Mix: true, Game: at.game}, a)
	p.leave = s.Play.LeavesPerMinute / 60 / float64(s.Rates.TickHz)
	p.dice = rand.New(rand.NewPCG(s.Play.Seed, 7))
	for i := range p.seats {
		p.seats[i] = seat{phase: phase(i), joins: p.lag.knock(0, phase(i))}
	}
	for i := range p.shows {
		p.shows[i].eyes = make([]swarm.Enemy, n)
	}
	p.past, p.dead = make([]instant, p.lag.back()), make([][]bool, p.lag.back())
	poses, dead := make([]body.Pose, n*len(p.past)), make([]bool, n*len(p.past))
	for i := range p.past {
		p.past[i].poses, poses = poses[:n:n], poses[n:]
		p.dead[i], dead = dead[:n:n], dead[n:]
	}
	p.sight = swarm.Sight{Rate: tick.Rate(s.Rates.TickHz), Arena: a}
	if s.Lobby.FarMetres > 0 || at.walls {
		return p, p.hide(s, at)
	}
	return p, nil
}

// hide lets nobody see who is out of reach or behind houses, as a lobby does.
func (p *solo) hide(s scenario.Scenario, at place) (err error) {
	cell := float32(0)
	if at.walls {
		cell = pvs.CellFor(at.arena)
		if p.walls, err = pvs.NewLazy(at.arena, pvs.Fit(at.arena, cell)); err != nil {
			return err
		}
		least := server.LeastWalls
		if s.Lobby.Relevance == "grid" {
			least = math.SmallestNonzeroFloat64
		}
		if !p.walls.Hides(server.WallSample, least) { // too little for a lobby's table
			if p.walls, cell = nil, 0; s.Lobby.FarMetres == 0 {
				p.unhid = true
				return nil
			}
		}
	}
	g, n := server.GridConfig(at.arena, cell), len(p.seats)
	g.Slots, g.Hysteresis = n, server.DefaultHysteresis
	if s.Lobby.FarMetres > 0 {
		g.ViewDistance = server.CellRadius(float32(s.Lobby.FarMetres), g.Cell)
	}
	if p.walls != nil {
		g.VisibleFrom = p.walls.Seen
	}
	p.grid = interest.NewGrid(g)
	p.ids, p.x, p.z, p.team = make([]netid.ID, n), make([]float32, n), make([]float32, n), make([]uint8, n)
	eyes := soloEyes
	if p.walls != nil {
		eyes = soloTown
	}
	p.open, p.flown = make([]uint64, p.grid.Words()), newFlown(g)
	p.looks = append(p.looks, looker{eyes: interest.NewClient(p.grid)})
	for k := range min(p.players, eyes) { // others in each match
		seat := (int(s.Play.Seed%uint64(p.players)) + k*p.players/eyes) % p.players
		p.looks = append(p.looks, looker{seat: seat, eyes: interest.NewClient(p.grid), was: make([]uint64, p.grid.Words())})
	}
	for i := range p.past {
		p.past[i].shown = make([]uint64, p.grid.Words())
	}
	return nil
}

// step plays a tick: everybody who is in gives the command that was made for it.
func (p *solo) step() {
	t := p.m.Tick() + 1
	p.come(t)
	known := p.known(t)
	for i := range p.seats {
		s := &p.seats[i]
		if s.brain == nil || s.id == 0 || t < s.first {
			continue
		}
		made := t - p.lag.up(s.phase) - lagAhead
		show := &p.shows[made%soloShows] // machines act at several parts of a tick: their commands for one are made in two, turn by turn
		if show.made != made {
			show.made = made
			p.look(made, show.eyes)
		}
		p.m.Know(s.id, known)
		in := s.brain.Wish(p.see(s, t, show))
		p.m.Inbox(s.id).Offer(p.command(s, in, t))
	}
	p.m.Step()
	p.note()
}

// known is what a server has measured of everybody's connection: all views are believed that the rules allow.
func (p *solo) known(t tick.Tick) lagcomp.Knowledge {
	return lagcomp.Knowledge{Rate: p.sight.Rate, RTTTicks: float32(2 * p.lag.way), InterpTicks: float32(2 * p.every), SlackTicks: 16, CapTicks: 1 << 16,
		Newest: t - 1, Oldest: p.m.History().Oldest()}
}

// see is what a player goes by who makes the command for a tick: where it is itself it predicts, and whether it is dead it has heard.
func (p *solo) see(s *seat, t tick.Tick, show *vista) *swarm.Sight {
	slot, w := s.id.Index(), &p.sight
	w.Tick, w.ID, w.Eyes, w.Team = t, uint32(s.id), show.eyes, show.eyes[slot].Team
	p.m.SelfInto(s.id, &w.Self.Motion, &p.skill)
	w.Self.RespawnTicks = 0
	heard := tick.Tick(max(0, float64(show.made)+s.phase-p.lag.client(0, s.phase)))
	if heard < s.told {
		return w
	}
	if heard -= (heard - s.told) % p.every; p.dead[heard%tick.Tick(len(p.dead))][slot] {
		w.Self.RespawnTicks = 1
	}
	return w
}

// command is a player's wish as a command, with a view if it may let something go.
func (p *solo) command(s *seat, in client.Intent, t tick.Tick) sim.Command {
	c := sim.Command{Tick: t, Yaw: in.Yaw, Pitch: in.Pitch, MoveYaw: in.MoveYaw, MoveMag: in.MoveMag, Buttons: in.Buttons}
	if in.Buttons&(sim.Fire|sim.Throw|sim.Melee) != 0 {
		c.View = p.view(int64(t)<<8 - s.view)
	}
	return c
}

// come lets players come and go.
func (p *solo) come(t tick.Tick) {
	for i := range p.seats {
		s := &p.seats[i]
		if p.leave > 0 && i > 0 && i < p.players && s.quits == 0 && p.dice.Float64() < p.leave {
			s.joins, s.quits = p.lag.knock(t-1, s.phase), t+tick.Tick(math.Ceil(p.lag.way))
		}
		switch {
		case s.id != 0 && s.quits != 0 && t >= s.quits:
			p.m.Leave(s.id)
			s.id, s.quits = 0, 0
		case s.id == 0 && t >= s.joins:
			if s.quits = 0; i < p.players {
				s.id, s.brain = p.m.Join(), p.brain(i)
			} else {
				s.id = p.m.Watch()
			}
			s.entry = p.lag.enter(t, s.phase, s.id.Index())
		}
	}
}

// view is what is looked at at an instant, in 1/256 tick: two of the first player's snapshots.
func (p *solo) view(at int64) tick.View {
	first := p.seats[0].told
	if at <= int64(first)<<8 {
		return tick.View{From: first, To: first}
	}
	from := first + (tick.Tick(at>>8)-first)/p.every*p.every
	return lagcomp.Between(from, from+p.every, at)
}

func (p *solo) at(t tick.Tick) *instant { return &p.past[t/p.every%tick.Tick(len(p.past))] }

// look is what the first of them saw in a tick, which is shown to everybody.
func (p *solo) look(t tick.Tick, eyes []swarm.Enemy) {
	first := &p.seats[0]
	if clear(eyes); first.id == 0 || first.told == 0 || float64(t) < first.knows+1 {
		return
	}
	v := p.view(int64(256 * (float64(t) - p.lag.client(0, 0) - 2*float64(p.every) - 1 - lagSlack)))
	a, b := p.at(v.From), p.at(v.To)
	for slot := range eyes {
		from, to := &a.poses[slot], &b.poses[slot]
		if from.ID == 0 || a.shown != nil && a.shown[slot>>6]>>(slot&63)&1 == 0 {
			continue
		}
		at := from.Pos
		if v.Frac != 0 && !body.Broken(from, to) {
			at = at.Lerp(to.Pos, float32(v.Frac)/256) // as body.Lerp does
		}
		eyes[slot] = swarm.Enemy{ID: from.ID, Team: from.Team(), Alive: from.Alive(), Pos: at}
	}
}

// note takes down what a snapshot tells of.
func (p *solo) note() {
	t := p.m.Tick()
	dead := p.dead[t%tick.Tick(len(p.dead))]
	for i := range p.seats {
		if id := p.seats[i].id; id != 0 {
			v := p.m.Vital(id)
			dead[id.Index()] = v != nil && !v.Alive()
		}
	}
	if t%p.every != p.seats[0].told%p.every {
		return
	}
	at := p.at(t)
	copy(at.poses, p.m.Poses())
	if p.grid == nil {
		return
	}
	if p.walls != nil {
		p.walls.Reset()
	}
	for slot := range at.poses {
		pose := &at.poses[slot]
		if p.ids[slot] = netid.ID(pose.ID); pose.ID == 0 {
			continue
		}
		if p.walls != nil {
			p.walls.Raise(pose.Pos.X, pose.Pos.Y, pose.Pos.Z)
		}
		p.x[slot], p.z[slot], p.team[slot] = pose.Pos.X, pose.Pos.Z, 1+pose.Team()
	}
	p.grid.Fill(p.ids, p.x, p.z, p.team, nil)
	for i := range p.looks {
		if id := p.seats[p.looks[i].seat].id; id != 0 {
			slot := id.Index()
			p.looks[i].eyes.UpdateVisible(p.grid, interest.Viewer{Slot: slot, X: p.x[slot], Z: p.z[slot], Team: p.team[slot]})
		}
	}
	copy(at.shown, p.looks[0].eyes.Visible())
	p.flown.fill(p.m, p.walls) // behind those, as houses are asked for the height of what flies, too
	for i := range p.counted() {
		look := &p.counted()[i]
		id := p.seats[look.seat].id
		if id == 0 {
			continue
		}
		flights := p.flown.look(look, id, p.x[id.Index()], p.z[id.Index()], t-p.every)
		if p.told.ticks > 0 {
			p.told.glances.note(p.ids, look.was, look.eyes.Visible(), p.open)
			p.told.glances.flights.add(flights)
		}
		copy(look.was, look.eyes.Visible())
	}
}

// count takes note of what the i-th measured tick left.
func (p *solo) count(i int) {
	o := p.m.Outcome()
	p.told.counts[metrics.Shots] += uint64(len(o.Shots))
	for _, e := range o.Events {
		if e.Kind != sim.EventHit {
			p.told.counts[metrics.Kills]++
		}
	}
	p.told.note(p.m)
	if i%lookEvery != 0 {
		return
	}
	p.told.lookAt(p.m)
	if id := p.seats[0].id; p.unhid && id != 0 {
		p.told.eyes++
		for slot, pose := range p.m.Poses() {
			if pose.ID != 0 && slot != id.Index() {
				p.told.seen++
			}
		}
	}
	for _, look := range p.counted() {
		id := p.seats[look.seat].id
		if id == 0 {
			continue
		}
		p.told.eyes++
		for slot, pose := range p.m.Poses() {
			if pose.ID != 0 && slot != id.Index() && look.eyes.Visible()[slot>>6]>>(slot&63)&1 != 0 {
				p.told.seen++
			}
		}
	}
}
