package server

import (
	"math"
	"math/bits"

	"github.com/viterin/vek/vek32"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/pvs"
)

// interestSet has the interest data of one tick for one replicatedRows: where each row is and
// from which cells it can be seen. The first client of a tick that asks fills it; where all clients
// are sent all rows, none asks. Under RelevanceOff it is empty and has no grid.
type interestSet struct {
	grid    *interest.Grid
	walls   *pvs.Occupancy // nil: walls hide nothing
	views   viewPool
	filled  tick.Tick // tick that the grid has
	ids     []netid.ID
	x, z    []float32
	team    []uint8
	empty   []uint64 // slots without a row
	scratch []uint64 // result of withEmpty and occupied
	cost    []uint16 // bits of each row for the client at hand
	among   []uint64 // rows that were weighed for the client at hand
	pick    []uint64 // rows chosen for the client at hand
	sent    []uint64 // rows that the packer says it has sent
}

// newInterestSet returns an interest set of slots for the map and the relevance of a
// configuration.
func newInterestSet(c *Config, slots int) interestSet {
	cfg := c.interestConfig()
	cfg.Slots = slots
	var walls *pvs.Occupancy
	if c.PVS != nil && c.Relevance == RelevanceGrid {
		walls = pvs.NewOccupancy(c.PVS)
		cfg.Visible, cfg.VisibleFrom = walls.Visible, walls.Seen
	}
	g := interest.NewGrid(cfg)
	words := g.Words()
	return interestSet{
		grid: g, walls: walls,
		ids: make([]netid.ID, slots), team: make([]uint8, slots),
		x: make([]float32, slots), z: make([]float32, slots),
		empty: make([]uint64, words), scratch: make([]uint64, words),
		cost: make([]uint16, words*64), among: make([]uint64, words), pick: make([]uint64, words),
		sent: make([]uint64, 0, words+1),
	}
}

// clear empties the columns for another tick.
func (s *interestSet) clear() {
	clear(s.ids)
	for i := range s.empty {
		s.empty[i] = ^uint64(0)
	}
}

// put takes in a row.
func (s *interestSet) put(slot int, id netid.ID) {
	s.ids[slot] = id
	s.empty[slot>>6] &^= 1 << (slot & 63)
}

// withEmpty adds the empty slots to a set, so that a group whose rows are all visible can be sent
// as a block. The result is valid until the next call of it or of occupied.
func (s *interestSet) withEmpty(visible []uint64) []uint64 {
	for i, w := range visible {
		s.scratch[i] = w | s.empty[i]
	}
	return s.scratch
}

// occupied is the set of slots with a row. It is valid until the next call of it or of withEmpty.
func (s *interestSet) occupied() []uint64 {
	for i, w := range s.empty {
		s.scratch[i] = ^w
	}
	return s.scratch
}

// cellCentre is the position of row i when rows are spread over the cells.
func (s *interestSet) cellCentre(i int) (x, z float32) {
	cfg := s.grid.Config()
	column, row := i%cfg.Wide, i/cfg.Wide%cfg.Deep
	return cfg.MinX + (float32(column)+0.5)*cfg.Cell, cfg.MinZ + (float32(row)+0.5)*cfg.Cell
}

// viewPool has views that were made beforehand, for clients that get their first snapshot by
// interest.
type viewPool []*interest.Client

// take returns a view from the pool, or a new one.
func (p *viewPool) take(g *interest.Grid) *interest.Client {
	last := len(*p) - 1
	if last < 0 {
		return interest.NewClient(g)
	}
	c := (*p)[last]
	(*p)[last], *p = nil, (*p)[:last]
	return c
}

// reserve fills the pool with n views, if there is a grid.
func (s *interestSet) reserve(n int) {
	if s.grid == nil {
		return
	}
	for range n {
		s.views = append(s.views, interest.NewClient(s.grid))
	}
}

// playerRows are the replicated players: one slot for each slot of the match.
type playerRows struct {
	replicatedRows
	combat      []uint64    // rows in combat
	combatUntil []tick.Tick // by slot
	none        []uint64    // the empty set
	nearest     []uint64    // result of selectNearest
	distance    distances
	overdue     []uint32 // sort keys of findOverdue
	first       []uint64 // the same rows as a set
	due         []uint64 // result of dueRows
	places      places
	teamSlots   [][]uint64 // by team: its slots; nil: teams have none of their own
}

// combatSeconds is how long a player counts as in combat after a hit, on either side of it.
const combatSeconds = 2

// initInterest allocates the interest set of the players and the memory for all clients' views.
func (p *playerRows) initInterest(c *Config) {
	p.interest = newInterestSet(c, c.Players)
	words := p.interest.grid.Words()
	p.combat, p.combatUntil = make([]uint64, words), make([]tick.Tick, c.Players)
	p.none, p.nearest, p.overdue = make([]uint64, words), make([]uint64, words), make([]uint32, 0, c.Players)
	p.first, p.distance, p.places = make([]uint64, words), newDistances(c.Players), newPlaces(c)
	p.due = make([]uint64, words)
	p.initTeamSlots(c, words)
	s := &p.interest
	for slot := range s.ids {
		s.ids[slot], s.team[slot] = netid.Make(slot, 1), uint8(1+slot&1)
		s.x[slot], s.z[slot] = s.cellCentre(slot)
	}
	s.grid.Fill(s.ids, s.x, s.z, s.team, nil)
	view := interest.NewClient(s.grid)
	for slot := range s.ids {
		view.Update(s.grid, interest.Viewer{Slot: slot, X: s.x[slot], Z: s.z[slot], Team: s.team[slot]}, nil)
	}
	clear(s.ids)
	clear(s.team)
}

// initTeamSlots makes the sets of the slots of teams.
func (p *playerRows) initTeamSlots(c *Config, words int) {
	if !c.groupsTeams() {
		return
	}
	p.teamSlots = make([][]uint64, mode.Teams)
	for team := range p.teamSlots {
		p.teamSlots[team] = make([]uint64, words)
		first, end := c.teamGroups(uint8(team))
		for slot := first * snapshot.GroupRows; slot < min(end*snapshot.GroupRows, c.Players); slot++ {
			p.teamSlots[team][slot>>6] |= 1 << (slot & 63)
		}
	}
}

// noteHit puts both sides of a hit in combat.
func (r *replication) noteHit(e *sim.Event, actor, victim *connReplication) {
	p := &r.players
	if p.interest.grid == nil {
		return
	}
	a, v := e.Actor.Index(), e.Victim.Index()
	p.combatUntil[a] = e.Tick + combatSeconds*tick.Tick(r.cfg.Rules.Rate)
	p.combatUntil[v] = p.combatUntil[a]
	actor.view.noteOpponent(v)
	victim.view.noteOpponent(a)
}

// fillPlayers brings the interest set of players to the newest tick.
func (r *replication) fillPlayers() {
	p, s, frame := &r.players, &r.players.interest, r.frame()
	if s.filled == frame.Tick {
		return
	}
	s.filled = frame.Tick
	s.clear()
	clear(p.combat)
	if s.walls != nil {
		s.walls.Reset()
	}
	for slot, pose := range r.match.Poses() {
		id := frame.ID(slot)
		if id == 0 {
			continue
		}
		s.put(slot, id)
		if s.walls != nil {
			s.walls.Raise(pose.Pos.X, pose.Pos.Y, pose.Pos.Z)
		}
		s.x[slot], s.z[slot] = pose.Pos.X, pose.Pos.Z
		if !r.cfg.TeamFog { // else no row has a team that is always visible
			s.team[slot] = 1 + pose.Team()
		}
		if p.combatUntil[slot] > frame.Tick {
			p.combat[slot>>6] |= 1 << (slot & 63)
		}
	}
	s.grid.Fill(s.ids, s.x, s.z, s.team, p.combat)
}

// lookMode says whether a look adds to the priority of rows, which it does where some may have to
// wait.
type lookMode uint8

const (
	lookVisible  lookMode = iota // visibility alone; priorities fall to 0
	lookPriority                 // visibility, and priorities grow
)

// lookAtPlayers returns the players that the client may see. The set belongs to the client's view.
func (r *replication) lookAtPlayers(c *connReplication, mode lookMode) []uint64 {
	v, s := &c.view, &r.players.interest
	r.fillPlayers()
	if v.interest == nil {
		v.interest = s.views.take(s.grid)
	}
	if c.pacing.bucket.Rate() != 0 || c.schedule.sentAt != nil { // it has, or had, a limit
		r.materializeBlocks(c)
	}
	switch slot := int(c.viewer.slot); {
	case slot < 0:
		v.interest.MarkAllSent(r.visibleToFreeCamera(c)) // no row has priority: rows take turns
	case mode == lookPriority:
		v.interest.Update(s.grid, r.eye(slot, lookPriority), v.opponents(r.match.Tick(), r.cfg.Rules.Rate))
	default:
		v.interest.UpdateVisible(s.grid, r.eye(slot, lookVisible))
	}
	return v.interest.Visible()
}

// visibleToFreeCamera is all players where a free camera may see them, else none.
func (r *replication) visibleToFreeCamera(c *connReplication) []uint64 {
	if r.seesAll(c) && !r.lowDetail() {
		return r.players.interest.occupied()
	}
	return r.players.none
}

// addPriority makes up for a look without priorities, for a client whose budget turned out too
// small.
func (r *replication) addPriority(c *connReplication) {
	v, slot := &c.view, int(c.viewer.slot)
	if slot < 0 {
		return
	}
	if r.match.Tick() >= v.combatSwap { // the sets are old: only players still in combat count
		recent := v.combat[len(v.combat)/2:]
		for i := range recent {
			recent[i] &= r.players.combat[i]
		}
	}
	opponents := v.opponents(r.match.Tick(), r.cfg.Rules.Rate)
	v.interest.AddPriority(r.players.interest.grid, r.eye(slot, lookPriority), opponents)
}

// eye is the position of the player in a slot and, for priorities, its direction of view.
func (r *replication) eye(slot int, mode lookMode) interest.Viewer {
	s := &r.players.interest
	v := interest.Viewer{Slot: slot, X: s.x[slot], Z: s.z[slot], Team: s.team[slot]}
	if mode == lookPriority {
		v.DirX, v.DirZ = r.match.Poses()[slot].Yaw.SinCos()
	}
	return v
}

// opponents is the set of players that the client hit, or was hit by, in the last combatSeconds. Of
// two sets one is read and the newer one filled; they swap every combatSeconds.
func (v *connView) opponents(t tick.Tick, rate tick.Rate) []uint64 {
	words := len(v.combat) / 2
	if t >= v.combatSwap {
		v.combatSwap = t + combatSeconds*tick.Tick(rate)
		older, newer := v.combat[:words], v.combat[words:]
		copy(older, newer)
		clear(newer)
	}
	for i, w := range v.combat[words:] {
		v.combat[i] |= w
	}
	return v.combat[:words]
}

// noteOpponent notes a hit between the client's player and the player in a slot.
func (v *connView) noteOpponent(slot int) {
	if v.combat != nil {
		v.combat[len(v.combat)/2+slot>>6] |= 1 << (slot & 63)
	}
}

// selectNearest sets nearest to the count rows of visible nearest to slot own, own first. Rows of
// favoured count as a fifth nearer. Distances fall into classes of 1/32; of the last class the
// lowest slots are taken.
func (p *playerRows) selectNearest(visible, favoured []uint64, own, count int) {
	var rows [512]int32 // of each class
	p.distance.measure(p.interest.x, p.interest.z, own)
	of := p.distance.class
	for i, w := range visible {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			class := distanceClass(p.distance.square[slot], favoured[i]&(w&-w) != 0)
			if slot == own {
				class = 0
			}
			of[slot] = class
			rows[class]++
		}
	}
	last := 0
	for ; last < len(rows)-1 && int(rows[last]) <= count; last++ {
		count -= int(rows[last])
	}
	for i, w := range visible {
		p.nearest[i] = 0
		for ; w != 0; w &= w - 1 {
			class := int(of[i*64+bits.TrailingZeros64(w)])
			if class > last {
				continue
			}
			if class == last {
				if count == 0 {
					continue
				}
				count--
			}
			p.nearest[i] |= w & -w
		}
	}
}

// distances are the distances of all slots from one, as columns.
type distances struct {
	square       []float32 // 1 + the squared distance over the ground
	side, sideSq []float32 // scratch
	class        []uint16  // of visible slots
}

func newDistances(slots int) distances {
	return distances{square: make([]float32, slots), side: make([]float32, slots),
		sideSq: make([]float32, slots), class: make([]uint16, slots)}
}

// measure measures from slot own.
func (d *distances) measure(x, z []float32, own int) {
	vek32.SubNumber_Into(d.side, x, x[own])
	vek32.Mul_Into(d.square, d.side, d.side)
	vek32.AddNumber_Inplace(d.square, 1)
	vek32.SubNumber_Into(d.side, z, z[own])
	vek32.Mul_Into(d.sideSq, d.side, d.side)
	vek32.Add_Inplace(d.square, d.sideSq)
}

// distanceClass is a logarithm of a distance, from 1 to 511.
func distanceClass(square float32, favoured bool) uint16 {
	if favoured {
		square = max(1, square*0.64)
	}
	const one = 127 << 4 // the class of distance 1
	return uint16(min(1+int(math.Float32bits(square)>>19)-one, 511))
}

// popcount is the number of rows in a set.
func popcount(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}
