package snapshot

import (
	"errors"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// ErrSum says that a section decodes to other rows than its sender has: one end holds a baseline
// that the other does not.
var ErrSum = errors.New("snapshot: rows differ from the sender's")

// sumRow is the checksum of one row. The sum of a section is that of the rows that it says to be
// there, modulo 2^32:
//
//	h = net id; for each field: h = (h xor value) * 0x9e3779b97f4a7c15 mod 2^64, h = h xor h>>32
//
// The result is the low 32 bits. It finds faults, not forgery: a sender of snapshots can state
// anything.
func sumRow(id netid.ID, r int, values []fieldBlock) uint32 {
	h := uint64(id)
	for i := range values {
		h = (h ^ uint64(uint32(values[i][r&15]))) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return uint32(h)
}

// Checksums holds the checksums of one frame's rows, each made on first use, for all clients. It
// takes 4.1 bytes a slot.
type Checksums struct {
	frame *Frame
	made  []uint64
	sum   []uint32
}

// Begin turns to another frame, which must not change until the next Begin.
func (s *Checksums) Begin(f *Frame) {
	s.frame = f
	if len(s.sum) < f.Slots() {
		s.sum = make([]uint32, f.Slots())
		s.made = make([]uint64, len(f.known))
	}
	clear(s.made)
}

// row is the checksum of a slot in use.
func (s *Checksums) row(slot int) uint32 {
	if bit := uint64(1) << (slot & 63); s.made[slot>>6]&bit == 0 {
		s.made[slot>>6] |= bit
		g, r := slot/GroupRows, slot%GroupRows
		s.sum[slot] = sumRow(s.frame.ids[g][r], r, s.frame.group(g))
	}
	return s.sum[slot]
}

// Sum is the checksum of what Next has just written: of count groups from first on. s is at the
// packer's frame.
func (p *Packer) Sum(s *Checksums, first, count int) (sum uint32) {
	sent := p.encoder.frame.occupied
	if r := &p.rows; r.on {
		sent = r.state.visible(r.tracker.at)
	}
	for i := first / wordGroups; i*wordGroups < first+count && i < len(sent); i++ {
		for w := sent[i] & groupMask(i, first, first+count); w != 0; w &= w - 1 {
			sum += s.row(i*64 + bits.TrailingZeros64(w))
		}
	}
	return sum
}

// CheckedSection is Section for a section sent with a checksum. If it decodes to other rows than
// the sender has, the error is ErrSum and nothing is kept.
func (d *Decoder) CheckedSection(t tick.Tick, src []byte, sum uint32) error {
	if err := d.schema.name(d.read(t, src)); err != nil {
		return err
	}
	if d.sum() != sum {
		return ErrSum
	}
	d.commit(t)
	return nil
}

// sum is the checksum of the rows in the stage.
func (d *Decoder) sum() (sum uint32) {
	for _, s := range d.staged {
		values := d.stage.group(s.group)
		for rows := s.rows; rows != 0; rows &= rows - 1 {
			r := bits.TrailingZeros16(rows)
			if id := d.stage.ids[s.group][r]; id != 0 {
				sum += sumRow(id, r, values)
			}
		}
	}
	return sum
}
