package sim

import (
	"hash/fnv"
	"unsafe"
)

// Hash returns a fingerprint of the players' state, the clock and the score after a tick: FNV-1a over the columns, row
// by row. Commands that wait and what is known of connections are inputs of later ticks and not in it. Two matches that were fed the same commands agree in it after every tick.
func (m *Match) Hash() uint64 {
	c := m.open()
	defer c.close()
	h := fnv.New64a()
	put(h.Write, []Clock{*c.clock})
	put(h.Write, []Score{*c.score})
	put(h.Write, c.id)
	put(h.Write, c.pos)
	put(h.Write, c.vel)
	for i := range c.state { // field by field: padding is not state
		s, v, w := c.state[i], c.vital[i], c.weapon[i]
		reloading := uint32(0)
		if w.Reloading {
			reloading = 1
		}
		put(h.Write, []uint32{uint32(s.Loco), uint32(s.Jumps), uint32(s.Since), uint32(s.Held), uint32(v.Health), uint32(v.Team), uint32(v.Shots),
			uint32(v.Kills), uint32(v.Deaths), uint32(v.Respawn), uint32(w.Ammo), reloading, uint32(w.Cool), uint32(w.Cone),
			uint32(c.look[i].Yaw), uint32(c.look[i].Pitch)})
	}
	return h.Sum64()
}

// put writes the bytes of a column; T must have no padding.
func put[T any](write func([]byte) (int, error), col []T) {
	if len(col) == 0 {
		return
	}
	_, _ = write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(col))), len(col)*int(unsafe.Sizeof(col[0]))))
}
