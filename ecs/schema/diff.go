package schema

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiffs is how many differences are spelled out; a line of a log is no place for more.
const maxDiffs = 8

// Diff describes in one line what differs between two sets, s here and o there, and returns
// nothing if they are the same: "player.yaw: wrap 4096 here, wrap 2048 there; player.aim: only
// there". It names the models only if the schemas agree. Both sets must be as ParseSet returns
// them, or pass it.
func (s Set) Diff(o Set) string {
	var all []string
	for _, a := range s.Schemas {
		if i := slices.IndexFunc(o.Schemas, func(b Schema) bool { return a.Name == b.Name }); i >= 0 {
			all = append(all, diff(a, o.Schemas[i])...)
		} else {
			all = append(all, "schema "+a.Name+": only here")
		}
	}
	for i, b := range o.Schemas {
		if !slices.ContainsFunc(s.Schemas, func(a Schema) bool { return a.Name == b.Name }) {
			all = append(all, "schema "+b.Name+": only there")
		} else if len(s.Schemas) == len(o.Schemas) && s.Schemas[i].Name != b.Name {
			all = append(all, fmt.Sprintf("schema %d: %s here, %s there", i, s.Schemas[i].Name, b.Name))
		}
	}
	if len(all) == 0 && s.Model != o.Model {
		all = append(all, fmt.Sprintf("model: %016x here, %016x there", s.Model, o.Model))
	}
	return list(all)
}

func list(all []string) string {
	if n := len(all); n > maxDiffs {
		all = append(all[:maxDiffs:maxDiffs], fmt.Sprintf("and %d more", n-maxDiffs))
	}
	return strings.Join(all, "; ")
}

func diff(a, b Schema) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if a.Name != b.Name {
		say("schema: %s here, %s there", a.Name, b.Name)
	}
	if a.Single != b.Single {
		say("%s: %s here, %s there", a.Name, rows(a), rows(b))
	}
	var here, there []string // what both have, in their orders
	for _, f := range a.Fields {
		i := slices.IndexFunc(b.Fields, func(g Field) bool { return f.Name == g.Name })
		if i < 0 {
			say("%s.%s: only here", a.Name, f.Name)
			continue
		}
		here = append(here, f.Name)
		g := b.Fields[i]
		if m, n := f.measure(), g.measure(); m != n {
			say("%s.%s: %s here, %s there", a.Name, f.Name, orAny(m), orAny(n))
		}
		if f.Predict != g.Predict {
			say("%s.%s: predict %v here, %v there", a.Name, f.Name, f.Predict, g.Predict)
		}
	}
	for _, g := range b.Fields {
		if slices.Contains(here, g.Name) {
			there = append(there, g.Name)
		} else {
			say("%s.%s: only there", b.Name, g.Name)
		}
	}
	for i := range here {
		if here[i] != there[i] {
			say("%s: %s comes before %s here, after it there", a.Name, here[i], there[i])
			break
		}
	}
	return all
}

func orAny(measure string) string {
	if measure == "" {
		return "any"
	}
	return measure
}

func rows(s Schema) string {
	if s.Single {
		return "single"
	}
	return "a row an entity"
}
