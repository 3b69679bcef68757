package quake3

// Widths in bits of the fields of an entity and of the own player in the order of the wire;
// zero is a float. As entityStateFields and playerStateFields of code/qcommon/msg.c have them.
var (
	entityFields = []int{
		32, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 8, 8, 8, 8, 10, 8, 19, 10, 8, 8, 0, 32, 8, 0, 0, 0, 24, 16,
		8, 10, 8, 8, 0, 0, 0, 8, 0, 32, 32, 32, 0, 0, 0, 0, 32, 0, 0, 0, 32, 16,
	}
	playerFields = []int{
		32, 0, 0, 8, 0, 0, 0, 0, 16, 0, 0, 8, 16, 16, 8, 4, 8, 8, 8, 16, 10, 4, 16, 10, 16, 16, 16, 8,
		8, 8, 8, 8, 8, 8, 8, 16, 16, 12, 8, 8, 8, 5, 0, 0, 0, 0, 10, 16,
	}
)

const (
	entityBits  = 10
	noEntity    = 1<<entityBits - 1
	shortFloat  = 13 // bits of a float that is a small integer
	statKinds   = 16 // bits of the mask of each of the player's four arrays
	maxAreaMask = 32
)

func (r *Reader) float() {
	if r.Bits(1) == 0 {
		r.Bits(shortFloat)
	} else {
		r.Bits(32)
	}
}

// entity skips the changes of an entity and reports whether it is removed. Fields are absolute,
// so no earlier state is needed to find the end.
func (r *Reader) entity() (removed, ok bool) {
	if r.Bits(1) == 1 {
		return true, true
	}
	if r.Bits(1) == 0 {
		return false, true
	}
	n := r.Byte()
	if n > len(entityFields) {
		return false, false
	}
	for _, width := range entityFields[:n] {
		if r.Bits(1) == 0 { // not changed
			continue
		}
		if r.Bits(1) == 0 { // zero
			continue
		}
		if width == 0 {
			r.float()
		} else {
			r.Bits(width)
		}
	}
	return false, !r.Over()
}

// player skips the changes of the own player.
func (r *Reader) player() bool {
	n := r.Byte()
	if n > len(playerFields) {
		return false
	}
	for _, width := range playerFields[:n] {
		if r.Bits(1) == 0 {
			continue
		}
		if width == 0 {
			r.float()
		} else {
			r.Bits(width)
		}
	}
	if r.Bits(1) == 0 {
		return !r.Over()
	}
	for _, width := range []int{16, 16, 16, 32} { // stats, persistent, ammunition, powers
		if r.Bits(1) == 0 {
			continue
		}
		for mask := r.Bits(statKinds); mask != 0; mask &= mask - 1 {
			r.Bits(width)
		}
	}
	return !r.Over()
}
