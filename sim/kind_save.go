package sim

import (
	"encoding/binary"
	"fmt"

	"github.com/tickrate/tickrate/ecs/netid"
)

// saveKinds writes all kinds in the order of their pages: for one that the map places the number of
// rows, for any other the generations of its slots and the ids row by row; then every column that
// is part of a state.
func saveKinds(s *State, dst []byte) []byte {
	for i, k := range kinds {
		c := &s.kinds[i]
		if k.count != nil {
			dst = binary.AppendUvarint(dst, uint64(len(c.ids)))
		} else {
			dst = appendList(appendList(dst, c.generations), c.ids)
		}
		for n := range c.columns {
			if k.columns[n].use&inState != 0 {
				dst = appendPlanes(dst, c.columns[n])
			}
		}
	}
	return dst
}

// loadKinds reads what saveKinds wrote, and checks all rows.
func loadKinds(m *Match, src []byte) (_ []byte, err error) {
	for _, k := range kinds {
		if src, err = m.loadKind(k, src); err != nil {
			return nil, fmt.Errorf("%w, of kind %s", err, k.name)
		}
	}
	m.bindKinds()
	for _, k := range kinds {
		if k.valid == nil {
			continue
		}
		if err := k.valid(m); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// loadKind reads the rows of a kind, in place of those that the match has.
func (m *Match) loadKind(k *kindSpec, src []byte) ([]byte, error) {
	var err error
	if k.count != nil {
		rows, n := binary.Uvarint(src)
		if have := m.World.Count(m.kinds[k.page]); n <= 0 || rows != uint64(have) {
			return nil, fmt.Errorf("%w: %d rows, expected %d", ErrState, rows, have)
		}
		src = src[n:]
	} else if src, err = m.loadRows(k, src); err != nil {
		return nil, err
	}
	_, columns := m.memory(k)
	for i := range columns {
		if k.columns[i].use&inState == 0 {
			continue
		}
		if src, err = parsePlanes(src, columns[i]); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// loadRows rebuilds the slots and rows of a kind.
func (m *Match) loadRows(k *kindSpec, src []byte) ([]byte, error) {
	most := m.World.Capacity(m.kinds[k.page])
	generations, src, err := parseList[uint8](src, nil, most)
	if err != nil {
		return nil, err
	}
	ids, src, err := parseList[netid.ID](src, nil, most)
	if err != nil {
		return nil, err
	}
	if err = m.World.Restore(m.kinds[k.page], ids, generations); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return src, nil
}
