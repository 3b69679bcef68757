package snapshot

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/schema"
)

// suspectAfter is how many sections in a row a decoder refuses before it suspects the schema.
const suspectAfter = 8

// SchemaError is what a Decoder returns where the bytes of a section mean nothing, and no section
// has ever been read, or none of the 8 before. The sender has most likely other schemas or
// another model: compare them by schema.Set.Match, which names the field. It wraps ErrBlock, ErrRun
// or ErrGroup.
type SchemaError struct {
	Name          string // of the schema at this end
	Schema, Model uint64 // hashes at this end
	err           error
}

// Error names the schema and the model of this end.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("%v; this end reads schema %s %016x with model %016x: "+
		"compare them with the sender's by schema.Set.Match", e.err, e.Name, e.Schema, e.Model)
}

// Unwrap returns ErrBlock, ErrRun or ErrGroup.
func (e *SchemaError) Unwrap() error { return e.err }

// schemaErrors counts sections that were refused in a row, and has the error for each reason.
type schemaErrors struct {
	refused int
	errs    [3]SchemaError
}

func newSchemaErrors(m *schema.Model) schemaErrors {
	s := schemaErrors{refused: suspectAfter} // the first one is suspect
	for i, err := range []error{ErrBlock, ErrRun, ErrGroup} {
		s.errs[i] = SchemaError{Name: m.Schema().Name, Schema: m.Schema().Hash(), Model: m.Hash(), err: err}
	}
	return s
}

// name returns the error of a section in place of err, which may be nil.
func (s *schemaErrors) name(err error) error {
	if err == nil {
		s.refused = 0
		return nil
	}
	for i := range s.errs {
		if e := &s.errs[i]; e.err == err {
			if s.refused++; s.refused > suspectAfter {
				s.refused = suspectAfter // and no more: it never wraps round
				return e
			}
		}
	}
	return err
}
