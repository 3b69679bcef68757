package content

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// Canonical is the pack as one pack.toml: the variant of a side, which a reader of that side takes
// for the same pack. It holds what p was read for at most. Assets are separate.
func (p *Pack) Canonical(side Side) []byte {
	return p.text(func(mark Side) bool { return side.needs(mark) && p.side.needs(mark) })
}

// computeHashes sets the hashes.
func (p *Pack) computeHashes() {
	p.hash = sha256.Sum256(p.Canonical(p.side))
	p.shared = sha256.Sum256(p.text(func(mark Side) bool { return mark == Both }))
}

// text writes the rows whose side include accepts. Files is left out: the split of a pack into
// files is not part of its content.
func (p *Pack) text(include func(Side) bool) []byte {
	q := *p
	q.Files = nil
	w := writer{include: include}
	w.table(&q, packKeys, "")
	return w.Bytes()
}

// writer writes rows as TOML, in the order of their keys: values first, then tables.
type writer struct {
	bytes.Buffer
	include func(Side) bool
}

// table writes the keys of one row. Optional zeros are left out, as Load reads a missing key as 0.
func (w *writer) table(row any, t table, path string) {
	for i := range t {
		k := &t[i]
		if !k.applies(row) || !w.include(k.side) {
			continue
		}
		field := k.at(row)
		switch f := field.(type) {
		case *rows:
			w.rows(f, k, join(path, k.name))
			continue
		}
		if k.may && reflect.ValueOf(field).Elem().IsZero() {
			continue
		}
		if k.sub == nil {
			fmt.Fprintf(w, "%s = %s\n", k.name, literal(field, k))
			continue
		}
		fmt.Fprintf(w, "\n[%s]\n", join(path, k.name))
		w.table(field, k.sub, join(path, k.name))
	}
}

// rows writes an array of tables.
func (w *writer) rows(f *rows, k *key, path string) {
	for i := range f.len {
		row := f.get(i)
		if k.mark != nil && !w.include(k.mark(row)) {
			continue
		}
		fmt.Fprintf(w, "\n[[%s]]\n", path)
		w.table(row, k.sub, path)
	}
}

// literal is a value in TOML.
func literal(field any, k *key) string {
	switch f := field.(type) {
	case *bool:
		return strconv.FormatBool(*f)
	case *string:
		return quote(*f)
	case *[]string:
		return quotes(*f)
	case *keymask:
		var names []string
		for i, name := range k.choices {
			if *f>>i&1 != 0 {
				names = append(names, name)
			}
		}
		return quotes(names)
	case *ability.Kind:
		return quote(k.choices[int(*f)-k.first])
	case *mode.Kind:
		return quote(k.choices[int(*f)-k.first])
	case *object.Gives:
		return quote(k.choices[int(*f)-k.first])
	case *EffectKind:
		return quote(k.choices[int(*f)-k.first])
	case *Side:
		return quote(k.choices[int(*f)-k.first])
	case *float32:
		return decimal(*f)
	case *geom.Vec3:
		return decimals(f.X, f.Y, f.Z)
	case *geom.AABB:
		return decimals(f.Min.X, f.Min.Y, f.Min.Z, f.Max.X, f.Max.Y, f.Max.Z)
	case *uint8, *uint16, *int16, *int32, *geom.Angle:
		return fmt.Sprint(reflect.ValueOf(field).Elem().Interface())
	}
	panic(fmt.Sprintf("content: key %s has a field of type %T", k.name, field))
}

// decimal is the shortest that reads back as the same float32.
func decimal(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }

// decimals is a TOML array of numbers.
func decimals(list ...float32) string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = decimal(f)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// quote is a basic string; only printable text comes here.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// quotes is a TOML array of strings.
func quotes(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
