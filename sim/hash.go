package sim

import (
	"encoding/binary"
	"hash/fnv"
)

// Hash returns a fingerprint of all that the next tick depends on besides its inputs: players, objects, the round, the
// clock. FNV-1a over their numbers, field by field, so that padding is not in it. What waits in inboxes and what is known
// of connections come from outside and are not in it, but for the view that a player's last shot was judged by; nor is
// history, which follows from the ticks before. Two matches that were fed the same commands agree in it after every tick.
func (m *Match) Hash() uint64 {
	c := m.open()
	defer c.close()
	o := c.objects
	last := make([]int64, len(c.know))
	for i := range c.know {
		last[i] = c.know[i].Last
	}
	var b []byte
	for _, v := range []any{*c.clock, *c.score, *c.mode, c.id, c.pos, c.vel, c.state, c.look, c.vital, c.ability, c.anim, last,
		o.Projectiles, o.Grenades, c.scene.Barrel, c.scene.Cube, o.Ports, o.jumps, o.Occupied, c.scene.Blasts.Waiting()} {
		b = appendAny(b, v)
	}
	for i := range o.Areas {
		b = appendAny(b, o.Areas[i].Next())
	}
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

// appendAny appends the numbers of a value, or of a slice of them.
func appendAny(dst []byte, v any) []byte {
	dst, err := binary.Append(dst, binary.LittleEndian, v)
	if err != nil {
		panic("sim: hash: " + err.Error()) // a type of no fixed size
	}
	return dst
}
