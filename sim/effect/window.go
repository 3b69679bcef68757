package effect

// Window takes each id of told effects once, whatever is repeated, late or out of order. The zero
// value has taken none.
type Window struct {
	newest  uint8
	started bool
	taken   uint64 // bit n: newest - n was taken
}

// Take reports whether an id is taken for the first time. Ids that are IDWindow or more behind the
// newest are not taken.
func (w *Window) Take(id uint8) bool {
	switch ahead := int8(id - w.newest); {
	case !w.started:
		w.newest, w.started, w.taken = id, true, 1
		return true
	case ahead > 0:
		w.newest, w.taken = id, w.taken<<ahead|1
		return true
	case -int(ahead) >= IDWindow:
		return false
	default:
		bit := uint64(1) << -ahead
		fresh := w.taken&bit == 0
		w.taken |= bit
		return fresh
	}
}
