package content

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// reader fills rows from a document for a side.
type reader struct {
	*document
	side Side
}

// table reads the keys of a table into a row. A key that is not known is reported before one that
// is missing: it is likely that one, misspelt.
func (r *reader) table(row any, t table, values map[string]any, path string) error {
	var missing error
	known := map[string]bool{}
	for i := range t {
		k := &t[i]
		if !k.applies(row) {
			continue
		}
		known[k.name] = true
		v, ok := values[k.name]
		if !r.side.needs(k.side) {
			continue
		}
		field, at := k.at(row), join(path, k.name)
		if ok {
			if err := r.set(field, v, k, at); err != nil {
				return err
			}
			continue
		}
		if !k.may && missing == nil {
			missing = r.fail(at, "missing, %s", k.want(field))
		}
	}
	if err := r.unknown(known, values, path); err != nil {
		return err
	}
	return missing
}

// unknown refuses the first key that no row has, in the order of files and lines.
func (r *reader) unknown(known map[string]bool, values map[string]any, path string) error {
	first, found := "", false
	for name := range values {
		if known[name] {
			continue
		}
		if !found || r.before(join(path, unquoted(name)), join(path, unquoted(first))) {
			first, found = name, true
		}
	}
	if !found {
		return nil
	}
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return r.fail(join(path, unquoted(first)), "unknown key, want one of %s", strings.Join(names, ", "))
}

// before orders keys by where they stand.
func (r *reader) before(a, b string) bool {
	p, q := r.at(a), r.at(b)
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.line, q.line), cmp.Compare(a, b)) < 0
}

// join appends a name to a dotted path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// set reads one value into the field that its key points to.
func (r *reader) set(field, v any, k *key, path string) error {
	wrong := func() error { return r.fail(path, "%s, %s", show(v), k.want(field)) }
	ok := true
	switch f := field.(type) {
	case *rows:
		return r.rows(f, v, k, path)
	case *bool:
		*f, ok = v.(bool)
	case *string:
		*f, ok = v.(string)
		ok = ok && inside(float64(len(*f)), k) && printable(*f)
	case *[]string:
		*f, ok = texts(v)
		ok = ok && inside(float64(len(*f)), k)
	case *keymask:
		var names []string
		names, ok = texts(v)
		for _, name := range names {
			i := slices.Index(k.choices, name)
			ok = ok && i >= 0 && *f>>i&1 == 0
			*f |= 1 << max(i, 0)
		}
	case *ability.Kind:
		ok = word((*uint8)(f), v, k)
	case *mode.Kind:
		ok = word((*uint8)(f), v, k)
	case *object.Gives:
		ok = word((*uint8)(f), v, k)
	case *EffectKind:
		ok = word((*uint8)(f), v, k)
	case *Side:
		ok = word((*uint8)(f), v, k)
	case *float32:
		*f, ok = number(v, k)
	case *geom.Vec3, *geom.AABB:
		ok = setGeometry(f, v, k)
	case *uint8:
		ok = integer(f, v, k)
	case *uint16:
		ok = integer(f, v, k)
	case *int16:
		ok = integer(f, v, k)
	case *int32:
		ok = integer(f, v, k)
	case *geom.Angle:
		ok = integer(f, v, k)
	default:
		values, isTable := v.(map[string]any)
		if !isTable {
			return wrong()
		}
		return r.table(field, k.sub, values, path)
	}
	if !ok {
		return wrong()
	}
	return nil
}

// setGeometry reads a list of numbers into a vector or a box.
func setGeometry(field, v any, k *key) (ok bool) {
	switch f := field.(type) {
	case *geom.Vec3:
		var n [3]float32
		ok = numbers(n[:], v, k)
		*f = geom.Vec3{X: n[0], Y: n[1], Z: n[2]}
	case *geom.AABB:
		var n [6]float32
		ok = numbers(n[:], v, k)
		f.Min, f.Max = geom.Vec3{X: n[0], Y: n[1], Z: n[2]}, geom.Vec3{X: n[3], Y: n[4], Z: n[5]}
		ok = ok && f.Min.X < f.Max.X && f.Min.Y < f.Max.Y && f.Min.Z < f.Max.Z
	}
	return ok
}

// rows appends the tables of an array to a list. Several files may add to one list.
func (r *reader) rows(f *rows, v any, k *key, path string) error {
	values, ok := v.([]any)
	if !ok || f.len+len(values) > int(k.hi) {
		return r.fail(path, "%s, %s", show(v), k.want(f))
	}
	for i, v := range values {
		at := path + "[" + strconv.Itoa(i) + "]"
		row, ok := v.(map[string]any)
		if !ok {
			return r.fail(at, "%s, want a table", show(v))
		}
		if err := r.table(f.grow(), k.sub, row, at); err != nil {
			return err
		}
	}
	return nil
}

// inside reports whether a number is within the limits of a key.
func inside(x float64, k *key) bool { return x >= k.lo && x <= k.hi }

// number converts an integer or a float, within the limits of k, to a float32 that is not -0.
func number(v any, k *key) (float32, bool) {
	x, ok := v.(float64)
	if n, isWhole := v.(int64); isWhole {
		x, ok = float64(n), true
	}
	f := float32(x)
	if f == 0 {
		f = 0 // not -0
	}
	return f, ok && inside(x, k)
}

// numbers reads a list of exactly len(out) numbers.
func numbers(out []float32, v any, k *key) bool {
	list, ok := v.([]any)
	if !ok || len(list) != len(out) {
		return false
	}
	for i, v := range list {
		if out[i], ok = number(v, k); !ok {
			return false
		}
	}
	return true
}

// integer reads a whole number; floats are refused, even 1.0.
func integer[N ~uint8 | ~uint16 | ~int16 | ~int32](f *N, v any, k *key) bool {
	n, ok := v.(int64)
	*f = N(n)
	return ok && inside(float64(n), k)
}

// word sets f to the value of one of the key's choices.
func word(f *uint8, v any, k *key) bool {
	text, _ := v.(string)
	i := slices.Index(k.choices, text)
	*f = uint8(k.first + max(i, 0))
	return i >= 0
}

// texts are names in a list: printable, 1 to 64 bytes each. None are nil.
func texts(v any) (out []string, ok bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	for _, v := range list {
		text, isText := v.(string)
		if !isText || len(text) < 1 || len(text) > 64 || !printable(text) {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}

// printable reports whether all runes of s are printable.
func printable(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) < 0
}

// show is a value for an error, cut to a line.
func show(v any) string {
	s := ""
	switch v := v.(type) {
	case string:
		s = strconv.Quote(v)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return "a table"
	default:
		s = fmt.Sprint(v)
	}
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

// kindOf says what a field takes.
func kindOf(field any) string {
	switch field.(type) {
	case *string:
		return "text, bytes:"
	case *[]string:
		return "a list of names, length:"
	case *geom.Vec3:
		return "three numbers"
	case *geom.AABB:
		return "six numbers, a corner below the other,"
	case *float32:
		return "a number"
	}
	return "a whole number"
}
