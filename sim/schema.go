package sim

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"sync"
)

// appendSchema appends the kinds, their components and the columns of each, as a state has them: a
// line a kind or part, its name and then its components, each with its fields.
//
//	player|geom.Vec3 X float32 Y float32 Z float32|sim.Velocity X float32 ...
func appendSchema(dst []byte) []byte {
	line := func(name string, types []reflect.Type) {
		dst = append(dst, name...)
		for _, t := range types {
			dst = append(append(dst, '|'), t.String()...)
			dst = appendFields(dst, t, "")
		}
		dst = append(dst, '\n')
	}
	for _, k := range kinds {
		var types []reflect.Type
		for i := range k.columns {
			if k.columns[i].use&inState != 0 {
				types = append(types, k.columns[i].typ)
			}
		}
		line(k.name, types)
	}
	for i := range parts {
		if parts[i].types != nil {
			line(parts[i].name, parts[i].types)
		}
	}
	return dst
}

// appendFields appends the numbers of a type: name and Go type each, arrays as one.
func appendFields(dst []byte, t reflect.Type, name string) []byte {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			dst = appendFields(dst, f.Type, strings.TrimPrefix(name+"."+f.Name, "."))
		}
		return dst
	case reflect.Array:
		return appendFields(dst, t.Elem(), fmt.Sprintf("%s[%d]", name, t.Len()))
	}
	if name == "" {
		name = "value"
	}
	return append(append(append(append(dst, ' '), name...), ' '), t.Kind().String()...)
}

// schema is the text that describes what a state holds: builds with the same text read each other's
// states.
var schema = sync.OnceValue(func() []byte { return appendSchema(nil) })

// layout is a fingerprint of the schema.
var layout = sync.OnceValue(func() uint64 {
	h := fnv.New64a()
	_, _ = h.Write(schema())
	return h.Sum64()
})

// Schema says in words what a saved state holds: kinds and parts, their components, and the columns
// of these.
func Schema() string { return string(schema()) }

// CheckSchema says what in a schema of another build this one does not know, and what was expected.
// The error wraps ErrState.
func CheckSchema(theirs string) error {
	if d := schemaDifference([]byte(theirs), schema()); d != "" {
		return fmt.Errorf("%w: of another build: %s", ErrState, d)
	}
	return nil
}

// schemaDifference says in words how the schema of a state differs from ours: the first kind,
// component or column that only one of them has. It is empty if they are equal.
func schemaDifference(theirs, ours []byte) string {
	if bytes.Equal(theirs, ours) {
		return ""
	}
	a, b := schemaLines(theirs), schemaLines(ours)
	for _, x := range a {
		if at := findLine(b, x[0]); at < 0 {
			return fmt.Sprintf("unknown kind or part %.40q, expected one of: %s", x[0], lineNames(b))
		}
	}
	for _, y := range b {
		at := findLine(a, y[0])
		if at < 0 {
			return fmt.Sprintf("no kind or part %q", y[0])
		}
		if d := lineDifference(a[at], y); d != "" {
			return d
		}
	}
	return "kinds or parts in another order"
}

// lineDifference compares the components of a kind.
func lineDifference(theirs, ours []string) string {
	for i := 1; i < max(len(theirs), len(ours)); i++ {
		switch {
		case i >= len(theirs):
			return fmt.Sprintf("kind %s: no component %s", ours[0], word(ours[i], 0))
		case i >= len(ours):
			return fmt.Sprintf("kind %s: unknown component %.60q", ours[0], word(theirs[i], 0))
		case word(theirs[i], 0) != word(ours[i], 0):
			return fmt.Sprintf("kind %s: unknown component %.60q, expected %s", ours[0], word(theirs[i], 0),
				word(ours[i], 0))
		case theirs[i] == ours[i]:
			continue
		}
		x, y := strings.Fields(theirs[i]), strings.Fields(ours[i])
		for n := 1; n < max(len(x), len(y)); n += 2 {
			got, want := columnAt(x, n), columnAt(y, n)
			if got != want {
				return fmt.Sprintf("kind %s: component %s: unknown column %.60q, expected %q", ours[0],
					word(ours[i], 0), got, want)
			}
		}
	}
	return ""
}

// columnAt is a column's name and type, "none" after the last.
func columnAt(words []string, n int) string {
	if n+1 >= len(words) {
		return "none"
	}
	return words[n] + " " + words[n+1]
}

// word is the n-th word of a text, "" if there is none.
func word(text string, n int) string {
	if words := strings.Fields(text); n < len(words) {
		return words[n]
	}
	return ""
}

// schemaLines splits a schema into kinds, and these into their name and components.
func schemaLines(text []byte) (lines [][]string) {
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		lines = append(lines, strings.Split(line, "|"))
	}
	return lines
}

func findLine(lines [][]string, name string) int {
	for i := range lines {
		if lines[i][0] == name {
			return i
		}
	}
	return -1
}

func lineNames(lines [][]string) string {
	var names []string
	for _, l := range lines {
		names = append(names, l[0])
	}
	return strings.Join(names, ", ")
}
