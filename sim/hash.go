package sim

import (
	"reflect"
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/lagcomp"
)

// Hash returns a fingerprint of everything that the next tick depends on besides its inputs:
// players, objects, the round, the clock. It is FNV-1a over their numbers, field by field, without
// padding. Waiting commands and measurements of connections come from outside and are excluded,
// except for the view that a player's last shot was judged by; history is excluded, as it follows
// from earlier ticks. Two matches with the same inputs have the same hash after every tick.
func (m *Match) Hash() uint64 {
	c := m.open()
	defer c.close()
	return c.hash()
}

// hash is Hash of open columns or of a State.
func (c *columns) hash() uint64 {
	o := c.objects
	h := sum64(fnvStart64)
	for _, rows := range [...]ecs.Memory{
		single(c.clock), single(c.score), single(c.mode), memoryOf(c.id),
	} {
		h = h.rows(rows)
	}
	for _, column := range c.components() { // clamp limits are the last
		switch {
		case isOutside(column.Type):
			h = h.lastInstants(column.Bytes)
		case column.Type != reflect.TypeFor[Command]():
			h = h.rows(column)
		}
	}
	for _, rows := range [...]ecs.Memory{
		memoryOf(o.Projectiles), memoryOf(o.Grenades), memoryOf(c.scene.Barrels), memoryOf(c.scene.Cubes),
		memoryOf(o.Ports), memoryOf(o.teleports),
		memoryOf(o.Occupied), memoryOf(c.scene.Blasts.Waiting()),
	} {
		h = h.rows(rows)
	}
	for i := range o.Areas {
		h = h.rows(memoryOf(o.Areas[i].NextHits()))
	}
	return uint64(h)
}

// FNV-1a as in package hash/fnv, without a state on the heap.
const (
	fnvStart64 = 14695981039346656037
	fnvPrime64 = 1099511628211
	fnvStart32 = 2166136261
	fnvPrime32 = 16777619
)

// sum64 is a running 64-bit FNV-1a.
type sum64 uint64

// rows adds rows one after the other, number by number. Little-endian machines only, see
// appendPlanes.
func (h sum64) rows(m ecs.Memory) sum64 {
	stride, numbers := m.Type.Size(), scalarsOf(m.Type)
	for row := uintptr(0); row < uintptr(len(m.Bytes)); row += stride {
		for _, l := range numbers {
			for _, b := range m.Bytes[row+l.offset:][:l.size] {
				h = (h ^ sum64(b)) * fnvPrime64
			}
		}
	}
	return h
}

// lastInstants adds the instant of each player's last shot, from the column of clamp limits.
func (h sum64) lastInstants(column []byte) sum64 {
	const at, size = unsafe.Offsetof(lagcomp.ClampLimits{}.LastInstant), unsafe.Sizeof(ClampLimits{})
	for ; len(column) > 0; column = column[size:] {
		for _, b := range column[at:][:unsafe.Sizeof(lagcomp.ClampLimits{}.LastInstant)] {
			h = (h ^ sum64(b)) * fnvPrime64
		}
	}
	return h
}

// sum32 is a running 32-bit FNV-1a.
type sum32 uint32

// planes adds rows in the order in which appendPlanes writes them.
func (h sum32) planes(m ecs.Memory) sum32 {
	stride := m.Type.Size()
	for _, l := range scalarsOf(m.Type) {
		for b := range l.size {
			for at := l.offset + b; at < uintptr(len(m.Bytes)); at += stride {
				h = (h ^ sum32(m.Bytes[at])) * fnvPrime32
			}
		}
	}
	return h
}

// isOutside reports whether a component is measured outside the match, and so not part of a
// fingerprint.
func isOutside(t reflect.Type) bool { return t == reflect.TypeFor[ClampLimits]() }
