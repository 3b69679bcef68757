package objects

import (
	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Set is every object that a client knows, and its own projectiles ahead of the server's rows.
type Set struct {
	match   Match
	decoder *snapshot.Decoder // nil until the first row, and if rows are not decoded
	newest  tick.Tick         // of the snapshots whose rows were compared
	slots   int               // slots that ever had a row
	known   []known           // by slot
	thrown  []trajectory      // by slot
	steps   int               // of grenades that one Append may still compute

	own    []projectile // maxOwn of them, allocated with the first
	n      int          // of own in the air
	heads  tick.Tick    // of the newest snapshot whose first packet arrived
	queue  ringbuf.Ring[Change]
	stats  Stats
	paces  netstate.UpdateIntervals
	fields [netstate.ObjectStateFields]int32

	obstacles object.Scene // scratch of Obstacle
}

// known is the newest row of a slot.
type known struct {
	id    netid.ID
	phase uint8
	own   bool // one of ours
}

// Match is what a client needs to know of a match to show its objects.
type Match struct {
	View     *tick.View    // the instant shown
	Clocks   *clock.Clocks // the instant predicted
	Kit      *sim.CompiledGame
	Arena    *arena.Arena
	Rows     *schema.Model // of rows
	Self     netid.ID      // the player
	Players  int           // slots for players
	Interval tick.Tick     // between two snapshots of the server
	MaxGap   tick.Tick     // longest gap that a cube is interpolated across
}

// NewSet returns a set of no objects.
func NewSet() Set { return Set{queue: ringbuf.New[Change](maxChanges)} }

// Start prepares for a match. Memory for rows is allocated with the first: many lobbies have none.
func (s *Set) Start(m Match) {
	s.match, s.paces = m, netstate.DefaultUpdateIntervals
}

// Reset forgets every object for a change of the map. Changes that wait and Stats stay.
func (s *Set) Reset() {
	*s = Set{stats: s.stats, queue: s.queue, own: s.own}
}

// Stats returns the counters of own projectiles.
func (s *Set) Stats() Stats { return s.stats }

// open allocates memory for rows.
func (s *Set) open() {
	if s.decoder != nil {
		return
	}
	s.decoder = snapshot.NewDecoder(s.match.Rows, netstate.ObjectSlots(s.match.Players), s.match.Interval)
	slots := s.decoder.Groups() * snapshot.GroupRows
	s.known, s.thrown = make([]known, slots), make([]trajectory, slots)
}

// Message takes a message of the server about objects and reports whether it is one.
func (s *Set) Message(raw []byte) bool {
	p, ok := netstate.ParseUpdateIntervals(raw)
	if ok {
		s.paces = p
	}
	return ok
}

// Section takes the rows of objects in a packet of a snapshot and returns the bytes after them.
// Errors are the decoder's, and netstate.ErrHeader.
func (s *Set) Section(h netstate.Header, src []byte) (rest []byte, err error) {
	if h.Objects {
		runs, sum, rest, err := h.CutObjects(src)
		if err != nil {
			return src, err
		}
		s.open()
		if h.Checked {
			err = s.decoder.CheckedSection(h.Tick, runs, sum)
		} else {
			err = s.decoder.Section(h.Tick, runs)
		}
		if err != nil {
			return src, err
		}
		s.compare(h.Tick)
		src = rest
	}
	if h.Owner && h.Tick > s.heads {
		s.heads = h.Tick
		s.rejectMissing(h.Tick)
	}
	return src, nil
}

// Explain adds the bits of a section's rows to a meter and returns the bytes after them. header is
// how many bytes of the section are no rows.
func (s *Set) Explain(m *snapshot.Meter, h netstate.Header, src []byte) (rest []byte, header int, err error) {
	runs, _, rest, err := h.CutObjects(src)
	if err != nil || s.decoder == nil {
		return src, 0, netstate.ErrHeader
	}
	if err = s.decoder.Explain(m, h.Tick, runs); err != nil {
		return src, 0, err
	}
	return rest, len(src) - len(rest) - len(runs), nil
}

// Row copies the decoded row of a slot at snapshot tick t into dst, netstate.ObjectStateFields
// long, and returns the object's id, 0 for an empty slot. False if the row is not known.
func (s *Set) Row(t tick.Tick, slot int, dst []int32) (id netid.ID, ok bool) {
	if s.decoder == nil {
		return 0, false
	}
	f := s.decoder.At(t)
	if f == nil || !f.HasRow(slot) {
		return 0, false
	}
	return f.Row(slot, dst), true
}

// compare queues what the snapshot of tick t changed. A snapshot older than the newest is ignored.
func (s *Set) compare(t tick.Tick) {
	f := s.decoder.At(t)
	if t < s.newest || f == nil { // nil: the runs were only padding
		return
	}
	s.newest = t
	s.slots = max(s.slots, f.Used())
	for slot := range s.slots {
		if !f.HasRow(slot) {
			continue
		}
		k, id := &s.known[slot], f.ID(slot)
		if id == k.id {
			if id == 0 || uint8(f.Value(slot, netstate.ObjectStateState)&7) == k.phase {
				continue
			}
		} else if k.id != 0 {
			s.vanish(t, slot)
		}
		var o Object
		if !s.read(t, slot, &o) {
			continue
		}
		kind := Changed
		if k.id != id {
			*k, kind = known{id: id}, Appeared
			if o.Kind.Flies() && netid.ID(o.Owner) == s.match.Self {
				k.own = s.matchOwn(t, slot, &o)
			}
		}
		k.phase = o.Phase
		s.addChange(kind, t, &o)
	}
}

// vanish queues that a slot's object has no row any more.
func (s *Set) vanish(t tick.Tick, slot int) {
	k := &s.known[slot]
	for i := range s.own[:s.n] {
		if k.own && s.own[i].id == k.id {
			s.removeOwn(i)
			break
		}
	}
	s.addChange(Vanished, t, &Object{ID: k.id})
	*k = known{}
}

// read decodes the row of a slot at a snapshot tick. False if the slot is empty.
func (s *Set) read(at tick.Tick, slot int, o *Object) bool {
	f := s.decoder.At(at)
	if o.ID = f.Row(slot, s.fields[:]); o.ID == 0 {
		return false
	}
	o.ObjectState.Restore(s.fields[:])
	o.Since = o.ObjectState.Tick(at)
	return true
}
