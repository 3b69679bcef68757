package server

import (
	"math"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
)

// rowTurns says which visible rows a snapshot sends: about the nearest ones, and one of several
// equal ranges of groups, its parts. The part follows from the number of the send interval, so
// clients that are sent snapshots of one interval share its blocks. The first snapshot after missed
// ones also has the parts between the last one sent and its own, so each row is sent at least once in
// as many snapshots as there are parts.
type rowTurns struct{ nearest, turns int }

// Rows of a client that is sent all players take turns in a lobby of more than turnsFrom times
// Config.NearestPlayers. Two turns are what a client interpolates across without a pause: it shows
// players two send intervals late.
const (
	turnsFrom             = 10
	teamTurnsFrom         = 2 // likewise of a team of a grid, see selectTeamTurns
	farTurns              = 2
	defaultNearestPlayers = 64
)

// lowDetailTurns are the turns under overload.LowDetail, without the client's opponents. More parts
// would save no bytes: a row that waits longer has a larger change to code.
var lowDetailTurns = rowTurns{nearest: 16, turns: 4}

// rowTurn is a client's place in the turns.
type rowTurn struct {
	of     rowSelection // the selection whose turns these are
	team   uint8        // of rowsTeamTurns: the team whose groups take turns
	part   uint8        // of the newest snapshot with turns
	groups uint16       // number of groups when part 0 was sent
}

// due begins the turns of a selection and a team, unless the client is in them: no part is due yet
// but the next one.
func (t *rowTurn) due(of rowSelection, team uint8, part, turns int) {
	if t.of != of || t.team != team {
		*t = rowTurn{of: of, team: team, part: uint8((part + turns - 1) % turns)}
	}
}

// next moves on to a part and returns the groups of the next snapshot: those of the parts from the
// one after the newest snapshot's to this one; all groups if these parts do not lie together. The
// number of groups in use only grows. Groups added since part 0 go with the last part, so no group
// waits for more snapshots than there are parts.
func (t *rowTurn) next(part, turns, groups int) (first, end int) {
	from := (int(t.part) + 1) % turns
	if t.part = uint8(part); from > part {
		t.groups = uint16(groups)
		return 0, groups
	}
	if from == 0 || t.groups == 0 {
		t.groups = uint16(groups)
	}
	first, end = from*int(t.groups)/turns, (part+1)*int(t.groups)/turns
	if part == turns-1 {
		end = groups
	}
	return first, end
}

// takesTurns reports whether the lobby has so many players that far ones take turns.
func (r *replication) takesTurns() bool {
	if r.cfg.NearestPlayers < 0 {
		return false
	}
	members := r.match.Score().Members
	return int(members[0])+int(members[1]) > turnsFrom*r.cfg.NearestPlayers
}

// selectTurns begins a snapshot of the nearest rows and of the part whose turn it is. visible is nil
// for rowsTurns and rowsJoinTurns, where all rows are visible. The client's opponents are added for
// those only.
func (r *replication) selectTurns(c *connReplication, selection rowSelection, visible []uint64) {
	p, s, v := &r.players, &r.players.interest, &c.view
	n := rowTurns{nearest: max(0, r.cfg.NearestPlayers), turns: int(c.join.turns)}
	reversed := n.turns > farTurns
	switch selection {
	case rowsLowDetail:
		n, reversed = lowDetailTurns, false
		r.stats.Count[metrics.SnapshotsOverBudget].Inc()
	case rowsJoinTurns:
		n.nearest, reversed = r.joinTurns().nearest, true
	}
	turn := r.partDue(c, n.turns)
	v.turn.due(selection, 0, turn, n.turns)
	v.selection = selection
	clear(s.pick)
	if visible == nil {
		r.pickNear(c, n.nearest)
	} else {
		p.selectNearest(visible, p.none, max(0, int(c.viewer.slot)), n.nearest)
		copy(s.pick, p.nearest)
		visible = s.withEmpty(visible)
	}
	part := snapshot.Part{Visible: visible, Picked: s.pick, Spacing: n.turns}
	if part.First, part.End = v.turn.next(turn, n.turns, p.frames.Groups()); reversed {
		part.First, part.End = joinPart(turn, n.turns, p.frames.Groups())
	}
	p.packer.BeginPart(p.encoder, c.acks.tracker, &part)
}

// partDue is the part whose turn it is for a client.
func (r *replication) partDue(c *connReplication, turns int) int {
	return int(r.intervalOf(r.match.Tick())) / int(r.every(c)) % turns
}

// takesTeamTurns reports whether the team of the client's viewpoint is so large that its players out
// of sight take turns.
func (r *replication) takesTeamTurns(c *connReplication) bool {
	p, slot, nearest := &r.players, int(c.viewer.slot), r.cfg.NearestPlayers
	return p.teamSlots != nil && slot >= 0 && nearest > 0 && p.interest.team[slot] != 0 &&
		int(r.match.Score().Members[p.interest.team[slot]-1]) > teamTurnsFrom*nearest
}

// selectTeamTurns begins a snapshot of all visible rows but those of team mates out of sight: of
// these it sends one of two equal ranges of the team's groups. Each of them is in as many snapshots
// as those of rowsTurns.
func (r *replication) selectTeamTurns(c *connReplication, visible []uint64) {
	p, s, v := &r.players, &r.players.interest, &c.view
	team := s.team[c.viewer.slot] - 1
	mates, inSight := p.teamSlots[team], v.interest.InSight()
	for i, w := range visible {
		s.pick[i] = w&^mates[i] | inSight[i]
	}
	v.selection = rowsTeamTurns
	part := snapshot.Part{Visible: s.withEmpty(visible), Picked: s.pick, Spacing: farTurns}
	turn := r.partDue(c, farTurns)
	v.turn.due(rowsTeamTurns, team, turn, farTurns)
	from, to := r.cfg.teamGroups(team)
	first, end := v.turn.next(turn, farTurns, max(0, min(to, p.frames.Groups())-from))
	part.First, part.End = from+first, from+end
	p.packer.BeginPart(p.encoder, c.acks.tracker, &part)
}

// pickNear picks the rows that are in each snapshot of a client that may see all: those nearest to
// its viewpoint, and its opponents.
func (r *replication) pickNear(c *connReplication, nearest int) {
	p, slot := &r.players, int(c.viewer.slot)
	if slot < 0 {
		return
	}
	p.places.fill(r)
	p.places.addNear(p.interest.pick, slot, nearest)
	p.interest.pickSelected(c.view.opponents(r.match.Tick(), r.cfg.Rules.Rate))
}

// places sorts the players of one tick by the cells of a fine grid, in row-major order.
type places struct {
	filled     tick.Tick
	minX, minZ float32
	scale      float32  // cells per metre
	wide, deep int      // cells
	first      []uint16 // by cell: index into slots; one more is the end
	slots      []uint16
	cell       []uint16 // by slot, noCell for an empty one
	radius     []uint8  // by cell: the last result of reach
}

const noCell = 1<<16 - 1

// cellsPerPlayer sets the size of cells: small ones let a square hold close to the wanted number.
const cellsPerPlayer = 2

func newPlaces(c *Config) places {
	b := c.Arena.Bounds
	size := b.Max.Sub(b.Min)
	edge := max(1, float32(math.Sqrt(float64(size.X*size.Z)/float64(cellsPerPlayer*c.Players))))
	p := places{minX: b.Min.X, minZ: b.Min.Z, scale: 1 / edge,
		wide: int(size.X/edge) + 1, deep: int(size.Z/edge) + 1}
	p.first, p.radius = make([]uint16, p.wide*p.deep+1), make([]uint8, p.wide*p.deep)
	p.slots, p.cell = make([]uint16, c.Players), make([]uint16, c.Players)
	for slot := range p.cell {
		p.cell[slot] = noCell
	}
	return p
}

// cellOf is the cell of a place, the nearest one for places beyond the grid.
func (p *places) cellOf(x, z float32) int {
	column := min(max(int((x-p.minX)*p.scale), 0), p.wide-1)
	row := min(max(int((z-p.minZ)*p.scale), 0), p.deep-1)
	return row*p.wide + column
}

// fill brings the cells to the newest tick.
func (p *places) fill(r *replication) {
	frame := r.frame()
	if p.filled == frame.Tick {
		return
	}
	p.filled = frame.Tick
	poses := r.match.Poses()
	for slot := range poses {
		if p.cell[slot] = noCell; frame.ID(slot) != 0 {
			p.cell[slot] = uint16(p.cellOf(poses[slot].Pos.X, poses[slot].Pos.Z))
		}
	}
	p.sort()
}

// sort sorts the slots by cell, by counting.
func (p *places) sort() {
	clear(p.first)
	n := uint16(0)
	for _, cell := range p.cell {
		if cell != noCell {
			p.first[cell+1]++
			n++
		}
	}
	for i := 1; i < len(p.first); i++ {
		p.first[i] += p.first[i-1]
	}
	for slot, cell := range p.cell { // moves the end of each cell to its beginning
		if cell != noCell {
			end := &p.first[cell+1]
			*end--
			p.slots[*end] = uint16(slot)
		}
	}
	copy(p.first, p.first[1:])
	p.first[len(p.first)-1] = n
}

// square is the cells up to radius cells from one: columns x0 to x1-1 of rows z0 to z1-1.
func (p *places) square(cell, radius int) (x0, x1, z0, z1 int) {
	x, z := cell%p.wide, cell/p.wide
	return max(0, x-radius), min(p.wide, x+radius+1), max(0, z-radius), min(p.deep, z+radius+1)
}

// count is the number of players in a square.
func (p *places) count(cell, radius int) (n int) {
	x0, x1, z0, z1 := p.square(cell, radius)
	for row := z0 * p.wide; row < z1*p.wide; row += p.wide {
		n += int(p.first[row+x1] - p.first[row+x0])
	}
	return n
}

// reach returns the radius, in cells, of the largest square around a cell that has at most a number
// of players; 1 if even that square has more. The search begins at its last result for the cell.
func (p *places) reach(cell, most int) int {
	radius := max(1, int(p.radius[cell]))
	for radius > 1 && p.count(cell, radius) > most {
		radius--
	}
	for radius < min(max(p.wide, p.deep), math.MaxUint8) && p.count(cell, radius+1) <= most {
		radius++
	}
	p.radius[cell] = uint8(radius)
	return radius
}

// addNear adds to a set the players of the square that reach chooses around the cell of a slot. It
// has at least the cell and those that touch it. Slots of one cell get the same players.
func (p *places) addNear(set []uint64, slot, most int) {
	cell := int(p.cell[slot])
	if cell == noCell {
		return
	}
	x0, x1, z0, z1 := p.square(cell, p.reach(cell, most))
	for row := z0 * p.wide; row < z1*p.wide; row += p.wide {
		for _, near := range p.slots[p.first[row+x0]:p.first[row+x1]] {
			set[near>>6] |= 1 << (near & 63)
		}
	}
}
