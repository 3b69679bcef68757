package objects

import "github.com/tickrate/tickrate/ecs/tick"

// ChangeKind says what happened to an object.
type ChangeKind uint8

// The kinds of changes.
const (
	Appeared ChangeKind = 1 + iota // its first row, or its first after Vanished
	Changed                        // another Phase: it hit, exploded, broke, teleported a player
	Vanished                       // snapshots have no row of it any more
	Launched                       // an own projectile, predicted
	Matched                        // an own projectile with a row of the server
	Rejected                       // an own projectile that the server does not have
)

// Change is something that happened to an object.
type Change struct {
	Kind   ChangeKind
	Tick   tick.Tick // of the snapshot with the change, or of the command
	Object Object    // at the server's position; of Vanished only its ID
}

// maxChanges is how many changes wait for NextChange.
const maxChanges = 256

func (s *Set) addChange(kind ChangeKind, t tick.Tick, o *Object) {
	e := s.queue.Next() // a literal would be built elsewhere and copied
	e.Kind, e.Tick, e.Object = kind, t, *o
}

// NextChange returns the next change, each once, in the order in which the client learned of it,
// which is before the view reaches it. The oldest of more than 256 are lost; Append has the current
// state.
func (s *Set) NextChange() (Change, bool) { return s.queue.Pop() }
