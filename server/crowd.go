package server

import (
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/pvs"
)

// crowd is where everybody is in the frame at hand, for all who look. It is filled when the first one does: where all is
// sent to all, nobody ever looks.
type crowd struct {
	grid        *interest.Grid
	walls       *pvs.Crowd // nil where none hide anybody
	spare       spare      // for those who have not looked yet
	at          tick.Tick  // the grid's
	ids         []netid.ID
	x, z        []float32
	team        []uint8
	combat      []uint64    // who fights
	combatUntil []tick.Tick // by slot: until when it does
	none        []uint64    // slots in which nobody is
	blank       []uint64    // none at all

	cost    []uint16 // of the connection at hand, by slot
	pick    []uint64
	said    []uint64
	near    []uint64 // what of it the line carries
	open    []uint64 // and slots in which nobody is
	overdue []uint32
}

// combatSeconds is how long somebody counts as fighting after it hit or was hit.
const combatSeconds = 2

func newCrowd(c *Config) crowd {
	cfg := c.grid()
	var walls *pvs.Crowd
	if c.PVS != nil && c.Relevance == RelevanceGrid {
		walls = pvs.NewCrowd(c.PVS)
		cfg.VisibleFrom = walls.Seen
	}
	g := interest.NewGrid(cfg)
	n, words := c.Players, g.Words()
	s := crowd{grid: g, walls: walls, ids: make([]netid.ID, n), x: make([]float32, n), z: make([]float32, n), team: make([]uint8, n),
		combat: make([]uint64, words), combatUntil: make([]tick.Tick, n), none: make([]uint64, words), blank: make([]uint64, words), cost: make([]uint16, words*64),
		pick: make([]uint64, words), said: make([]uint64, 0, words+1), near: make([]uint64, words), open: make([]uint64, words), overdue: make([]uint32, 0, n)}
	s.warm()
	return s
}

// warm makes the grid take its memory: for views from as many cells as players can stand in at a time.
func (s *crowd) warm() {
	cfg := s.grid.Config()
	for slot := range s.ids {
		s.ids[slot] = netid.Make(slot, 1)
		s.x[slot], s.z[slot] = cfg.MinX+(float32(slot%cfg.Wide)+0.5)*cfg.Cell, cfg.MinZ+(float32(slot/cfg.Wide%cfg.Deep)+0.5)*cfg.Cell
		s.team[slot] = uint8(1 + slot&1)
	}
	s.grid.Fill(s.ids, s.x, s.z, s.team, nil)
	anybody := interest.NewClient(s.grid)
	for slot := range s.ids {
		anybody.Update(s.grid, interest.Viewer{Slot: slot, X: s.x[slot], Z: s.z[slot], Team: s.team[slot]}, nil)
	}
	clear(s.ids)
	clear(s.team)
}

// fought notes who hit whom in a tick.
func (l *Lobby) fought(e sim.Event) {
	s := &l.replication.players
	if s.grid == nil {
		return
	}
	a, v := e.Actor.Index(), e.Victim.Index()
	s.combatUntil[a] = e.Tick + combatSeconds*tick.Tick(l.cfg.Rules.Rate)
	s.combatUntil[v] = s.combatUntil[a]
	l.conns[a].hits(v)
	l.conns[v].hits(a)
}

// fill takes the frame's rows, once a tick.
func (s *crowd) fill(l *Lobby, frame *snapshot.Frame) {
	if s.at == frame.Tick {
		return
	}
	s.at = frame.Tick
	clear(s.combat)
	if s.walls != nil {
		s.walls.Reset()
	}
	for i := range s.none {
		s.none[i] = ^uint64(0)
	}
	for slot, pose := range l.match.Poses() {
		id := frame.ID(slot)
		s.ids[slot] = id
		if id == 0 {
			continue
		}
		s.none[slot>>6] &^= 1 << (slot & 63)
		if s.walls != nil {
			s.walls.Raise(pose.Pos.X, pose.Pos.Y, pose.Pos.Z)
		}
		s.x[slot], s.z[slot] = pose.Pos.X, pose.Pos.Z
		if !l.cfg.TeamFog { // else nobody is of a team that is always seen
			s.team[slot] = 1 + pose.Team()
		}
		if s.combatUntil[slot] > frame.Tick {
			s.combat[slot>>6] |= 1 << (slot & 63)
		}
	}
	s.grid.Fill(s.ids, s.x, s.z, s.team, s.combat)
}

// look finds what a connection may see, and adds to the weights of those rows if some may have to wait. The set belongs to the connection.
func (l *Lobby) look(c *conn, weigh bool) (see []uint64) {
	s := &l.replication.players
	s.fill(l, l.replication.players.frames.At(l.match.Tick()))
	if c.repl.view.interest == nil {
		c.repl.view.interest = s.spare.take(s.grid)
	}
	if c.repl.view.combat == nil {
		c.repl.view.combat = make([]uint64, 2*s.grid.Words())
	}
	if c.repl.pacing.bucket.Rate() != 0 || c.repl.schedule.sentAt != nil { // who had a limit may get one again
		c.wake(l)
	}
	slot := c.viewpoint()
	if slot < 0 {
		c.repl.view.interest.MarkAllSent(l.anywhere(c)) // nobody weighs more than others: they take turns
		return c.repl.view.interest.Visible()
	}
	if weigh {
		c.repl.view.interest.Update(s.grid, l.viewer(slot, true), c.foes(l.match.Tick(), l.cfg.Rules.Rate))
	} else {
		c.repl.view.interest.UpdateVisible(s.grid, l.viewer(slot, false))
	}
	return c.repl.view.interest.Visible()
}

// anywhere is whom a connection sees who looks through nobody's eyes: everybody, where one without a limit is told of everybody in blocks; else nobody.
func (l *Lobby) anywhere(c *conn) []uint64 {
	if l.seesAll(c) && l.replication.level < overload.LowDetail {
		return l.replication.players.here()
	}
	return l.replication.players.blank
}

// gain adds to the weights of the rows of a look that did not, for a connection with a limit that was told all that it saw before.
func (l *Lobby) gain(c *conn) {
	slot := c.viewpoint()
	if slot < 0 {
		return
	}
	if l.match.Tick() >= c.repl.view.combatSwap { // for as long nobody turned the sets of its fights: what they have of late is still hot
		now := c.repl.view.combat[len(c.repl.view.combat)/2:]
		for i := range now {
			now[i] &= l.replication.players.combat[i]
		}
	}
	c.repl.view.interest.AddPriority(l.replication.players.grid, l.viewer(slot, true), c.foes(l.match.Tick(), l.cfg.Rules.Rate))
}

// viewer is somebody who looks from where the player in a slot stands, and ahead if that weighs.
func (l *Lobby) viewer(slot int, ahead bool) interest.Viewer {
	s := &l.replication.players
	v := interest.Viewer{Slot: slot, X: s.x[slot], Z: s.z[slot], Team: s.team[slot]}
	if ahead {
		v.DirX, v.DirZ = l.match.Poses()[slot].Yaw.SinCos()
	}
	return v
}

// with adds to a set the slots in which nobody is, who may be seen by all: so that groups of which all who are there are seen can go
// as blocks. It is valid until the next call.
func (s *crowd) with(see []uint64) []uint64 {
	for i, w := range see {
		s.open[i] = w | s.none[i]
	}
	return s.open
}

// here is the set of slots in which somebody is. It is valid until the next call of it, or of with.
func (s *crowd) here() []uint64 {
	for i, w := range s.none {
		s.open[i] = ^w
	}
	return s.open
}

// foes is the set of those who hit the connection, or were hit by it, a moment ago: two sets take turns, one fills while the other
// is still looked at.
func (c *conn) foes(t tick.Tick, rate tick.Rate) []uint64 {
	words := len(c.repl.view.combat) / 2
	if t >= c.repl.view.combatSwap {
		c.repl.view.combatSwap = t + combatSeconds*tick.Tick(rate)
		old, now := c.repl.view.combat[:words], c.repl.view.combat[words:]
		copy(old, now)
		clear(now)
	}
	for i, w := range c.repl.view.combat[words:] {
		c.repl.view.combat[i] |= w
	}
	return c.repl.view.combat[:words]
}

// hits notes a fight of the connection with whoever is in a slot.
func (c *conn) hits(slot int) {
	if c.repl.view.interest != nil {
		c.repl.view.combat[len(c.repl.view.combat)/2+slot>>6] |= 1 << (slot & 63)
	}
}

// sees is what the match asks before a shot hits somebody: whether the shooter's client, as far as its acks tell, had the other
// before it in the view that the shot is judged by.
func (l *Lobby) sees(shooter, other netid.ID, v tick.View) bool {
	c := &l.conns[shooter.Index()]
	if c.id != shooter || c.repl.acks.tracker.Saw(l.replication.players.frames, other, v) || planted.On(planted.UnseenHit) {
		return true // somebody whom no client moves sees everybody
	}
	l.Stats.Count[metrics.HitsFiltered].Inc()
	return false
}

// Shown is the tick of the newest snapshot that showed a player to another's client and that is known to have arrived there, of
// the last snapshot.Window: 0 for none, also when the viewer has no client.
func (l *Lobby) Shown(viewer, player netid.ID) tick.Tick {
	if c := &l.conns[viewer.Index()]; c.id == viewer && c.repl.acks.tracker != nil {
		return c.repl.acks.tracker.Shown(l.replication.players.frames, player)
	}
	return 0
}

// Sent is the tick of the newest snapshot that was sent to a player's client, 0 before the first or without a client.
func (l *Lobby) Sent(id netid.ID) tick.Tick {
	if c := &l.conns[id.Index()]; c.id == id {
		return c.repl.pacing.sent
	}
	return 0
}
