package server

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// objectRows are the replicated objects: entities that are no players.
type objectRows struct {
	replicatedRows
	table           objectTable
	space           objectSpace
	part            objectPart
	match           *sim.Match      // that frame is of
	frame           *snapshot.Frame // of the tick captured last
	version         uint32          // of frame
	versions        []frameVersion  // by tick, modulo its length
	updateIntervals netstate.UpdateIntervals
	interval        tick.Tick
	static          []staticObjects                   // of the tick at hand
	object          netstate.ObjectState              // being captured
	row             [netstate.ObjectStateFields]int32 // its row
	asked           [netstate.ObjectStateFields]int32 // row being explained
}

// objectTable gives each object a slot. Static objects have the first slots, in the order of the
// map; projectiles and grenades have the lowest free one, or wait for one.
type objectTable struct {
	slots   []objectSlot
	used    []uint64   // slots that are taken
	static  int        // slots of static objects
	flights [2][]int16 // slot by the match's index: projectiles, grenades
	dropped uint64     // flights of this tick that wait for a slot
}

// objectSlot is one slot and the object in it.
type objectSlot struct {
	matchID   netid.ID // the match's id
	id        netid.ID // the slot and a generation
	kind      netstate.Kind
	index     uint8 // of a flight among those that its owner launched in one tick
	writtenAt tick.Tick
	launch    object.Grenade
}

// frameVersion counts the changes of frames: two ticks with one version have equal rows.
type frameVersion struct {
	tick    tick.Tick
	version uint32
	groups  int
}

// usualFlights is how many projectiles and grenades a player has in flight at most, as a rule. The
// memory of more is made with them.
const usualFlights = 2

// usualSets is of how many clients the baselines differ at most, as a rule. In a small lobby, which
// sends all snapshots in one tick, only loss makes them differ; the memory of more is made with them.
func usualSets(slots int) int {
	if slots > maxTogether {
		return slots
	}
	return (slots + 3) / 4
}

// newFrames makes the ring of the frames of one kind of rows, with values of usual slots.
func newFrames(c *Config, s schema.Schema, usual, slots int) *snapshot.Ring {
	r := snapshot.NewGrowingRing(s, usual, slots, c.ringFrames(), c.ringInterval())
	r.Offset(c.ringOffset())
	return r
}

func newObjectRows(c *Config, m *sim.Match) *objectRows {
	slots := netstate.ObjectSlots(c.Players)
	usual := usualFlights * c.Players
	for _, class := range netstate.StaticClasses() {
		usual += class.Count(m)
	}
	o := &objectRows{
		replicatedRows: replicatedRows{
			frames:  newFrames(c, netstate.Objects, usual, slots),
			encoder: snapshot.NewEncoder(c.Models.Objects, slots),
		},
		table:           objectTable{slots: make([]objectSlot, slots), used: make([]uint64, (slots+63)/64)},
		updateIntervals: c.ObjectUpdateIntervals, interval: tick.Tick(c.SendInterval),
		versions: make([]frameVersion, snapshot.Window*c.SendInterval+1),
	}
	for i := range o.table.flights {
		o.table.flights[i] = make([]int16, 0, 4*slots)
	}
	o.packer.Reserve(slots)
	o.encoder.Reserve(usualSets(c.Players), usual)
	if c.Relevance != RelevanceOff {
		o.encoder.ReserveRows()
		o.packer.ReserveChanges(slots)
		o.initInterest(c, slots)
	}
	return o
}

// checkObjects fills and checks what a configuration says of objects.
func (c *Config) checkObjects() error {
	var ok bool
	if c.ObjectUpdateIntervals, ok = c.ObjectUpdateIntervals.WithDefaults(); !ok {
		return fmt.Errorf("update intervals of objects %v: expected at most %d snapshots",
			c.ObjectUpdateIntervals, netstate.MaxUpdateInterval)
	}
	if g := c.Rules.Game; g != nil {
		m := &g.Layout
		n := len(m.Teleporters) + len(m.Points) + len(m.Barrels) + len(m.Cubes) + len(m.Objects)
		if n > netstate.MaxStanding {
			return fmt.Errorf("%d static objects on the map: expected at most %d", n, netstate.MaxStanding)
		}
	}
	return nil
}

// begin gives the frame that capture has written to the encoder.
func (o *objectRows) begin() {
	o.encoder.Begin(o.frame, o.frames)
	o.sums.Begin(o.frame)
}

// noteLaunches gives slots to the flights of a tick without a frame, and returns how many wait for
// one. The slots of those that have ended are freed with the next frame.
func (o *objectRows) noteLaunches(m *sim.Match) (waiting uint64) {
	if m != o.match {
		return 0 // no frame has the static objects of this match yet
	}
	o.table.dropped = 0
	all, t := m.Objects(), m.Tick()
	for i := range all.Projectiles {
		if _, s := o.table.slotOfProjectile(all.Projectiles, i); s != nil {
			s.writtenAt = t
		}
	}
	for i := range all.Grenades {
		if _, s := o.table.slotOfGrenade(all.Grenades, i, t); s != nil {
			s.writtenAt = t
		}
	}
	return o.table.dropped
}

// flying reports whether there are flights.
func (o *objectRows) flying(m *sim.Match) bool {
	all := m.Objects()
	return len(all.Projectiles)+len(all.Grenades) > 0
}

// capture writes the frame of the tick that was just played.
func (o *objectRows) capture(m *sim.Match) {
	before := o.frame
	o.frame = o.frames.BeginCopy(m.Tick())
	o.fill(o.frame, m)
	o.noteVersion(o.frame, before)
}

// fill writes the rows of the newest tick into its frame.
func (o *objectRows) fill(f *snapshot.Frame, m *sim.Match) {
	t := m.Tick()
	o.beginSpace(t)
	o.table.dropped = 0
	if m != o.match { // no slot's object is of this match
		o.match, o.table.static = m, -1
	}
	o.captureStatic(f)
	all := m.Objects()
	o.captureProjectiles(f, all.Projectiles, m.Game().ProjectileKinds)
	o.captureGrenades(f, all.Grenades)
	o.table.freeSlots(t)
}

// reader returns rows that fill a frame without a change to o: it has a table of its own, and no
// interest set. It reads the frames of o.
func (o *objectRows) reader() objectRows {
	return objectRows{
		replicatedRows: replicatedRows{frames: o.frames}, table: o.table.clone(), match: o.match,
		updateIntervals: o.updateIntervals, interval: o.interval,
	}
}

// captureStatic writes the objects that the map places.
func (o *objectRows) captureStatic(f *snapshot.Frame) {
	classes := netstate.StaticClasses()
	o.static = o.static[:0]
	for i := range classes {
		o.static = append(o.static, staticObjects{classes[i].Kind, classes[i].Count(o.match)})
	}
	o.table.assignStatic(o.static)
	slot := 0
	for i := range classes {
		for n := range o.static[i].count {
			classes[i].Describe(&o.object, o.match, n)
			o.write(f, slot)
			slot++
		}
	}
}

// write writes the object at hand into a slot, or its row as it was when its kind was last due.
func (o *objectRows) write(f *snapshot.Frame, slot int) {
	s := &o.table.slots[slot]
	s.writtenAt = f.Tick
	o.put(slot, s, o.object.Pos)
	if back := o.updateIntervals.LastUpdate(s.kind, f.Tick, o.interval); back != 0 && back < f.Tick {
		if old := o.frames.At(f.Tick - back); old != nil && old.ID(slot) == s.id {
			old.Row(slot, o.row[:])
			f.Set(slot, s.id, o.row[:])
			return
		}
	}
	o.object.Row(o.row[:])
	f.Set(slot, s.id, o.row[:])
}

func (o *objectRows) captureProjectiles(
	f *snapshot.Frame, all []object.Projectile, kinds []object.CompiledProjectile,
) {
	for i := range all {
		p := &all[i]
		slot, s := o.table.slotOfProjectile(all, i)
		if s == nil {
			continue
		}
		o.object.OfProjectile(p, int(s.index))
		o.write(f, slot)
		if p.Hit == object.Flying && o.interest.grid != nil && int(p.Type) < len(kinds) {
			o.space.move(slot, p.At(&kinds[p.Type], f.Tick))
		}
	}
}

func (o *objectRows) captureGrenades(f *snapshot.Frame, all []object.Grenade) {
	for i := range all {
		g := &all[i]
		slot, s := o.table.slotOfGrenade(all, i, f.Tick)
		if s == nil {
			continue
		}
		o.object.OfGrenade(g, &s.launch, int(s.index))
		o.write(f, slot)
		if o.interest.grid != nil {
			o.space.move(slot, g.Pos)
		}
	}
}

// noteVersion compares the frame with the one captured before; nil for none.
func (o *objectRows) noteVersion(f, before *snapshot.Frame) {
	groups := o.frames.Groups()
	if before == nil || before == f || !sameRows(f, before, groups) {
		o.version++
	}
	o.versions[int(f.Tick)%len(o.versions)] = frameVersion{tick: f.Tick, version: o.version, groups: groups}
}

// sameRows reports whether two frames have equal rows in the first groups.
func sameRows(f, g *snapshot.Frame, groups int) bool {
	for group := range groups {
		if !f.GroupEqual(g, group) {
			return false
		}
	}
	return true
}

// versionAt is the version of the frame of a tick; zero if it is too old.
func (o *objectRows) versionAt(t tick.Tick) frameVersion {
	if v := o.versions[int(t)%len(o.versions)]; v.tick == t {
		return v
	}
	return frameVersion{}
}

// staticObjects is a number of static objects of one kind.
type staticObjects struct {
	kind  netstate.Kind
	count int
}

// assignStatic gives slots to the static objects. If there are others than before, all slots are
// assigned anew.
func (t *objectTable) assignStatic(objects []staticObjects) {
	slot, same := 0, true
	for _, n := range objects {
		for range n.count {
			if slot >= len(t.slots) {
				panic(fmt.Sprintf("server: more than %d static objects", len(t.slots)))
			}
			same = same && slot < t.static && t.slots[slot].kind == n.kind
			slot++
		}
	}
	if same && slot == t.static {
		return
	}
	clear(t.used)
	for i := range t.flights {
		t.flights[i] = t.flights[i][:0]
	}
	slot, t.static = 0, slot
	for i := range t.slots {
		t.slots[i].kind, t.slots[i].matchID = 0, 0
	}
	for _, n := range objects {
		for range n.count {
			t.assign(slot, n.kind, 0)
			slot++
		}
	}
}

// clone returns a copy that shares no memory with t.
func (t *objectTable) clone() objectTable {
	c := *t
	c.slots, c.used = slices.Clone(t.slots), slices.Clone(t.used)
	for i := range t.flights {
		c.flights[i] = slices.Clone(t.flights[i])
	}
	return c
}

// assign gives a slot to an object.
func (t *objectTable) assign(slot int, kind netstate.Kind, matchID netid.ID) *objectSlot {
	s := &t.slots[slot]
	t.used[slot>>6] |= 1 << (slot & 63)
	gen := s.id.Generation() + 1
	*s = objectSlot{matchID: matchID, id: netid.Make(slot, max(gen, 1)), kind: kind}
	return s
}

// slotOfFlight is the slot of a projectile or grenade, which gets one if it has none; nil if all
// are taken.
func (t *objectTable) slotOfFlight(kind netstate.Kind, id netid.ID) (slot int, s *objectSlot) {
	list, index := 0, id.Index()-sim.FirstProjectile
	if kind == netstate.Grenade {
		list, index = 1, id.Index()-sim.FirstGrenade
	}
	known := t.flights[list]
	for len(known) <= index {
		known = append(known, -1)
	}
	t.flights[list] = known
	slot = int(known[index])
	if slot >= t.static && slot < len(t.slots) && t.slots[slot].matchID == id && t.taken(slot) {
		return slot, &t.slots[slot]
	}
	for i, word := range t.used {
		if word == ^uint64(0) {
			continue
		}
		if slot = i*64 + bits.TrailingZeros64(^word); slot >= len(t.slots) {
			break
		}
		known[index] = int16(slot)
		return slot, t.assign(slot, kind, id)
	}
	t.dropped++
	return 0, nil
}

// slotOfProjectile is slotOfFlight for projectile i of all.
func (t *objectTable) slotOfProjectile(all []object.Projectile, i int) (slot int, s *objectSlot) {
	p := &all[i]
	if slot, s = t.slotOfFlight(netstate.Projectile, p.ID); s != nil && s.writtenAt == 0 {
		for k := i - 1; k >= 0 && all[k].Owner == p.Owner && all[k].Tick == p.Tick; k-- {
			s.index++
		}
	}
	return slot, s
}

// slotOfGrenade is slotOfFlight for grenade i of all, in tick now.
func (t *objectTable) slotOfGrenade(all []object.Grenade, i int, now tick.Tick) (slot int, s *objectSlot) {
	g := &all[i]
	if slot, s = t.slotOfFlight(netstate.Grenade, g.ID); s != nil && s.writtenAt == 0 {
		for k := i - 1; k >= 0 && all[k].Owner == g.Owner && all[k].Thrown == g.Thrown; k-- {
			s.index++
		}
		if s.launch = *g; g.Thrown != now { // it waited for a slot: sent as if thrown here
			s.launch.Thrown = now
		}
	}
	return slot, s
}

// taken reports whether there is an object in a slot.
func (t *objectTable) taken(slot int) bool { return t.used[slot>>6]>>(slot&63)&1 != 0 }

// freeSlots frees the slots of flights that were not captured in tick now.
func (t *objectTable) freeSlots(now tick.Tick) {
	for i, word := range t.used {
		for ; word != 0; word &= word - 1 {
			slot := i*64 + bits.TrailingZeros64(word)
			if t.slots[slot].writtenAt != now {
				t.used[i] &^= 1 << (slot & 63)
				t.slots[slot].matchID = 0
			}
		}
	}
}
