// Package itr reads and writes entity-state traces: integer fields of entities, one snapshot after
// another, as a snapshot codec sees them. A file goes in, a Trace comes out; recorded human play is
// brought into the same shape. It judges nothing: package bench/codeceval does.
package itr

// Kind says how a field's numbers are meant.
type Kind uint8

// The kinds of field of the format.
const (
	Number Kind = iota // a quantity
	Flag               // a flag or an enumeration
	Angle              // wraps at Field.Mod
	Stamp              // a tick at which something happened
	kinds
)

// Field is one column of a trace.
type Field struct {
	Name string
	Kind Kind
	Mod  int32 // for Angle: values lie in [0, Mod); 0 for none
}

// Trace is every entity's fields over a number of snapshots.
type Trace struct {
	Name             string // where it was read from
	TickRate         int    // ticks a second
	TicksPerSnapshot int
	Entities         int
	Fields           []Field
	Snapshots        [][]int32 // by snapshot: Entities rows of len(Fields) values
	// Live says which rows count: by snapshot, by entity. nil means all. A row that does not count
	// is neither sent nor measured.
	Live [][]bool
}

// Row returns the values of entity e in snapshot s. It shares the trace's memory.
func (t *Trace) Row(s, e int) []int32 {
	n := len(t.Fields)
	return t.Snapshots[s][e*n : (e+1)*n]
}
