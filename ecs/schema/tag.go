package schema

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// TagKey is the key of a replicated field's tag.
const TagKey = "net"

// MaxScale bounds quant: a float32 times quant is exact in float64. MaxStep bounds step: what lies
// between two rows is worked out in 64 bits.
const (
	MaxScale = 1 << 24
	MaxStep  = 1 << 20
)

// Interp is how a value between two rows is made.
type Interp uint8

// The ways to interpolate.
const (
	NoInterp     Interp = iota // the older row's value, until the newer row is the older one
	LinearInterp               // straight from one to the other
	AngleInterp                // round a field that wraps, the shorter way
	interps
)

var interpNames = [interps]string{"none", "linear", "angle"}

// String returns the word that tags use.
func (i Interp) String() string {
	if i < interps {
		return interpNames[i]
	}
	return "?"
}

// Section is the audience of a field.
type Section uint8

// The sections. Each has a schema and a row of its own, so what is not for a receiver is not in its
// bytes.
const (
	Everyone Section = iota
	Owner            // only the entity's own player: one row, always there
	Others           // all but the entity's own player
	Sections         // how many there are
)

var sectionNames = [Sections]string{"everyone", "owner", "others"}

// String returns the word that tags use.
func (s Section) String() string {
	if s < Sections {
		return sectionNames[s]
	}
	return "?"
}

// options are those of a tag. Numbers are in the units of the Go field; nil and 0 mean not given.
type options struct {
	name           string
	min, max, wrap *big.Rat
	quant, step    int64
	bits           uint
	often          []uint8 // one for all, or one a number below
	derive         string
	section        Section
	interp         Interp
	predict        Predictor
	spawn          Spawn
	signed         bool
	inline, single bool
}

// parseTag reads a tag over what is inherited: a name, then options. Errors say which option and
// what was expected.
func parseTag(tag string, o options) (options, error) {
	// these are not inherited
	o.name, o.inline, o.often, o.single, o.spawn = "", false, nil, false, SpawnZero
	name, rest, more := strings.Cut(tag, ",")
	if name != "" && !goodName(name) {
		return o, fmt.Errorf("name %q: expected %s", name, nameRule)
	}
	o.name = name
	seen := map[string]bool{}
	for more {
		var word string
		word, rest, more = strings.Cut(rest, ",")
		key, value, given := strings.Cut(word, "=")
		if seen[key] {
			return o, fmt.Errorf("option %s is given twice", key)
		}
		seen[key] = true
		var err error
		if set := valued[key]; set != nil && given {
			err = set(&o, value)
		} else if set := plain[key]; set != nil && !given {
			set(&o)
		} else if plain[key] != nil {
			err = fmt.Errorf("expected no value")
		} else if valued[key] != nil {
			err = fmt.Errorf("expected %s=value", key)
		} else {
			err = fmt.Errorf("unknown; known are quant, step, min, max, wrap, signed, bits, " +
				"owner, others, everyone, interp, predict, spawn, derive, often, inline, single")
		}
		if err != nil {
			return o, fmt.Errorf("option %q: %w", word, err)
		}
	}
	return o, nil
}

var plain = map[string]func(*options){
	"owner":    func(o *options) { o.section = Owner },
	"others":   func(o *options) { o.section = Others },
	"everyone": func(o *options) { o.section = Everyone },
	"signed":   func(o *options) { o.signed = true },
	"inline":   func(o *options) { o.inline = true },
	"single":   func(o *options) { o.single = true },
}

var valued = map[string]func(*options, string) error{
	"quant": func(o *options, v string) (err error) {
		o.quant, err = whole(v, 1, MaxScale, "steps a unit")
		return err
	},
	"step": func(o *options, v string) (err error) {
		o.step, err = whole(v, 1, MaxStep, "units a step")
		return err
	},
	"bits": func(o *options, v string) error {
		n, err := whole(v, 1, 31, "bits")
		o.bits = uint(n)
		return err
	},
	"min":  func(o *options, v string) (err error) { o.min, err = decimal(v); return err },
	"max":  func(o *options, v string) (err error) { o.max, err = decimal(v); return err },
	"wrap": func(o *options, v string) (err error) { o.wrap, err = decimal(v); return err },
	"often": func(o *options, v string) error {
		o.often = nil
		for part := range strings.SplitSeq(v, "/") {
			n, err := whole(part, 1, 100, "percent")
			if err != nil {
				return err
			}
			o.often = append(o.often, uint8(n))
		}
		return nil
	},
	"derive": func(o *options, v string) error {
		if v == "" || v[0] < 'A' || v[0] > 'Z' {
			return fmt.Errorf("expected the name of an exported method")
		}
		o.derive = v
		return nil
	},
	"interp": func(o *options, v string) error {
		i, err := word(v, interpNames[:])
		o.interp = Interp(i)
		return err
	},
	"predict": func(o *options, v string) error {
		i, err := word(v, predictorNames[:])
		o.predict = Predictor(i)
		return err
	},
	"spawn": func(o *options, v string) error {
		s, err := word(v, spawnNames[:])
		o.spawn = Spawn(s)
		return err
	},
}

func whole(s string, lo, hi int64, unit string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("expected %d to %d %s", lo, hi, unit)
	}
	return n, nil
}

// decimal reads a number exactly. It bounds the length, so that 1e999999999 costs nothing.
func decimal(s string) (*big.Rat, error) {
	if strings.Trim(s, "0123456789.-") == "" && len(s) <= 24 {
		if r, ok := new(big.Rat).SetString(s); ok {
			return r, nil
		}
	}
	return nil, fmt.Errorf("expected a decimal number")
}

func word(s string, names []string) (int, error) {
	for i, name := range names {
		if s == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("expected one of %s", strings.Join(names, ", "))
}
