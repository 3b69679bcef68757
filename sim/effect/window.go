package effect

// Window is a duplicate filter for the ids of effects that a server sends to one client. It accepts
// an id at most once, also when effects arrive repeated, late or out of order. The zero value has
// accepted no id.
type Window struct {
	newest  uint8
	started bool
	taken   uint64 // bit n: the id newest - n was accepted
}

// Take accepts an id and returns true if the id is new. It returns false for an id that was
// accepted before, and for an id that is IDWindow or more behind the newest.
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
