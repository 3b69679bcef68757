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
func (s Set) Diff(o Set) string { return list(s.differences(o)) }

// difference is one thing in that two sets differ.
type difference struct {
	at   string // "player.yaw", "schema player" or "model"
	says string
}

func (s Set) differences(o Set) (all []difference) {
	for _, a := range s.Schemas {
		if i := slices.IndexFunc(o.Schemas, func(b Schema) bool { return a.Name == b.Name }); i >= 0 {
			all = append(all, diff(a, o.Schemas[i])...)
		} else {
			all = append(all, difference{"schema " + a.Name, "only here"})
		}
	}
	for i, b := range o.Schemas {
		if !slices.ContainsFunc(s.Schemas, func(a Schema) bool { return a.Name == b.Name }) {
			all = append(all, difference{"schema " + b.Name, "only there"})
		} else if len(s.Schemas) == len(o.Schemas) && s.Schemas[i].Name != b.Name {
			all = append(all, difference{fmt.Sprintf("schema %d", i),
				fmt.Sprintf("%s here, %s there", s.Schemas[i].Name, b.Name)})
		}
	}
	if len(all) == 0 && s.Model != o.Model {
		all = append(all, difference{"model", fmt.Sprintf("%016x here, %016x there", s.Model, o.Model)})
	}
	return all
}

func list(all []difference) string {
	n := min(len(all), maxDiffs)
	lines := make([]string, 0, maxDiffs+1)
	for _, d := range all[:n] {
		lines = append(lines, d.at+": "+d.says)
	}
	if n < len(all) {
		lines = append(lines, fmt.Sprintf("and %d more", len(all)-n))
	}
	return strings.Join(lines, "; ")
}

func diff(a, b Schema) (all []difference) {
	say := func(at, format string, args ...any) {
		all = append(all, difference{at, fmt.Sprintf(format, args...)})
	}
	if a.Name != b.Name {
		say("schema", "%s here, %s there", a.Name, b.Name)
	}
	if a.Single != b.Single {
		say(a.Name, "%s here, %s there", rows(a), rows(b))
	}
	var here, there []string // what both have, in their orders
	for _, f := range a.Fields {
		at := a.Name + "." + f.Name
		i := slices.IndexFunc(b.Fields, func(g Field) bool { return f.Name == g.Name })
		if i < 0 {
			say(at, "only here")
			continue
		}
		here = append(here, f.Name)
		g := b.Fields[i]
		if m, n := f.measure(), g.measure(); m != n {
			say(at, "%s here, %s there", orAny(m), orAny(n))
		}
		if f.Predict != g.Predict {
			say(at, "predict %v here, %v there", f.Predict, g.Predict)
		}
		if f.Spawn != g.Spawn {
			say(at, "spawn %v here, %v there", f.Spawn, g.Spawn)
		}
	}
	for _, g := range b.Fields {
		if slices.Contains(here, g.Name) {
			there = append(there, g.Name)
		} else {
			say(b.Name+"."+g.Name, "only there")
		}
	}
	for i := range here {
		if here[i] != there[i] {
			say(a.Name, "%s comes before %s here, after it there", here[i], there[i])
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
