package sim

import (
	"reflect"
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// Hash returns a fingerprint of everything that the next tick depends on besides its inputs:
// players, objects, the round, the clock. It is FNV-1a over their numbers, field by field, without
// padding. Waiting commands and measurements of connections come from outside and are excluded,
// except for the view that a player's last shot was judged by; history is excluded, as it follows
// from earlier ticks. Two matches with the same inputs have the same hash after every tick.
func (m *Match) Hash() uint64 { return hashOf(m) }

// stateSource is what has the state of a match: the match, or a copy.
type stateSource interface {
	roundState() (*Clock, *Score, *mode.State)
	rows(i int) (ids []netid.ID, columns []ecs.Memory) // of kinds[i]; valid until the next call
	waitingBlasts() []object.Blast
	nextAreaHits() []tick.Tick
}

func (m *Match) roundState() (*Clock, *Score, *mode.State)         { return m.clock, m.score, m.mode }
func (m *Match) rows(i int) (ids []netid.ID, columns []ecs.Memory) { return m.memory(kinds[i]) }
func (m *Match) waitingBlasts() []object.Blast                     { return m.scene.Blasts.Waiting() }
func (m *Match) nextAreaHits() []tick.Tick                         { return m.objects.areaHits.Next() }

// hashOf is Hash of a match or of a copy.
func hashOf(s stateSource) uint64 {
	clock, score, round := s.roundState()
	h := sum64(fnvStart64).rows(single(clock)).rows(single(score)).rows(single(round))
	for i, k := range kinds {
		ids, columns := s.rows(i)
		// Rows of other kinds hold their ids, or never move.
		if k.page == pagePlayer || k.page >= pageSparse {
			h = h.rows(memoryOf(ids))
		}
		for n := range columns {
			if k.columns[n].use&inHash != 0 {
				h = h.rows(columns[n])
			} else if k.columns[n].typ == reflect.TypeFor[ClampLimits]() {
				h = h.lastInstants(columns[n].Bytes)
			}
		}
	}
	return uint64(h.rows(memoryOf(s.waitingBlasts())).rows(memoryOf(s.nextAreaHits())))
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
