package schema

import "fmt"

// MismatchError says that two ends code rows differently, so that one cannot read what the other
// sends.
type MismatchError struct {
	Here, There uint64 // hashes of the sets of both ends, see Set.Hash
	// Field is the first that differs, as "player.yaw". It is the schema's name where the schema as a
	// whole differs, and empty where the schemas agree and the models do not.
	Field string
	Diff  string // all that differs, in one line: see Set.Diff
}

// Error names both hashes and what differs.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("schemas %016x here, %016x there: %s", e.Here, e.There, e.Diff)
}

// SetOf is the set of the models that two ends exchange rows by, in an order that both know.
func SetOf(models ...*Model) Set {
	var s Set
	h := fnvStart
	for _, m := range models {
		s.Schemas = append(s.Schemas, m.Schema())
		h = h.number(int32(m.Hash())).number(int32(m.Hash() >> 32))
	}
	s.Model = max(uint64(h), 1)
	return s
}

// Hash names everything that both ends must agree on. Sets with the same text have the same hash. It
// is never 0.
func (s Set) Hash() uint64 {
	h := fnvStart
	for _, c := range s.Schemas {
		h = h.bytes(c.appendText(nil))
	}
	return max(uint64(h.number(int32(s.Model)).number(int32(s.Model>>32))), 1)
}

// Match compares the set with the text of another end's (AppendText), as it came from the network.
// It returns nil if both ends code the same, else a *MismatchError, or an error that wraps ErrText
// if the bytes are no such text. Exchange texts before the first snapshot: bits between ends that
// differ are errors without a name, or wrong numbers.
func (s Set) Match(theirs []byte) error {
	o, err := ParseSet(theirs)
	if err != nil {
		return err
	}
	all := s.differences(o)
	if len(all) == 0 {
		return nil
	}
	e := &MismatchError{Here: s.Hash(), There: o.Hash(), Diff: list(all)}
	if all[0].at != "model" {
		e.Field = all[0].at
	}
	return e
}
