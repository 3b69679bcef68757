package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
)

// Checksum is a fingerprint of one component or datum of a match.
type Checksum struct {
	Name string // a component's type, or a datum of the table
	Sum  uint32
}

// Checksums appends a fingerprint of each component and datum that the next tick depends on, in an
// order fixed by the build: two copies of a match that differ, differ in the checksum of what
// differs. History is excluded, see Hash.
func (m *Match) Checksums(dst []Checksum) []Checksum { return checksumsOf(m, dst) }

// checksumsOf is Checksums of a match or of a copy.
func checksumsOf(s stateSource, dst []Checksum) []Checksum {
	add := func(what string, columns ...ecs.Memory) {
		h := sum32(fnvStart32)
		for _, column := range columns {
			h = h.planes(column)
		}
		dst = append(dst, Checksum{what, uint32(h)})
	}
	clock, score, round := s.roundState()
	add("round", single(clock), single(score), single(round))
	for i, k := range kinds {
		ids, columns := s.rows(i)
		if k.count == nil {
			add(k.plural, memoryOf(ids))
		}
		for n, column := range columns {
			if k.columns[n].use&inChecksums != 0 {
				add(column.Type.String(), column)
			}
		}
	}
	add(string(dBlasts), memoryOf(s.waitingBlasts()))
	add(string(dAreas), memoryOf(s.nextAreaHits()))
	return dst
}

// Differ describes the first difference of two saved states of a match: the component, the number
// in it and the player, or the part; "" if they are equal. of is any match of their slots, rules
// and arena.
func Differ(a, b []byte, of *Match) string {
	if bytes.Equal(a, b) {
		return ""
	}
	rules, ground := *of.Rules(), of.Scene().Arena
	x, errX := Load(of.World.Slots(), rules, ground, a)
	y, errY := Load(of.World.Slots(), rules, ground, b)
	if errX != nil || errY != nil {
		return fmt.Sprintf("the states: %v, %v", errX, errY)
	}
	p, q := x.Checksums(nil), y.Checksums(nil)
	for i := range p {
		if p[i] != q[i] {
			return differIn(p[i].Name, x, y)
		}
	}
	return "history, inboxes or connections"
}

// differIn looks for the number that differs in a component.
func differIn(what string, x, y *Match) string {
	for _, k := range kinds {
		ids, m := x.memory(k)
		others, n := y.memory(k)
		for i := range m {
			if m[i].Type.String() != what {
				continue
			}
			if len(ids) != len(others) {
				return fmt.Sprintf("%s: %d rows of kind %s, not %d", what, len(others), k.name, len(ids))
			}
			if d := differInColumn(k, ids, m[i], n[i]); d != "" {
				return what + d
			}
		}
	}
	return what
}

// differInColumn names the first number that differs, and its row.
func differInColumn(k *kindSpec, ids []netid.ID, m, n ecs.Memory) string {
	size := m.Type.Size()
	for row, id := range ids {
		for _, l := range scalarsOf(m.Type) {
			at := uintptr(row)*size + l.offset
			if u, v := m.Bytes[at:at+l.size], n.Bytes[at:at+l.size]; !bytes.Equal(u, v) {
				return fmt.Sprintf("%s of %s %v: %s, not %s", l.name, k.name, id, l.text(v), l.text(u))
			}
		}
	}
	return ""
}

// text formats a number.
func (l *scalar) text(raw []byte) string {
	var b [8]byte
	copy(b[:], raw)
	v := binary.LittleEndian.Uint64(b[:])
	switch l.kind {
	case reflect.Float32:
		return fmt.Sprint(math.Float32frombits(uint32(v)))
	case reflect.Float64:
		return fmt.Sprint(math.Float64frombits(v))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		shift := 64 - 8*l.size
		return fmt.Sprint(int64(v<<shift) >> shift)
	}
	return fmt.Sprint(v)
}
