package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/tickrate/tickrate/ecs"
)

// Checksum is a fingerprint of one component or datum of a match.
type Checksum struct {
	Name string // a component's type, or a datum of the table
	Sum  uint32
}

// Checksums appends a fingerprint of each component and datum that the next tick depends on, in an
// order fixed by the build: two copies of a match that differ, differ in the checksum of what
// differs. History is excluded, see Hash.
func (m *Match) Checksums(dst []Checksum) []Checksum {
	c := m.open()
	defer c.close()
	return c.checksums(dst)
}

// checksums is Checksums of open columns or of a State.
func (c *columns) checksums(dst []Checksum) []Checksum {
	o := c.objects
	add := func(what string, columns ...ecs.Memory) {
		h := sum32(fnvStart32)
		for _, column := range columns {
			h = h.planes(column)
		}
		dst = append(dst, Checksum{what, uint32(h)})
	}
	add("round", single(c.clock), single(c.score), single(c.mode))
	add("players", memoryOf(c.id))
	for _, column := range c.components() {
		if !isOutside(column.Type) {
			add(column.Type.String(), column)
		}
	}
	add(string(dProjectiles), memoryOf(o.Projectiles))
	add(string(dGrenades), memoryOf(o.Grenades))
	add(string(dBarrels), memoryOf(c.scene.Barrels))
	add(string(dCubes), memoryOf(c.scene.Cubes))
	add(string(dTeleporters), memoryOf(o.Ports), memoryOf(o.teleports))
	add(string(dZones), memoryOf(o.Occupied))
	add(string(dBlasts), memoryOf(c.scene.Blasts.Waiting()))
	h := sum32(fnvStart32)
	for i := range o.Areas {
		h = h.planes(memoryOf(o.Areas[i].NextHits()))
	}
	dst = append(dst, Checksum{string(dAreas), uint32(h)})
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
	c, d := x.open(), y.open()
	defer c.close()
	defer d.close()
	if len(c.id) != len(d.id) || len(c.id) == 0 {
		return fmt.Sprintf("%s: %d players, not %d", what, len(d.id), len(c.id))
	}
	m, n := c.components(), d.components()
	for i := range m {
		if m[i].Type.String() != what {
			continue
		}
		size := m[i].Type.Size()
		for row, id := range c.id {
			for _, l := range scalarsOf(m[i].Type) {
				at := uintptr(row)*size + l.offset
				if u, v := m[i].Bytes[at:at+l.size], n[i].Bytes[at:at+l.size]; !bytes.Equal(u, v) {
					return fmt.Sprintf("%s%s of player %v: %s, not %s", what, l.name, id, l.text(v),
						l.text(u))
				}
			}
		}
	}
	return what
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
