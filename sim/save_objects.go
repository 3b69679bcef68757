package sim

import (
	"encoding/binary"

	"github.com/tickrate/tickrate/sim/object"
)

// maxSaved bounds how many blasts a saved state may have.
const maxSaved = 1 << 16

// saveAreaHits writes the next time at which each area may hurt each slot.
func saveAreaHits(s *State, dst []byte) []byte { return appendPlanes(dst, memoryOf(s.areaHits)) }

// loadAreaHits reads what saveAreaHits wrote.
func loadAreaHits(m *Match, src []byte) ([]byte, error) {
	return parsePlanes(src, memoryOf(m.objects.areaHits.Next()))
}

// saveBlasts writes the explosions that wait, and the counters.
func saveBlasts(s *State, dst []byte) []byte {
	b := &s.blasts
	dst = appendList(dst, b.Waiting())
	for _, n := range []uint64{b.Deferred, b.Merged, b.Resolved} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// loadBlasts reads what saveBlasts wrote.
func loadBlasts(m *Match, src []byte) ([]byte, error) {
	b := &m.scene.Blasts
	blasts, src, err := parseList[object.Blast](src, nil, maxSaved)
	if err != nil {
		return nil, err
	}
	for _, n := range []*uint64{&b.Deferred, &b.Merged, &b.Resolved} {
		v, k := binary.Uvarint(src)
		if k <= 0 {
			return nil, wrong("count of blasts", k)
		}
		*n, src = v, src[k:]
	}
	for i := range blasts {
		if !blasts[i].Valid() {
			return nil, wrong("blast", blasts[i])
		}
		b.Add(blasts[i])
	}
	return src, nil
}
