package server

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// objectPlane is the second plane of snapshots: what is no player. Slots are given to what stands about first, and then to flights, the
// lowest free one; a flight for which there is none waits for one, and is counted.
type objectPlane struct {
	frames   *snapshot.Ring
	frame    *snapshot.Frame // of the tick at hand
	match    *sim.Match      // that it is of
	encoder  *snapshot.Encoder
	packer   snapshot.Packer
	sums     snapshot.Sums
	paces    netstate.UpdateIntervals
	interval tick.Tick

	slots    []objectSlot // by slot
	used     []uint64     // slots that have one
	standing int          // of them those of what stands about
	flights  [2][]int16
	past     []frameVersion // by tick, modulo its length
	dropped  uint64         // flights of this tick without a slot
	row      [netstate.ObjectStateFields]int32
	thing    netstate.ObjectState
	asked    [netstate.ObjectStateFields]int32 // a row that is looked at for who asks

	part objectPart

	scenery scenery
}

// objectSlot is a slot of the plane and what is in it.
type objectSlot struct {
	matchID   netid.ID // the match's id
	id        netid.ID // the plane's: the slot and a generation
	kind      netstate.Kind
	index     uint8 // of a flight among its owner's of that tick
	writtenAt tick.Tick
	launch    object.Grenade
}

// frameVersion is what a frame was like.
type frameVersion struct {
	tick    tick.Tick
	version uint32 // another one if a row is another than in the tick before
	groups  int
}

func newObjectPlane(c *Config) *objectPlane {
	slots := netstate.ObjectSlots(c.Players)
	frames := snapshot.Window*c.SendInterval + 1
	w := &objectPlane{
		frames:  snapshot.NewRing(netstate.Objects, slots, frames, 1),
		encoder: snapshot.NewEncoder(c.Models.Objects, slots),
		paces:   c.ObjectPaces, interval: tick.Tick(c.SendInterval),
		slots: make([]objectSlot, slots), used: make([]uint64, (slots+63)/64),
		past: make([]frameVersion, frames),
	}
	for i := range w.flights {
		w.flights[i] = make([]int16, 0, 4*slots)
	}
	w.packer.Reserve(slots)
	if c.Relevance != RelevanceOff {
		w.encoder.Reserve()
		w.scenery = newScenery(c, slots)
	}
	return w
}

// checkThings checks what a configuration says of things.
func (c *Config) checkThings() error {
	var ok bool
	if c.ObjectPaces, ok = c.ObjectPaces.WithDefaults(); !ok {
		return fmt.Errorf("paces of things %v: expected at most %d snapshots", c.ObjectPaces, netstate.MaxUpdateInterval)
	}
	if g := c.Rules.Game; g != nil {
		if n := len(g.Layout.Teleporters) + len(g.Layout.Points) + len(g.Layout.Barrels) + len(g.Layout.Cubes); n > netstate.MaxStanding {
			return fmt.Errorf("%d things stand about the map: expected at most %d", n, netstate.MaxStanding)
		}
	}
	return nil
}

// tellPaces tells a connection that is just in how often things are told.
func (l *Lobby) tellPaces(c *conn) {
	if c.session.peer.QueueReliable(l.replication.objects.paces.Append(l.message[:0])) != nil {
		l.Stats.Count[metrics.ReliableDropped].Inc()
	}
}

// ObjectFrame returns the frame of things of a recent tick as it was sent, nil if it is gone; valid until the next Tick.
func (l *Lobby) ObjectFrame(t tick.Tick) *snapshot.Frame { return l.replication.objects.frames.At(t) }

// begin turns to the frame that capture has written.
func (w *objectPlane) begin() {
	w.encoder.Begin(w.frame, w.frames)
	w.sums.Begin(w.frame)
}

// capture writes the frame of the tick that was just played.
func (w *objectPlane) capture(m *sim.Match) {
	t := m.Tick()
	f := w.frames.Follow(t)
	w.frame = f
	w.scenery.begin(t)
	w.dropped = 0
	if m != w.match { // none of its things are those of the one before
		w.match, w.standing = m, -1
	}
	o, s := m.Objects(), m.Scene()
	w.assignStanding(len(o.Ports), len(o.Zones), len(s.Barrels), len(s.Cubes))
	slot := 0
	for i := range o.Ports {
		w.thing.OfTeleporter(&o.Ports[i], t)
		w.write(f, slot)
		slot++
	}
	for i := range o.Zones {
		w.thing.OfZone(i, &o.Zones[i], &o.Occupied[i], m.Mode(), m.Game().Mode)
		w.write(f, slot)
		slot++
	}
	for i := range s.Barrels {
		w.thing.OfBarrel(&s.Barrels[i], t)
		w.write(f, slot)
		slot++
	}
	for i := range s.Cubes {
		w.thing.OfCube(&s.Cubes[i])
		w.write(f, slot)
		slot++
	}
	w.projectiles(f, o.Projectiles, m.Game().ProjectileKinds)
	w.grenades(f, o.Grenades)
	w.freeSlots(t)
	w.noteVersion(f)
}

// assignStanding gives slots to what stands about. If there is another number of it than before, all slots begin anew.
func (w *objectPlane) assignStanding(ports, zones, barrels, cubes int) {
	n := [4]int{ports, zones, barrels, cubes}
	kinds := [4]netstate.Kind{netstate.Teleporter, netstate.Zone, netstate.Barrel, netstate.Cube}
	slot, same := 0, true
	for i, k := range kinds {
		for range n[i] {
			if slot >= len(w.slots) {
				panic("server: more things stand about than the lobby tells of")
			}
			same = same && slot < w.standing && w.slots[slot].kind == k
			slot++
		}
	}
	if same && slot == w.standing {
		return
	}
	clear(w.used)
	for i := range w.flights {
		w.flights[i] = w.flights[i][:0]
	}
	slot, w.standing = 0, slot
	for i := range w.slots {
		w.slots[i].kind, w.slots[i].matchID = 0, 0
	}
	for i, k := range kinds {
		for range n[i] {
			w.assign(slot, k, 0)
			slot++
		}
	}
}

// assign gives a slot away.
func (w *objectPlane) assign(slot int, k netstate.Kind, of netid.ID) *objectSlot {
	c := &w.slots[slot]
	w.used[slot>>6] |= 1 << (slot & 63)
	gen := c.id.Generation() + 1
	*c = objectSlot{matchID: of, id: netid.Make(slot, max(gen, 1)), kind: k}
	return c
}

// write writes the thing at hand into a slot: as it is, or as it was when its class was told last.
func (w *objectPlane) write(f *snapshot.Frame, slot int) {
	c := &w.slots[slot]
	c.writtenAt = f.Tick
	w.scenery.put(slot, c, &w.thing, w.thing.Pos)
	if back := w.paces.LastUpdate(c.kind, f.Tick, w.interval); back != 0 && back < f.Tick {
		if old := w.frames.At(f.Tick - back); old != nil && old.ID(slot) == c.id {
			old.Row(slot, w.row[:])
			f.Set(slot, c.id, w.row[:])
			return
		}
	}
	w.thing.Row(w.row[:])
	f.Set(slot, c.id, w.row[:])
}

func (w *objectPlane) projectiles(f *snapshot.Frame, all []object.Projectile, ammo []object.CompiledProjectile) {
	for i := range all {
		p := &all[i]
		slot, c := w.slotOfFlight(0, p.ID, p.ID.Index()-sim.FirstProjectile, netstate.Projectile)
		if c == nil {
			continue
		}
		if c.writtenAt == 0 {
			for k := i - 1; k >= 0 && all[k].Owner == p.Owner && all[k].Tick == p.Tick; k-- {
				c.index++
			}
		}
		w.thing.OfProjectile(p, int(c.index))
		w.write(f, slot)
		if p.Hit == object.Flying && w.scenery.grid != nil && int(p.Type) < len(ammo) {
			w.scenery.move(slot, p.At(&ammo[p.Type], f.Tick))
		}
	}
}

func (w *objectPlane) grenades(f *snapshot.Frame, all []object.Grenade) {
	for i := range all {
		g := &all[i]
		slot, c := w.slotOfFlight(1, g.ID, g.ID.Index()-sim.FirstGrenade, netstate.Grenade)
		if c == nil {
			continue
		}
		if c.writtenAt == 0 {
			for k := i - 1; k >= 0 && all[k].Owner == g.Owner && all[k].Thrown == g.Thrown; k-- {
				c.index++
			}
			if c.launch = *g; g.Thrown != f.Tick { // it had to wait for its slot: it is told as if thrown from where it is
				c.launch.Thrown = f.Tick
			}
		}
		w.thing.OfGrenade(g, &c.launch, int(c.index))
		w.write(f, slot)
		w.scenery.move(slot, g.Pos)
	}
}

// slotOfFlight is the slot of a flight with an id and its index in the match's list, a fresh one if it has none; nil if all are taken.
func (w *objectPlane) slotOfFlight(list int, of netid.ID, index int, k netstate.Kind) (slot int, c *objectSlot) {
	at := w.flights[list]
	for len(at) <= index {
		at = append(at, -1)
	}
	w.flights[list] = at
	if slot = int(at[index]); slot >= w.standing && slot < len(w.slots) && w.slots[slot].matchID == of && w.used[slot>>6]>>(slot&63)&1 != 0 {
		return slot, &w.slots[slot]
	}
	for i, word := range w.used {
		if word == ^uint64(0) {
			continue
		}
		if slot = i*64 + bits.TrailingZeros64(^word); slot >= len(w.slots) {
			break
		}
		at[index] = int16(slot)
		return slot, w.assign(slot, k, of)
	}
	w.dropped++
	return 0, nil
}

// freeSlots frees the slots of flights that are gone.
func (w *objectPlane) freeSlots(t tick.Tick) {
	for i, word := range w.used {
		for ; word != 0; word &= word - 1 {
			slot := i*64 + bits.TrailingZeros64(word)
			if w.slots[slot].writtenAt != t {
				w.used[i] &^= 1 << (slot & 63)
				w.slots[slot].matchID = 0
			}
		}
	}
}

// noteVersion remembers whether this frame is like the one before.
func (w *objectPlane) noteVersion(f *snapshot.Frame) {
	was := w.versionAt(f.Tick - 1)
	p := &w.past[int(f.Tick)%len(w.past)]
	*p = frameVersion{tick: f.Tick, version: was.version, groups: w.frames.Groups()}
	before := w.frames.At(f.Tick - 1)
	if before == nil || was.tick == 0 {
		p.version++
		return
	}
	for g := range p.groups {
		if !f.GroupEqual(before, g) {
			p.version++
			return
		}
	}
}

// versionAt is what the frame of a tick was like; zero if that is forgotten.
func (w *objectPlane) versionAt(t tick.Tick) frameVersion {
	if p := w.past[int(t)%len(w.past)]; p.tick == t {
		return p
	}
	return frameVersion{}
}

// objectPart is the part about objects of the snapshot at hand.
type objectPart struct {
	open  bool // there is one
	all   bool // it is about all objects
	byRow bool // it had to leave some out
}
