package snapshot

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// GroupRows is the number of rows in a group.
const GroupRows = 16

// fieldBlock is one field of the 16 rows of a group: a cache line.
type fieldBlock [GroupRows]int32

// idBlock is the ids of a group; 0 is an empty slot.
type idBlock [GroupRows]netid.ID

// Frame is the state of all rows at one tick. Values are laid out group by group, and in a group
// field by field, because groups are what the encoder compares and codes:
//
//	blocks  [group][field][row]int32
//	ids     [group][row]netid.ID
//
// A frame of n slots and f fields takes n*(4*f+4) bytes, n rounded up to 16. In a ring that grows,
// values of groups that were never in use take none.
type Frame struct {
	Tick     tick.Tick
	fields   []schema.Field
	ids      []idBlock
	blocks   []fieldBlock
	known    []uint64 // bit per slot: captured or decoded, be it empty
	occupied []uint64 // bit per slot: in use
	groups   int      // groups up to the last one in use

	usual   int            // groups that blocks has
	unusual *unusualGroups // the groups after them
	index   int            // of the frame in its ring
}

// unusualGroups are the values of groups that a ring makes with their first use, by group and then
// by frame.
type unusualGroups struct {
	first, frames int
	blocks        [][]fieldBlock
}

// beyond is group for a group that is not in blocks. It is a call of its own so that group is none.
//
//go:noinline
func (f *Frame) beyond(g int) []fieldBlock {
	u := f.unusual
	n, group := len(f.fields), &u.blocks[g-u.first]
	if *group == nil {
		*group = make([]fieldBlock, u.frames*n)
	}
	return (*group)[f.index*n : (f.index+1)*n : (f.index+1)*n]
}

// wordGroups is the number of groups in a word of a bit set over slots. Slot s is bit s%64 of word
// s/64, so the rows of group g are the 16 bits from g%4*16 on of word g/4.
const wordGroups = 64 / GroupRows

// rowsOf returns the 16 bits of group g in a bit set over slots.
func rowsOf(set []uint64, g int) uint16 { return uint16(set[g>>2] >> (g & 3 * GroupRows)) }

// newFrames returns n empty frames for slots rows of s, side by side in memory. s must pass Check;
// slots is rounded up to whole groups.
func newFrames(s schema.Schema, slots, n int) []Frame { return newGrowingFrames(s, slots, slots, n) }

// newGrowingFrames returns n frames as newFrames does, with values of usual rows. Memory for others
// is made with the first one.
func newGrowingFrames(s schema.Schema, usual, slots, n int) []Frame {
	if err := s.Check(); err != nil {
		panic(err.Error())
	}
	if slots <= 0 || slots > MaxGroups*GroupRows {
		panic(fmt.Sprintf("snapshot: %d slots, want 1 to %d", slots, MaxGroups*GroupRows))
	}
	groups := (slots + GroupRows - 1) / GroupRows
	flat := min((usual+GroupRows-1)/GroupRows, groups)
	words := (groups + wordGroups - 1) / wordGroups
	frames, ids, sets := make([]Frame, n), make([]idBlock, n*groups), make([]uint64, 2*n*words)
	values := make([]fieldBlock, n*flat*len(s.Fields))
	unusual := &unusualGroups{first: flat, frames: n, blocks: make([][]fieldBlock, groups-flat)}
	for i := range frames {
		f := &frames[i]
		f.usual, f.unusual, f.index = flat, unusual, i
		f.fields = s.Fields
		f.ids, ids = cut(ids, groups)
		f.blocks, values = cut(values, flat*len(s.Fields))
		f.known, sets = cut(sets, words)
		f.occupied, sets = cut(sets, words)
	}
	return frames
}

// cut splits off the first n elements.
func cut[T any](all []T, n int) (first, rest []T) { return all[:n:n], all[n:] }

// Reset empties every slot and stamps the frame with a tick. All its slots count as known.
func (f *Frame) Reset(t tick.Tick) {
	clear(f.ids[:f.groups])
	clear(f.occupied)
	f.Tick, f.groups = t, 0
	for i := range f.known {
		f.known[i] = ^uint64(0)
	}
}

// Slots is the number of slots, a multiple of GroupRows.
func (f *Frame) Slots() int { return len(f.ids) * GroupRows }

// HasGroup reports whether all rows of group g are known: always on a server; on a client as far
// as datagrams arrived.
func (f *Frame) HasGroup(g int) bool {
	return uint(g) < uint(len(f.ids)) && rowsOf(f.known, g) == allRows
}

const allRows = 1<<GroupRows - 1

// HasRow reports whether it is known what a slot holds, be it nothing: always on a server; on a
// client as far as datagrams arrived. A slot that is not known reads as empty.
func (f *Frame) HasRow(slot int) bool {
	return uint(slot) < uint(f.Slots()) && f.known[slot>>6]>>(slot&63)&1 != 0
}

// Set fills a slot. row has one value per field. Values out of range are clamped, and wrapped
// where the field wraps, so that every captured row can be sent. It panics if id does not name that
// slot, the frame has no such slot, or the row is too short.
func (f *Frame) Set(slot int, id netid.ID, row []int32) {
	if id.Index() != slot || id == 0 || uint(slot) >= uint(f.Slots()) || len(row) < len(f.fields) {
		panic(fmt.Sprintf("snapshot: %v with %d values set in slot %d, want an id of that slot, slot 0 to %d, %d values",
			id, len(row), slot, f.Slots()-1, len(f.fields)))
	}
	g, r := slot/GroupRows, slot%GroupRows
	f.ids[g][r] = id
	f.occupied[slot>>6] |= 1 << (slot & 63)
	f.groups = max(f.groups, g+1)
	values := f.group(g)
	row = row[:len(values)]
	fields := f.fields[:len(values)]
	for i := range values {
		values[i][r] = fields[i].Clamp(row[i])
	}
}

// ID returns the id in a slot: 0 for an empty slot, or one that does not exist.
func (f *Frame) ID(slot int) netid.ID {
	if uint(slot) >= uint(f.Slots()) {
		return 0
	}
	return f.ids[slot/GroupRows][slot%GroupRows]
}

// Row copies a slot's values to dst, which has room for one per field, and returns its id. For an
// empty slot, or one that does not exist, dst is zeroed and the id is 0. It panics if dst is too short.
func (f *Frame) Row(slot int, dst []int32) netid.ID {
	if len(dst) < len(f.fields) {
		panic(fmt.Sprintf("snapshot: row of slot %d read into %d values, want %d", slot, len(dst), len(f.fields)))
	}
	id := f.ID(slot)
	if id == 0 {
		clear(dst)
		return 0
	}
	for i, l := range f.group(slot / GroupRows) {
		dst[i] = l[slot%GroupRows]
	}
	return id
}

// Value is one field of a slot in use (see ID).
func (f *Frame) Value(slot, field int) int32 {
	return f.group(slot / GroupRows)[field][slot%GroupRows]
}

// Used is the number of slots up to the end of the last group in use.
func (f *Frame) Used() int { return f.groups * GroupRows }

// Len is the number of slots in use.
func (f *Frame) Len() (n int) {
	for _, w := range f.occupied {
		n += bits.OnesCount64(w)
	}
	return n
}

// GroupEqual reports whether both frames hold the same rows in group g. Values of empty slots do
// not count.
func (f *Frame) GroupEqual(o *Frame, g int) bool {
	if f.ids[g] != o.ids[g] {
		return false
	}
	if f.ids[g] == empty {
		return true
	}
	a, b := f.group(g), o.group(g)
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		for r, id := range f.ids[g] {
			if id != 0 && a[i][r] != b[i][r] {
				return false
			}
		}
	}
	return true
}

// group returns the values of a group, one block per field.
func (f *Frame) group(g int) []fieldBlock {
	if g >= f.usual {
		return f.beyond(g)
	}
	return f.blocks[g*len(f.fields):][:len(f.fields)]
}
