package sim

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// State is a copy of a match after a Step: its columns, moved as they lie in memory into a buffer
// that is used again. Copying takes microseconds; encoding, hashing and checksums of the copy take
// their time on any goroutine, while the match goes on. A State belongs to one goroutine at a time.
type State struct {
	slots         int
	respawnMillis int32
	clock         Clock
	score         Score
	mode          mode.State
	kinds         []kindCopy // by kinds
	buffer        []uint64   // of their columns
	blasts        object.Blasts
	areaHits      []tick.Tick
	inboxes       []savedBuffer
	waiting       []Command // of all inboxes, by row
	poses         poseCopy
}

// kindCopy is the rows of a kind.
type kindCopy struct {
	ids         []netid.ID
	generations []uint8      // of its slots
	columns     []ecs.Memory // those that follow from the map without their bytes
	fixed       bool         // nothing of the kind changes during a match
}

// NewState allocates memory for copies of a match and of others with its slots and map. Copies of
// more entities than a match takes memory for allocate again.
func NewState(m *Match) *State {
	s := &State{slots: m.World.Slots(), kinds: make([]kindCopy, len(kinds))}
	bytes := 0
	for i, k := range kinds {
		_, rows := k.size(m, s.slots)
		c := &s.kinds[i]
		c.ids, c.generations = slices.Grow(c.ids, rows), slices.Grow(c.generations, rows)
		for _, column := range k.columns {
			if column.use != derived {
				bytes += (int(column.typ.Size())*rows + 7) &^ 7
			}
		}
		c.columns = make([]ecs.Memory, 0, len(k.columns))
	}
	s.buffer = make([]uint64, bytes/8)
	s.areaHits = slices.Grow(s.areaHits, len(m.objects.areaHits.Next()))
	s.inboxes, s.waiting = slices.Grow(s.inboxes, s.slots), slices.Grow(s.waiting, 8*s.slots)
	s.Copy(m)
	for i, k := range kinds {
		changes := func(c columnSpec) bool { return c.use != derived }
		s.kinds[i].fixed = k.count != nil && !slices.ContainsFunc(k.columns, changes)
	}
	return s
}

// Copy copies what Hash and Checksums read. Call it right after Step.
func (s *State) Copy(m *Match) {
	s.respawnMillis, s.clock, s.score, s.mode = m.rules.RespawnMillis, *m.clock, *m.score, *m.mode
	words := 0
	for i := range kinds {
		if !s.kinds[i].fixed {
			words = s.copyKind(m, i, words)
		}
	}
	s.blasts.Copy(&m.scene.Blasts)
	s.areaHits = append(s.areaHits[:0], m.objects.areaHits.Next()...)
}

// copyKind copies the rows of kinds[i] to the buffer from a word on, each column at a multiple of 8
// bytes, and returns the word after them.
func (s *State) copyKind(m *Match, i, word int) int {
	k, c := kinds[i], &s.kinds[i]
	ids, columns := m.memory(k)
	c.ids, c.columns = append(c.ids[:0], ids...), c.columns[:0]
	for n := range columns {
		size := len(columns[n].Bytes)
		if k.columns[n].use == derived {
			size = 0
		}
		bytes := s.bytes(word, size)
		copy(bytes, columns[n].Bytes)
		c.columns = append(c.columns, ecs.Memory{Type: columns[n].Type, Bytes: bytes})
		word += (size + 7) / 8
	}
	return word
}

// bytes is size bytes of the buffer from a word on. What lay in a buffer that was too small stays
// there.
func (s *State) bytes(word, size int) []byte {
	if size == 0 {
		return nil
	}
	if need := word + (size+7)/8; len(s.buffer) < need {
		s.buffer = make([]uint64, need+need/4)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s.buffer[word])), size)
}

// CopyAll copies what Append reads, too. It fails with ErrPending while a join or leave is pending,
// and then copies nothing.
func (s *State) CopyAll(m *Match) error {
	if m.World.Pending() > 0 {
		return ErrPending
	}
	s.Copy(m)
	for i, k := range kinds {
		if k.count == nil {
			s.kinds[i].generations = m.World.Generations(m.kinds[k.page], s.kinds[i].generations[:0])
		}
	}
	s.copyInboxes(m.commandBuffers.of)
	s.CopyPoses(m, m.Tick(), math.MaxInt)
	return nil
}

// copyInboxes copies of each player's buffer what a later tick may take.
func (s *State) copyInboxes(in []CommandBuffer) {
	s.inboxes, s.waiting = s.inboxes[:0], s.waiting[:0]
	for _, id := range s.kinds[pagePlayer].ids {
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

// CopyPoses copies the poses that the state of tick at will need and that are not copied yet, of at
// most that many ticks. Called after each tick, it spreads the work of CopyAll.
func (s *State) CopyPoses(m *Match, at tick.Tick, most int) {
	reach, now, p := m.reach(), m.Tick(), &s.poses
	first := at - min(at, reach) + 1
	if p.rows == nil {
		p.rows = make([]rig.Pose, 0, int(reach)*s.slots)
	}
	if p.first != first || p.next > now+1 {
		p.first, p.next, p.rows = first, first, p.rows[:0]
	}
	for ; p.next <= min(now, at) && most > 0; p.next++ {
		most--
		n := len(p.rows)
		p.rows = append(p.rows, m.history.Poses(p.next)...)
		held := len(p.rows)
		p.rows = p.rows[:n+s.slots]
		clear(p.rows[held:])
	}
}

// Slots is the most players of the match.
func (s *State) Slots() int { return s.slots }

// Tick is the tick after which the match was copied.
func (s *State) Tick() tick.Tick { return s.clock.Tick }

// Hash is Match.Hash of the match as it was copied.
func (s *State) Hash() uint64 { return hashOf(s) }

// Checksums is Match.Checksums of the match as it was copied.
func (s *State) Checksums(dst []Checksum) []Checksum { return checksumsOf(s, dst) }

func (s *State) roundState() (*Clock, *Score, *mode.State) { return &s.clock, &s.score, &s.mode }
func (s *State) waitingBlasts() []object.Blast             { return s.blasts.Waiting() }
func (s *State) nextAreaHits() []tick.Tick                 { return s.areaHits }
func (s *State) rows(i int) (ids []netid.ID, columns []ecs.Memory) {
	return s.kinds[i].ids, s.kinds[i].columns
}

// CopiedBytes is the size of what Copy or CopyAll copied last, poses of earlier ticks left out.
func (s *State) CopiedBytes() (n int) {
	for i := range s.kinds {
		c := &s.kinds[i]
		n += len(memoryOf(c.ids).Bytes) + len(c.generations)
		for k := range c.columns {
			n += len(c.columns[k].Bytes)
		}
	}
	for _, m := range [...]ecs.Memory{
		memoryOf(s.inboxes), memoryOf(s.waiting), memoryOf(s.blasts.Waiting()), memoryOf(s.areaHits),
	} {
		n += len(m.Bytes)
	}
	return n
}
