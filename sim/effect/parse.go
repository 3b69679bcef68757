package effect

import (
	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/object"
)

// Meter counts the bits of parts.
type Meter struct {
	Head   uint64 // counts, ids and ages
	Impact uint64
	Damage uint64
	Fill   uint64 // after the last effect
}

// Each calls do with each count of a meter, by name and reason.
func (m *Meter) Each(do func(field, reason string, bits uint64)) {
	do("", "head", m.Head)
	do("impact", "event", m.Impact)
	do("damage", "event", m.Damage)
	do("", "fill", m.Fill)
}

// Parse reads what Append wrote: n effects into items, and the bytes after them. Impacts on players
// have no Pos and Dir, others no Dir. The error is ErrPart.
func (f *Format) Parse(now tick.Tick, src []byte, items *[MaxItems]Item) (n int, rest []byte, err error) {
	var m Meter
	return f.parse(now, src, items, &m)
}

// Explain adds the bits of a part to a meter, and returns the bytes after it.
func (f *Format) Explain(m *Meter, now tick.Tick, src []byte) (rest []byte, err error) {
	var items [MaxItems]Item
	_, rest, err = f.parse(now, src, &items, m)
	return rest, err
}

// parse reads a part. It adds nothing to the meter if it fails.
func (f *Format) parse(now tick.Tick, src []byte, items *[MaxItems]Item, m *Meter) (int, []byte, error) {
	var r bitio.Reader
	var sum Meter
	r.Reset(src)
	count, id := int(r.Bits(countBits))+1, uint8(r.Bits(idBits))
	sum.Head = HeadBits
	for i := range items[:count] {
		at := r.Left()
		if i > 0 {
			gap := uint8(1)
			if r.Bits(1) != 0 {
				if gap = uint8(r.Bits(gapBits)); gap == 0 {
					return 0, src, ErrPart
				}
			}
			id += gap
		}
		age := tick.Tick(r.Bits(f.age))
		if age > f.life || age >= now {
			return 0, src, ErrPart
		}
		sum.Head += uint64(at - r.Left())
		at = r.Left()
		e := &items[i]
		*e = Item{Effect: Effect{Count: 1, Tick: now - age}, ID: id, SourceSlot: -1, TargetSlot: -1}
		if !f.parseItem(&r, e) {
			return 0, src, ErrPart
		}
		if e.Kind == Damage {
			sum.Damage += uint64(at - r.Left())
		} else {
			sum.Impact += uint64(at - r.Left())
		}
	}
	sum.Fill = uint64(r.Left() & 7)
	if r.Bits(uint(sum.Fill)) != 0 || r.Err() != nil {
		return 0, src, ErrPart
	}
	m.Head, m.Impact, m.Damage, m.Fill = m.Head+sum.Head, m.Impact+sum.Impact, m.Damage+sum.Damage,
		m.Fill+sum.Fill
	return count, r.Rest(), nil
}

// parseItem reads an effect behind its age, and reports whether its numbers are in range.
func (f *Format) parseItem(r *bitio.Reader, e *Item) bool {
	kind := r.Bits(kindBits)
	if r.Bits(1) != 0 {
		e.SourceSlot = int16(r.Bits(f.slot))
	}
	if int(e.SourceSlot) >= f.slots {
		return false
	}
	if kind == wireDamage {
		e.Kind = Damage
		return parseDamage(r, &e.Effect)
	}
	e.Kind, e.Surface = Impact, Surface(kind)
	if r.Bits(1) != 0 {
		e.Count = uint8(2 + r.Bits(equalBits))
	}
	if e.Surface == Player {
		e.TargetSlot, e.Bone = int16(r.Bits(f.slot)), rig.Bone(r.Bits(boneBits))
		return int(e.TargetSlot) < f.slots && e.Bone < rig.Bones
	}
	var n [3]uint64
	for i := range n {
		if n[i] = r.Bits(f.place[i]); n[i] > f.top[i] {
			return false
		}
	}
	e.Pos = f.placeOf(n)
	return true
}

// parseDamage reads what appendDamage wrote.
func parseDamage(r *bitio.Reader, e *Effect) bool {
	e.Cause = object.Cause(r.Bits(causeBits))
	if r.Bits(1) != 0 {
		yaw := r.Bits(yawBits)
		e.Dir = directionOf(yaw, r.Bits(pitchBits))
	}
	e.Strength = float32(r.Bits(speedBits)) * speedUnit
	e.Amount = uint16(r.Bits(pointsBits))
	return e.Cause.Known()
}
