package schema

import (
	"errors"
	"fmt"
)

// Limits of a schema: the mask of an entity row is one symbol, that of a single row is split into
// symbols of ChunkBits.
const (
	MaxFields       = 12
	MaxSingleFields = 5 * ChunkBits
	ChunkBits       = 7
	MaxName         = 32 // bytes of a schema's or a field's name
)

// ErrSchema says that a schema cannot be used. The error that wraps it names the field.
var ErrSchema = errors.New("schema: unusable")

// Schema is the list of a row's fields. Treat it as constant once it is in use.
type Schema struct {
	Name   string
	Fields []Field // at most MaxFields, or MaxSingleFields if Single

	// Single says that there is one row and it is always there, as a player's own state is: nothing
	// spawns.
	Single bool
}

// Check reports what is wrong with s, as an error that wraps ErrSchema.
func (s Schema) Check() error {
	limit := MaxFields
	if s.Single {
		limit = MaxSingleFields
	}
	if s.Name == "" || len(s.Fields) == 0 || len(s.Fields) > limit {
		return fmt.Errorf("%w: %q has %d fields, want a name and 1 to %d",
			ErrSchema, s.Name, len(s.Fields), limit)
	}
	if !goodName(s.Name) {
		return fmt.Errorf("%w: schema %q, want %s", ErrSchema, s.Name, nameRule)
	}
	seen, kinds := map[string]bool{}, 0
	for i, f := range s.Fields {
		if f.Spawn == SpawnKind {
			kinds++
		}
		switch {
		case f.Name == "" || seen[f.Name]:
			return fmt.Errorf("%w: %s: field %d is called %q, want a name of its own",
				ErrSchema, s.Name, i, f.Name)
		case !goodName(f.Name):
			return fmt.Errorf("%w: %s: field %q, want %s", ErrSchema, s.Name, f.Name, nameRule)
		case f.Predict >= predictors:
			return fmt.Errorf("%w: %s.%s: predictor %d, want 0 to %d",
				ErrSchema, s.Name, f.Name, f.Predict, predictors-1)
		case f.Min > f.Max:
			return fmt.Errorf("%w: %s.%s: min %d is above max %d", ErrSchema, s.Name, f.Name, f.Min, f.Max)
		case f.Wrap != 0 && (f.Wrap < 2 || f.Wrap > MaxWrap || f.Min != 0 || f.Max != 0):
			return fmt.Errorf("%w: %s.%s: wrap %d with range %d to %d, want 2 to %d and no range",
				ErrSchema, s.Name, f.Name, f.Wrap, f.Min, f.Max, MaxWrap)
		case f.Spawn >= spawns, f.Spawn != SpawnZero && s.Single, kinds > 1,
			f.Spawn == SpawnTick && f.Wrap == 0:
			return fmt.Errorf("%w: %s.%s: spawn %v, want zero, tick of a field that wraps, or kind, once",
				ErrSchema, s.Name, f.Name, f.Spawn)
		case f.Often > 100:
			return fmt.Errorf("%w: %s.%s: often %d, want a percentage", ErrSchema, s.Name, f.Name, f.Often)
		}
		seen[f.Name] = true
	}
	return nil
}

const nameRule = "1 to 32 letters, digits and . _ -"

// goodName allows what can stand in a line of text unquoted.
func goodName(name string) bool {
	for _, c := range []byte(name) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
				return false
			}
		}
	}
	return name != "" && len(name) <= MaxName
}

// Hash names everything that decides what the bits mean: names, order, ranges, predictors. It is
// FNV-1a over a plain listing, the same on every machine, and never 0.
func (s Schema) Hash() uint64 {
	h := fnvStart.text(s.Name)
	if s.Single {
		h = h.number(1)
	}
	for _, f := range s.Fields {
		lo, hi := f.Range()
		h = h.text(f.Name).number(lo).number(hi).number(f.Wrap)
		if f.Predict != Hold {
			// Negative: it cannot be read as the length of the next name.
			h = h.number(-int32(f.Predict))
		}
		if f.Spawn != SpawnZero {
			h = h.number(-int32(f.Spawn) << 8)
		}
	}
	return max(uint64(h), 1)
}

// fnv is FNV-1a, 64 bits.
type fnv uint64

const fnvStart fnv = 14695981039346656037

func (h fnv) byte(b byte) fnv { return (h ^ fnv(b)) * 1099511628211 }

func (h fnv) bytes(src []byte) fnv {
	for _, b := range src {
		h = h.byte(b)
	}
	return h
}

func (h fnv) text(s string) fnv { return h.number(int32(len(s))).bytes([]byte(s)) }

func (h fnv) number(v int32) fnv {
	return h.byte(byte(v)).byte(byte(v >> 8)).byte(byte(v >> 16)).byte(byte(v >> 24))
}
