package sim

import (
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// State is a copy of a match after a Step: its columns, moved as they lie in memory into a buffer
// that is used again. Copying takes microseconds; encoding, hashing and checksums of the copy take
// their time on any goroutine, while the match goes on. A State belongs to one goroutine at a time.
type State struct {
	columns                 // resources of its own, ids, and components as memory
	own         stateMemory // what the resources point to
	layout      uint64
	slots       int
	buffer      []uint64 // of the components
	generations []uint8  // of all slots
	inboxes     []savedBuffer
	waiting     []Command // of all inboxes, by row
	poses       poseCopy
}

// stateMemory is the resources of a State.
type stateMemory struct {
	rules   Rules
	clock   Clock
	score   Score
	mode    mode.State
	objects Objects
	scene   object.Scene // barrels, cubes and blasts only
}

// NewState allocates memory for copies of a match and of others with its slots and map. Copies of
// more objects than the match has room for now allocate again.
func NewState(m *Match) *State {
	s := &State{layout: m.Layout(), slots: m.World.Slots()}
	s.rules, s.clock, s.score, s.mode = &s.own.rules, &s.own.clock, &s.own.score, &s.own.mode
	s.objects, s.scene = &s.own.objects, &s.own.scene
	bytes := 0
	for _, t := range m.view.Types() {
		bytes += (int(t.Size())*s.slots + 7) &^ 7
	}
	s.buffer = make([]uint64, bytes/8)
	s.id = slices.Grow(s.id, s.slots)
	s.generations, s.inboxes = slices.Grow(s.generations, s.slots), slices.Grow(s.inboxes, s.slots)
	s.waiting = slices.Grow(s.waiting, 8*s.slots)
	s.objects.reserve(m.objects, s.slots)
	s.scene.Barrels = slices.Grow(s.scene.Barrels, cap(m.scene.Barrels))
	s.scene.Cubes = slices.Grow(s.scene.Cubes, cap(m.scene.Cubes))
	s.Copy(m)
	return s
}

// reserve makes room for as many rows as from has room for.
func (o *Objects) reserve(from *Objects, slots int) {
	o.Projectiles = slices.Grow(o.Projectiles, cap(from.Projectiles))
	o.Grenades = slices.Grow(o.Grenades, cap(from.Grenades))
	o.teleports = slices.Grow(o.teleports, cap(from.teleports))
	o.projectileIDs, o.grenadeIDs = newPool(cap(from.projectileIDs.gen)), newPool(cap(from.grenadeIDs.gen))
	for i := range from.Areas {
		a := &from.Areas[i]
		o.Areas = append(o.Areas, object.NewArea(a.Box, a.Kind, slots))
	}
}

// Copy copies what Hash and Checksums read. Call it right after Step.
func (s *State) Copy(m *Match) {
	c := m.open()
	defer c.close()
	s.own.rules, s.own.clock, s.own.score, s.own.mode = *c.rules, *c.clock, *c.score, *c.mode
	s.id = append(s.id[:0], c.id...)
	s.copyComponents(c.components())
	s.objects.copy(c.objects)
	s.scene.Barrels = append(s.scene.Barrels[:0], c.scene.Barrels...)
	s.scene.Cubes = append(s.scene.Cubes[:0], c.scene.Cubes...)
	s.scene.Blasts.Copy(&c.scene.Blasts)
}

// CopyAll copies what Append reads, too. It fails with ErrPending while a join or leave is pending,
// and then copies nothing.
func (s *State) CopyAll(m *Match) error {
	if m.World.Pending() > 0 {
		return ErrPending
	}
	s.Copy(m)
	s.generations = m.World.Generations(s.generations[:0])
	s.copyInboxes(m.commandBuffers.of)
	s.CopyPoses(m, m.Tick())
	return nil
}

// copyComponents copies columns into the buffer, each at a multiple of 8 bytes.
func (s *State) copyComponents(live []ecs.Memory) {
	words := 0
	for i := range live {
		words += (len(live[i].Bytes) + 7) / 8
	}
	if len(s.buffer) < words {
		s.buffer = make([]uint64, words)
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.buffer))), 8*len(s.buffer))
	s.copied = s.copied[:0]
	for i := range live {
		n := copy(bytes, live[i].Bytes)
		s.copied = append(s.copied, ecs.Memory{Type: live[i].Type, Bytes: bytes[:n:n]})
		bytes = bytes[min((n+7)&^7, len(bytes)):]
	}
}

// copy copies rows, pools and timers. Zones are those of the map.
func (o *Objects) copy(from *Objects) {
	o.Projectiles = append(o.Projectiles[:0], from.Projectiles...)
	o.Grenades = append(o.Grenades[:0], from.Grenades...)
	o.Ports = append(o.Ports[:0], from.Ports...)
	o.Occupied = append(o.Occupied[:0], from.Occupied...)
	o.teleports = append(o.teleports[:0], from.teleports...)
	o.projectileIDs.copy(&from.projectileIDs)
	o.grenadeIDs.copy(&from.grenadeIDs)
	for i := range o.Areas {
		o.Areas[i].RestoreNextHits(from.Areas[i].NextHits())
	}
}

func (p *idPool) copy(from *idPool) {
	p.gen, p.used = append(p.gen[:0], from.gen...), append(p.used[:0], from.used...)
}

// copyInboxes copies of each player's buffer what a later tick may take.
func (s *State) copyInboxes(in []CommandBuffer) {
	s.inboxes, s.waiting = s.inboxes[:0], s.waiting[:0]
	for _, id := range s.id {
		b := &in[id.Index()]
		row := savedBuffer{taken: b.taken, newest: b.newest, repeats: b.repeats, last: b.last}
		for t := b.taken + 1; t <= min(b.newest, b.taken+bufferTicks); t++ {
			if cmd := &b.ring[t%bufferTicks]; cmd.Tick == t {
				row.count++
				s.waiting = append(s.waiting, *cmd)
			}
		}
		s.inboxes = append(s.inboxes, row)
	}
}

// poseCopy is the poses of consecutive ticks, from first to next-1. rows has those of each tick one
// after the other, by slot; ID 0 is no pose.
type poseCopy struct {
	first, next tick.Tick
	rows        []rig.Pose
}

// CopyPoses copies the poses that the state of tick at will need and that are not copied yet. Called
// after each tick, it spreads the work of CopyAll: one tick's poses each.
func (s *State) CopyPoses(m *Match, at tick.Tick) {
	reach, now, p := m.reach(), m.Tick(), &s.poses
	first := at - min(at, reach) + 1
	if p.rows == nil {
		p.rows = make([]rig.Pose, 0, int(reach)*s.slots)
	}
	if p.first != first || p.next > now+1 {
		p.first, p.next, p.rows = first, first, p.rows[:0]
	}
	for ; p.next <= min(now, at); p.next++ {
		n := len(p.rows)
		p.rows = append(p.rows, m.history.Poses(p.next)...)
		held := len(p.rows)
		p.rows = p.rows[:n+s.slots]
		clear(p.rows[held:])
	}
}

// Tick is the tick after which the match was copied.
func (s *State) Tick() tick.Tick { return s.clock.Tick }

// Hash is Match.Hash of the match as it was copied.
func (s *State) Hash() uint64 { return s.hash() }

// Checksums is Match.Checksums of the match as it was copied.
func (s *State) Checksums(dst []Checksum) []Checksum { return s.checksums(dst) }

// CopiedBytes is the size of what Copy or CopyAll copied last, poses of earlier ticks left out.
func (s *State) CopiedBytes() (n int) {
	o := s.objects
	for i := range s.copied {
		n += len(s.copied[i].Bytes)
	}
	for _, m := range [...]ecs.Memory{
		memoryOf(s.id), memoryOf(s.generations), memoryOf(s.inboxes), memoryOf(s.waiting), memoryOf(o.Projectiles),
		memoryOf(o.Grenades), memoryOf(o.Ports), memoryOf(o.Occupied), memoryOf(o.teleports), memoryOf(o.projectileIDs.gen),
		memoryOf(o.projectileIDs.used), memoryOf(o.grenadeIDs.gen), memoryOf(o.grenadeIDs.used),
		memoryOf(s.scene.Barrels), memoryOf(s.scene.Cubes), memoryOf(s.scene.Blasts.Waiting()),
	} {
		n += len(m.Bytes)
	}
	for i := range o.Areas {
		n += len(memoryOf(o.Areas[i].NextHits()).Bytes)
	}
	return n
}
