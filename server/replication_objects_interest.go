package server

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// objectSpace says where the objects of a tick are and which of them are visible whatever walls and
// range say: those of the round to all clients, flights to their owner. Without a grid it is empty.
type objectSpace struct {
	at      tick.Tick
	pos     []geom.Vec3
	public  []uint64 // teleporters and zones
	first   []int16  // by player: slot of its first flight, -1 for none
	next    []int16  // by slot: next flight of the same owner
	visible []uint64 // result of lookAtObjects
	own     []uint64 // result of ownFlights
}

// initInterest allocates the interest set of the objects.
func (o *objectRows) initInterest(c *Config, slots int) {
	o.interest = newInterestSet(c, slots)
	s, words := &o.interest, o.interest.grid.Words()
	o.space = objectSpace{
		pos: make([]geom.Vec3, slots), public: make([]uint64, words), visible: make([]uint64, words),
		own:   make([]uint64, words),
		first: make([]int16, c.Players), next: make([]int16, slots),
	}
	cfg := s.grid.Config()
	s.grid.Fill(s.ids, s.x, s.z, s.team, nil)
	view := interest.NewClient(s.grid)
	for i := range min(c.Players, cfg.Wide*cfg.Deep) {
		x, z := s.cellCentre(i)
		view.Update(s.grid, interest.Viewer{Slot: -1, X: x, Z: z}, nil)
	}
}

// beginSpace empties the columns for tick t.
func (o *objectRows) beginSpace(t tick.Tick) {
	if o.interest.grid == nil {
		return
	}
	o.space.at = t
	o.interest.clear()
	clear(o.space.public)
	for i := range o.space.first {
		o.space.first[i] = -1
	}
}

// put takes the object at hand into its slot.
func (o *objectRows) put(slot int, s *objectSlot, pos geom.Vec3) {
	if o.interest.grid == nil {
		return
	}
	d := &o.space
	o.interest.put(slot, s.id)
	d.pos[slot] = pos
	if s.kind.Public() {
		d.public[slot>>6] |= 1 << (slot & 63)
	}
	if owner := netid.ID(o.object.Owner).Index(); s.kind.Flies() && owner < len(d.first) {
		d.next[slot] = d.first[owner]
		d.first[owner] = int16(slot)
	}
}

// move corrects the position of the object in a slot.
func (d *objectSpace) move(slot int, pos geom.Vec3) { d.pos[slot] = pos }

// fillObjects brings the interest set of objects to the newest tick. Walls hide an object as they
// hide a player, so they are asked for the heights of both.
func (r *replication) fillObjects() {
	s, d := &r.objects.interest, &r.objects.space
	if s.filled == d.at {
		return
	}
	s.filled = d.at
	if s.walls != nil {
		s.walls.Reset()
		for slot, pose := range r.match.Poses() {
			if r.players.interest.ids[slot] != 0 {
				s.walls.Raise(pose.Pos.X, pose.Pos.Y, pose.Pos.Z)
			}
		}
	}
	for slot, id := range s.ids {
		if id == 0 {
			continue
		}
		p := d.pos[slot]
		s.x[slot], s.z[slot] = p.X, p.Z
		if s.walls != nil {
			s.walls.Raise(p.X, p.Y, p.Z)
		}
	}
	s.grid.Fill(s.ids, s.x, s.z, s.team, nil)
}

// lookAtObjects returns the objects that the client may see: by the rules for players, its own
// flights, and public ones. The result is valid until the next call.
func (r *replication) lookAtObjects(c *connReplication, mode lookMode) []uint64 {
	o, a, d := r.objects, &c.acks.objects, &r.objects.space
	r.fillPlayers()
	r.fillObjects()
	if a.view == nil {
		a.view = o.interest.views.take(o.interest.grid)
	}
	if a.allSentAt != 0 {
		a.materialize(o)
	}
	slot := int(c.viewer.slot)
	if slot < 0 {
		copy(d.visible, d.public)
		if c.pacing.bucket.Rate() != 0 && r.cfg.Relevance != RelevanceGrid { // else in blocks
			copy(d.visible, o.interest.occupied())
		}
		a.view.MarkAllSent(d.visible) // no row has priority: rows take turns
		return d.visible
	}
	from := r.eye(slot, mode)
	v := interest.Viewer{Slot: -1, X: from.X, Z: from.Z, DirX: from.DirX, DirZ: from.DirZ}
	if mode == lookPriority {
		a.view.Update(o.interest.grid, v, nil)
	} else {
		a.view.UpdateVisible(o.interest.grid, v)
	}
	for i, word := range a.view.Visible() {
		d.visible[i] = word | d.public[i]
	}
	for own := d.first[c.viewer.player.Index()]; own >= 0; own = d.next[own] {
		d.visible[own>>6] |= 1 << (own & 63)
	}
	return d.visible
}

// addObjectPriority makes up for a look without priorities, for a client whose budget turned out too
// small.
func (r *replication) addObjectPriority(c *connReplication) {
	if slot := int(c.viewer.slot); slot >= 0 {
		from := r.eye(slot, lookPriority)
		v := interest.Viewer{Slot: -1, X: from.X, Z: from.Z, DirX: from.DirX, DirZ: from.DirZ}
		c.acks.objects.view.AddPriority(r.objects.interest.grid, v, nil)
	}
}

// materialize sets the priorities to what they would be had the last snapshot of blocks gone row by
// row: all objects were visible, and sent.
func (a *objectAcks) materialize(o *objectRows) {
	set, f := o.interest.scratch, o.frames.At(a.allSentAt)
	clear(set)
	for slot := range o.interest.ids {
		if f == nil || f.ID(slot) != 0 {
			set[slot>>6] |= 1 << (slot & 63)
		}
	}
	a.view.MarkAllSent(set)
	a.allSentAt = 0
}
