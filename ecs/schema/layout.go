package schema

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Kind is what a Go type is to a row.
type Kind uint8

// The kinds. Every other type is Foreign and cannot be replicated.
const (
	Foreign Kind = iota
	Bool
	Int
	Uint
	Float // float32
	Struct
	Array
)

// Node is a Go type as tags see it, whether package reflect or a type checker looked at it.
type Node struct {
	Field    string // name of the struct field; "" for an element and for the component itself
	Tag      string // its net tag
	Tagged   bool   // there is one
	Exported bool
	Type     string // as messages call it
	Kind     Kind
	Bits     int    // size of a number
	Elems    []Node // a struct's fields, or what an array is made of
	Len      int    // of an array
}

// Leaf is one number of a component and where it goes.
type Leaf struct {
	Path  string // Go expression after a value of the component: "Pos.X", "Hits[2]"
	Index []int  // the same: field or element at each level
	Name  string // of its field
	Type  string // of the number in Go
	Kind  Kind   // Bool, Int, Uint or Float
	Bits  int    // size in Go

	// Derived is the method that the receiver works the number out with; the rest does not count
	// then.
	Derived string

	Section Section
	Field   int   // index in the row of its section
	Per     int64 // steps a unit, for floats; else 1
	Step    int64 // units a step, for integers; else 1
	Lo, Hi  int32 // range in steps
	Wrap    int32 // modulus in steps, 0 = none
	Signed  bool  // an unsigned type that is read as signed
	Shift   uint  // lowest bit in the field, if Width
	Width   uint  // bits in a field that is shared; 0 = the field is its own
	Interp  Interp
}

// Layout is how a component becomes rows: one for each section that it uses.
type Layout struct {
	Type   string // Go name of the component
	Name   string // of its schema; those of further sections append .owner or .others
	Leaves []Leaf // in the order of the struct

	// Schemas is one schema a section; no fields, no section. They pass Check. If there is but one,
	// it is just called Name.
	Schemas [Sections]Schema
}

// Uses reports whether any field belongs to section s.
func (l *Layout) Uses(s Section) bool { return len(l.Schemas[s].Fields) > 0 }

// Derives reports whether any field is derived.
func (l *Layout) Derives() bool {
	for i := range l.Leaves {
		if l.Leaves[i].Derived != "" {
			return true
		}
	}
	return false
}

// maxLeaves stops an array of millions before its fields are counted.
const maxLeaves = 256

// NewLayout reads the tags of a component, root, called typ in Go. Errors wrap ErrSchema and name
// the struct, the field, the option, and what was expected.
func NewLayout(typ string, root Node) (*Layout, error) {
	l := &Layout{Type: typ, Name: strings.ToLower(typ)}
	b := layouter{Layout: l}
	if root.Kind != Struct {
		return nil, fmt.Errorf("%w: %s is %s, expected a struct", ErrSchema, typ, root.Type)
	}
	above := options{}
	for _, n := range root.Elems {
		// The component's own tag: its name, and what holds for all fields.
		if n.Field == "_" && n.Tagged {
			o, err := parseTag(n.Tag, options{})
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrSchema, typ, err)
			}
			if o.name != "" {
				l.Name = o.name
			}
			b.single, above = o.single, o
		}
	}
	if err := b.fields(root, above, "", "", nil, true); err != nil {
		return nil, fmt.Errorf("%w: %s%w", ErrSchema, typ, err)
	}
	return l, b.finish()
}

// layouter builds a layout.
type layouter struct {
	*Layout
	single bool
}

// finish names the schemas and checks them.
func (b *layouter) finish() error {
	used := 0
	for s := range Sections {
		if b.Uses(s) {
			used++
		}
	}
	if used == 0 {
		return fmt.Errorf("%w: %s replicates nothing", ErrSchema, b.Type)
	}
	for s := range Sections {
		if !b.Uses(s) {
			continue
		}
		c := &b.Schemas[s]
		c.Name, c.Single = b.Name, s == Owner || b.single
		if used > 1 && s != Everyone {
			c.Name += "." + s.String()
		}
		if err := c.Check(); err != nil {
			return fmt.Errorf("%s: %w", b.Type, err)
		}
	}
	return nil
}

// fields walks a struct. The fields of one without any tag take the options above them; otherwise
// each says for itself, so that none is forgotten.
func (b *layouter) fields(n Node, above options, name, path string, index []int, top bool) error {
	tagged := top
	for _, f := range n.Elems {
		tagged = tagged || f.Tagged
	}
	for i, f := range n.Elems {
		if f.Field == "_" || f.Tagged && f.Tag == "-" {
			continue
		}
		o, at := above, path+"."+f.Field
		o.name, o.inline, o.often, o.spawn = "", false, nil, SpawnZero
		if tagged {
			if !f.Tagged {
				return fmt.Errorf("%s: no %s tag: expected one, or %s:\"-\" for what is not replicated",
					at, TagKey, TagKey)
			}
			var err error
			if o, err = parseTag(f.Tag, above); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			if o.single {
				return fmt.Errorf("%s: option single: expected on the field _ only, it is about the whole",
					at)
			}
		}
		if !f.Exported {
			return fmt.Errorf("%s: not exported: expected a field that other packages can restore", at)
		}
		if o.name == "" {
			o.name = strings.ToLower(f.Field)
		}
		if err := b.node(f, o, name, at, append(index[:len(index):len(index)], i)); err != nil {
			return err
		}
	}
	return nil
}

// node walks one field or element. name is the prefix of names.
func (b *layouter) node(n Node, o options, name, path string, index []int) error {
	first := len(b.Leaves)
	full := name + o.name
	switch {
	case !o.inline || n.Kind == Array && o.bits > 0:
	case n.Kind == Struct:
		full = strings.TrimSuffix(name, ".")
	default:
		return fmt.Errorf("%s: option inline: expected a struct, or an array with bits, not %s", path, n.Type)
	}
	var err error
	switch {
	case o.derive != "":
		b.Leaves = append(b.Leaves, Leaf{Path: path[1:], Index: index, Name: full,
			Type: n.Type, Kind: n.Kind, Bits: n.Bits, Derived: o.derive})
		return nil
	case n.Kind == Struct:
		if full != "" {
			full += "."
		}
		err = b.fields(n, o, full, path, index, false)
	case n.Kind == Array:
		for i := range n.Len {
			below, prefix := o, full+"."
			// The elements share the field.
			if below.name, below.often = fmt.Sprint(i), nil; o.inline {
				below.name, below.inline, prefix = full, false, ""
			}
			at := fmt.Sprintf("%s[%d]", path, i)
			err = b.node(n.Elems[0], below, prefix, at, append(index[:len(index):len(index)], i))
			if err != nil {
				return err
			}
		}
	default:
		err = b.leaf(n, o, full, path, index)
	}
	if err != nil {
		return err
	}
	return b.hint(o.often, b.Leaves[first:], path)
}

// hint spreads an often over the numbers below it: one for all, or one each.
func (b *layouter) hint(often []uint8, leaves []Leaf, path string) error {
	if often == nil {
		return nil
	}
	if len(often) != 1 && len(often) != len(leaves) {
		return fmt.Errorf("%s: option often: %d percentages, expected 1 or %d", path, len(often), len(leaves))
	}
	for i, l := range leaves {
		if l.Derived == "" {
			b.Schemas[l.Section].Fields[l.Field].Often = often[i%len(often)]
		}
	}
	return nil
}

// leaf adds one number.
func (b *layouter) leaf(n Node, o options, name, path string, index []int) error {
	if len(b.Leaves) == maxLeaves {
		return fmt.Errorf("%s: more than %d numbers", path, maxLeaves)
	}
	l := Leaf{Path: path[1:], Index: index, Name: name, Type: n.Type, Kind: n.Kind, Bits: n.Bits,
		Section: o.section, Per: 1, Step: 1, Signed: o.signed, Interp: o.interp}
	if err := l.measure(n, o); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s := &b.Schemas[l.Section]
	if last := b.last(l.Section); o.bits > 0 && last != nil && last.Width > 0 && last.Name == name {
		l.Field, l.Shift = last.Field, last.Shift+last.Width
		if l.Shift+l.Width > 31 {
			return fmt.Errorf("%s: option bits: %d bits in field %s, expected at most 31",
				path, l.Shift+l.Width, name)
		}
		s.Fields[l.Field].Max = 1<<(l.Shift+l.Width) - 1
		b.Leaves = append(b.Leaves, l)
		return nil
	}
	f := Field{Name: name, Min: l.Lo, Max: l.Hi, Wrap: l.Wrap, Predict: o.predict, Spawn: o.spawn}
	if l.Wrap != 0 || l.Lo == math.MinInt32 && l.Hi == math.MaxInt32 {
		f.Min, f.Max = 0, 0
	} else if f.Min == 0 && f.Max == 0 {
		return fmt.Errorf("%s: options min and max: expected more than the one value 0", path)
	}
	l.Field = len(s.Fields)
	s.Fields = append(s.Fields, f)
	b.Leaves = append(b.Leaves, l)
	return nil
}

// last is the latest number of a section.
func (b *layouter) last(s Section) *Leaf {
	for i := len(b.Leaves) - 1; i >= 0; i-- {
		if l := &b.Leaves[i]; l.Section == s && l.Derived == "" {
			return l
		}
	}
	return nil
}

// measure works out scale and range in steps.
func (l *Leaf) measure(n Node, o options) error {
	switch {
	case l.Kind == Foreign || l.Kind > Float:
		return fmt.Errorf("type %s: expected float32, an integer, a bool, or structs and arrays of them",
			n.Type)
	case l.Kind == Float && o.quant == 0:
		return errors.New("option quant: expected, as a float needs steps")
	case l.Kind != Float && o.quant != 0:
		return fmt.Errorf("option quant: expected on a float32, not %s; integers have step", n.Type)
	case l.Kind != Int && l.Kind != Uint && o.step != 0:
		return fmt.Errorf("option step: expected on an integer, not %s; floats have quant", n.Type)
	case o.signed && l.Kind != Uint:
		return fmt.Errorf("option signed: expected on an unsigned integer, not %s", n.Type)
	case o.bits != 0 && (l.Kind == Float || l.Kind == Int || o.signed ||
		o.step != 0 || o.min != nil || o.max != nil || o.wrap != nil):
		return fmt.Errorf("option bits: expected on a bool or an unsigned integer "+
			"without other measures, not %s",
			n.Type)
	case o.wrap != nil && (o.min != nil || o.max != nil):
		return errors.New("option wrap: expected without min and max")
	case o.wrap != nil && o.signed:
		return errors.New("option signed: expected without wrap, which knows no sign")
	case o.interp == AngleInterp && o.wrap == nil:
		return errors.New("option interp=angle: expected together with wrap")
	case o.interp != NoInterp && (l.Kind == Bool || o.bits != 0):
		return fmt.Errorf("option interp=%v: expected on a number of its own", o.interp)
	case o.interp == LinearInterp && o.wrap != nil:
		return errors.New("option interp=linear: expected without wrap; that has angle")
	case l.Kind == Bool && (o.min != nil || o.max != nil || o.wrap != nil):
		return errors.New("options min, max, wrap: expected on numbers, not bool")
	}
	l.Per, l.Step, l.Width = max(1, o.quant), max(1, o.step), o.bits
	return l.bound(o)
}

// bound sets the range: what the options say, or else what the type holds.
func (l *Leaf) bound(o options) (err error) {
	least, greatest := l.natural() // in units
	switch {
	case l.Kind == Bool:
		l.Lo, l.Hi = 0, 1
		return nil
	case l.Width > 0:
		if int(l.Width) > l.Bits {
			return fmt.Errorf("option bits=%d: expected at most the %d of %s", l.Width, l.Bits, l.Type)
		}
		l.Lo, l.Hi = 0, 1<<l.Width-1
		return nil
	case o.wrap != nil:
		if l.Wrap, err = l.steps(o.wrap, "wrap"); err != nil {
			return err
		}
		if l.Wrap < 2 || l.Wrap > MaxWrap {
			return fmt.Errorf("option wrap: %d steps, expected 2 to %d", l.Wrap, MaxWrap)
		}
		if top := big.NewInt(int64(l.Wrap-1) * l.Step); l.Kind != Float && top.Cmp(greatest) > 0 {
			return fmt.Errorf("option wrap: the greatest value, %v, does not fit %s", top, l.Type)
		}
		return nil
	}
	if l.Kind == Float && (o.min == nil || o.max == nil) {
		return errors.New("options min and max, or wrap: expected, as a float needs a range")
	}
	if l.Lo, err = l.limit(o.min, least, "min"); err != nil {
		return err
	}
	if l.Hi, err = l.limit(o.max, greatest, "max"); err != nil {
		return err
	}
	if l.Lo > l.Hi {
		return fmt.Errorf("option min: above max")
	}
	return nil
}

// natural is what an integer type holds.
func (l *Leaf) natural() (least, greatest *big.Int) {
	one := big.NewInt(1)
	greatest = new(big.Int).Lsh(one, uint(l.Bits))
	if l.Kind == Uint && !l.Signed {
		return new(big.Int), greatest.Sub(greatest, one)
	}
	greatest.Rsh(greatest, 1)
	return new(big.Int).Neg(greatest), greatest.Sub(greatest, one)
}

// limit is one bound in steps: what the option says, which the type must hold, or else what the
// type holds.
func (l *Leaf) limit(said *big.Rat, natural *big.Int, option string) (int32, error) {
	if said != nil {
		n, err := l.steps(said, option)
		if back := big.NewInt(int64(n) * l.Step); err == nil && l.Kind != Float {
			if least, greatest := l.natural(); back.Cmp(least) < 0 || back.Cmp(greatest) > 0 {
				err = fmt.Errorf("option %s: %v does not fit %s", option, back, l.Type)
			}
		}
		return n, err
	}
	n := new(big.Int).Quo(natural, big.NewInt(l.Step)) // towards zero: the type still holds it
	if !n.IsInt64() || n.Int64() != int64(int32(n.Int64())) {
		return 0, fmt.Errorf("option %s: expected, as %s is wider than a row's 32 bits", option, l.Type)
	}
	return int32(n.Int64()), nil
}

// steps turns units into steps, which must come out whole.
func (l *Leaf) steps(units *big.Rat, option string) (int32, error) {
	r := new(big.Rat).Mul(units, big.NewRat(l.Per, l.Step))
	if !r.IsInt() {
		return 0, fmt.Errorf("option %s=%s: %s steps, expected a whole number",
			option, units.RatString(), r.FloatString(3))
	}
	if n := r.Num(); n.IsInt64() && n.Int64() == int64(int32(n.Int64())) {
		return int32(n.Int64()), nil
	}
	return 0, fmt.Errorf("option %s=%s: %s steps, expected 32 bits", option, units.RatString(), r.RatString())
}
