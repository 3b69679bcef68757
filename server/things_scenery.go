package server

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// scenery is where things are, for those who look; empty if nobody does.
type scenery struct {
	grid  *interest.Grid
	walls *pvs.Crowd // nil where none hide anything
	spare spare      // for those who have not looked yet
	at    tick.Tick  // of the grid
	now   tick.Tick  // of the columns
	ids   []netid.ID
	pos   []geom.Vec3
	x, z  []float32
	team  []uint8
	open  []uint64 // what everybody sees: teleporters and zones, which belong to the round
	none  []uint64 // slots in which nothing is
	heads []int16  // by player: the first of its flights, -1 for none
	next  []int16  // by slot: the one behind it
	see   []uint64
	wide  []uint64
	cost  []uint16
	pick  []uint64
	said  []uint64
}

func newScenery(c *Config, slots int) scenery {
	cfg := c.grid()
	cfg.Slots = slots
	var walls *pvs.Crowd
	if c.PVS != nil && c.Relevance == RelevanceGrid {
		walls = pvs.NewCrowd(c.PVS)
		cfg.VisibleFrom = walls.Seen
	}
	g := interest.NewGrid(cfg)
	n := g.Words()
	d := scenery{grid: g, walls: walls, ids: make([]netid.ID, slots), pos: make([]geom.Vec3, slots), x: make([]float32, slots), z: make([]float32, slots),
		team: make([]uint8, slots), open: make([]uint64, n), none: make([]uint64, n), heads: make([]int16, c.Players), next: make([]int16, slots),
		see: make([]uint64, n), wide: make([]uint64, n), cost: make([]uint16, n*64), pick: make([]uint64, n), said: make([]uint64, 0, n+1)}
	d.warm(c.Players)
	return d
}

// warm makes the grid take its memory: for views from as many cells as players can stand in at a time.
func (d *scenery) warm(players int) {
	cfg := d.grid.Config()
	d.grid.Fill(d.ids, d.x, d.z, d.team, nil)
	anybody := interest.NewClient(d.grid)
	for i := range min(players, cfg.Wide*cfg.Deep) {
		at := interest.Viewer{Slot: -1, X: cfg.MinX + (float32(i%cfg.Wide)+0.5)*cfg.Cell, Z: cfg.MinZ + (float32(i/cfg.Wide)+0.5)*cfg.Cell}
		anybody.Update(d.grid, at, nil)
	}
}

// begin empties the columns.
func (d *scenery) begin(t tick.Tick) {
	if d.grid == nil {
		return
	}
	d.now = t
	clear(d.ids)
	clear(d.open)
	for i := range d.none {
		d.none[i] = ^uint64(0)
	}
	for i := range d.heads {
		d.heads[i] = -1
	}
}

// put takes in a thing.
func (d *scenery) put(slot int, c *objectSlot, o *netstate.ObjectState, pos geom.Vec3) {
	if d.grid == nil {
		return
	}
	bit := uint64(1) << (slot & 63)
	d.ids[slot], d.pos[slot] = c.id, pos
	d.none[slot>>6] &^= bit
	if c.kind == netstate.Teleporter || c.kind == netstate.Zone {
		d.open[slot>>6] |= bit
	}
	if owner := netid.ID(o.Owner).Index(); c.kind.Flies() && owner < len(d.heads) {
		d.next[slot] = d.heads[owner]
		d.heads[owner] = int16(slot)
	}
}

// move corrects where a thing is.
func (d *scenery) move(slot int, pos geom.Vec3) {
	if d.grid != nil {
		d.pos[slot] = pos
	}
}

// first is the slot of a player's first flight, -1 for none.
func (d *scenery) first(player int) int16 { return d.heads[player] }

// fill turns the grid to the tick's things, once a tick. What hides a player hides a thing: walls are asked for the height at which
// players and things are.
func (d *scenery) fill(l *Lobby) {
	if d.at == d.now {
		return
	}
	d.at = d.now
	if d.walls != nil {
		d.walls.Reset()
		for slot, pose := range l.match.Poses() {
			if l.replication.players.ids[slot] != 0 {
				d.walls.Raise(pose.Pos.X, pose.Pos.Y, pose.Pos.Z)
			}
		}
	}
	for slot, id := range d.ids {
		if id == 0 {
			continue
		}
		p := d.pos[slot]
		d.x[slot], d.z[slot] = p.X, p.Z
		if d.walls != nil {
			d.walls.Raise(p.X, p.Y, p.Z)
		}
	}
	d.grid.Fill(d.ids, d.x, d.z, d.team, nil)
}

// look finds what of things a connection may see: by the rules for players, and what is its own, and what belongs to the round. It is
// valid until the next call.
func (d *scenery) look(l *Lobby, c *conn, weigh bool) []uint64 {
	h, s := &c.repl.acks.objects, &l.replication.players
	s.fill(l, l.replication.players.frames.At(l.match.Tick()))
	d.fill(l)
	if h.view == nil {
		h.view = d.spare.take(d.grid)
	}
	if h.allSentAt != 0 {
		h.materialize(l.replication.objects)
	}
	slot := c.viewpoint()
	if slot < 0 { // looks through nobody's eyes
		copy(d.see, d.open)
		if c.repl.pacing.bucket.Rate() != 0 && l.cfg.Relevance != RelevanceGrid { // who has no limit is told all in blocks there
			for i, w := range d.none {
				d.see[i] = ^w
			}
		}
		h.view.MarkAllSent(d.see) // nothing weighs more: all take turns
		return d.see
	}
	v := interest.Viewer{Slot: -1, X: s.x[slot], Z: s.z[slot]}
	if weigh {
		v.DirX, v.DirZ = l.match.Poses()[slot].Yaw.SinCos()
		h.view.Update(d.grid, v, nil)
	} else {
		h.view.UpdateVisible(d.grid, v)
	}
	for i, word := range h.view.Visible() {
		d.see[i] = word | d.open[i]
	}
	for own := d.heads[c.id.Index()]; own >= 0; own = d.next[own] {
		d.see[own>>6] |= 1 << (own & 63)
	}
	return d.see
}

// materialize makes of blocks what a look would have left had the last of them gone row by row: all that was there was in sight, and said.
func (h *objectAcks) materialize(w *objectPlane) {
	d, f := &w.scenery, w.frames.At(h.allSentAt)
	clear(d.wide)
	for slot := range d.ids {
		if f == nil || f.ID(slot) != 0 {
			d.wide[slot>>6] |= 1 << (slot & 63)
		}
	}
	h.view.MarkAllSent(d.wide)
	h.allSentAt = 0
}

// with adds to a set the slots in which nothing is. It is valid until the next call.
func (d *scenery) with(see []uint64) []uint64 {
	for i, word := range see {
		d.wide[i] = word | d.none[i]
	}
	return d.wide
}
