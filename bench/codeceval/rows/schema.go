package rows

import (
	"errors"
	"fmt"
)

// Kind says how a field's numbers are meant. Any value can be coded whatever the kind; it only
// guides prediction.
type Kind uint8

// The kinds of field.
const (
	Number Kind = iota // a quantity
	Flag               // a flag or an enumeration
	Angle              // goes round at Field.Mod
	Stamp              // a tick at which something happened
)

// Limits of a Schema.
const (
	MaxFields = 64
	MaxMod    = 1 << 30
)

// Field is one number of a row. A name such as "vel.x" says that "vel.y" and "vel.z" are its
// vector's other components.
type Field struct {
	Name string
	Kind Kind
	Mod  int32 // Angle: values usually lie in [0, Mod), 2 to MaxMod
}

// Schema is what the rows of a frame consist of.
type Schema struct {
	Fields   []Field
	Interval int32 // ticks between frames; 0 means 1
}

// ErrSchema says that a schema cannot be used; the error that wraps it says why.
var ErrSchema = errors.New("rows: unusable schema")

// Check reports what is wrong with s, as an error that wraps ErrSchema.
func (s Schema) Check() error {
	if n := len(s.Fields); n == 0 || n > MaxFields {
		return fmt.Errorf("%w: %d fields, expected 1 to %d", ErrSchema, n, MaxFields)
	}
	for _, f := range s.Fields {
		if f.Kind > Stamp {
			return fmt.Errorf("%w: field %q is of kind %d, expected 0 to %d", ErrSchema, f.Name, f.Kind, Stamp)
		}
		if f.Kind == Angle && (f.Mod < 2 || f.Mod > MaxMod) {
			return fmt.Errorf("%w: field %q goes round at %d, expected 2 to %d", ErrSchema, f.Name, f.Mod, MaxMod)
		}
	}
	return nil
}

// mod is the modulus of an angle and 0 for all others.
func (f Field) mod() int32 {
	if f.Kind == Angle {
		return f.Mod
	}
	return 0
}

// away returns how far a lies from b: the shorter way round for an angle.
func away(a, b, mod int32) int32 {
	d := a - b
	if mod != 0 {
		return turn(d, mod)
	}
	return d
}

// turn brings d into (-mod/2, mod/2].
func turn(d, mod int32) int32 {
	if d > mod>>1 {
		d -= mod
	} else if d <= -((mod + 1) >> 1) {
		d += mod
	} else {
		return d
	}
	if d > mod>>1 || d <= -((mod+1)>>1) {
		d %= mod
		if d > mod>>1 {
			d -= mod
		} else if d <= -((mod + 1) >> 1) {
			d += mod
		}
	}
	return d
}

// miss tells v by its distance from the prediction p. An angle outside [0, mod), which no distance
// names, is told by a number beyond all distances.
func miss(v, p, mod int32) int64 {
	if mod == 0 {
		return int64(v - p) // wraps as 32 bits do
	}
	switch {
	case v >= mod:
		return int64(v)
	case v < 0:
		return int64(v) - int64(mod)
	default:
		return int64(turn(v-p, mod))
	}
}

// hit undoes miss. p of an angle lies in [0, mod). Numbers that miss never returns give some value.
func hit(m int64, p, mod int32) int32 {
	if mod == 0 {
		return p + int32(m)
	}
	if m > int64(mod>>1) {
		return int32(m)
	}
	if m <= -int64((mod+1)>>1) {
		return int32(m + int64(mod))
	}
	return around(p+int32(m), mod)
}

// around brings v into [0, mod).
func around(v, mod int32) int32 {
	if uint32(v) >= uint32(mod) {
		if v %= mod; v < 0 {
			v += mod
		}
	}
	return v
}
