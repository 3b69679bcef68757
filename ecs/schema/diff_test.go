package schema_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
)

func TestDescribe(t *testing.T) {
	s := schema.Schema{Name: "own", Single: true, Fields: []schema.Field{
		{Name: "pos.x", Min: -1 << 23, Max: 1 << 23, Often: 70},
		{Name: "yaw", Wrap: 4096},
		{Name: "any", Predict: schema.Linear},
		{Name: "full", Min: math.MinInt32, Max: math.MaxInt32},
	}}
	const described = "schema own single\nfield pos.x -8388608..8388608\nfield yaw wrap 4096\n" +
		"field any predict linear\nfield full\n"
	if got := s.Describe(); got != described {
		t.Errorf("%q, want %q", got, described)
	}
	text, err := schema.Set{Schemas: []schema.Schema{s, player}, Model: 0xc0ffee}.AppendText([]byte("before"))
	want := "before" + s.Describe() + player.Describe() + "model 0000000000c0ffee\n"
	if err != nil || string(text) != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	many := make([]schema.Schema, schema.MaxSchemas+1)
	for i, bad := range [][]schema.Schema{nil, {s, s}, {{Name: "s"}}, many} {
		set := schema.Set{Schemas: bad}
		text, err := set.AppendText([]byte("x"))
		if !errors.Is(err, schema.ErrSchema) || string(text) != "x" {
			t.Errorf("case %d: %q, %v", i, text, err)
		}
	}
}

// TestRow22MismatchNamesTheField is row 22 as far as it is about schemas: what differs is said by
// name.
func TestRow22MismatchNamesTheField(t *testing.T) {
	f := func(f ...schema.Field) schema.Schema { return schema.Schema{Name: "player", Fields: f} }
	x, any := schema.Field{Name: "x", Min: -5, Max: 5}, schema.Field{Name: "any"}
	yaw := schema.Field{Name: "yaw", Wrap: 4096}
	half, wide := schema.Field{Name: "yaw", Wrap: 2048}, schema.Field{Name: "x", Min: -5, Max: 9}
	ahead := schema.Field{Name: "any", Predict: schema.Linear}
	hint := schema.Field{Name: "x", Min: -5, Max: 5, Often: 50}
	single := f(x)
	single.Single = true
	many := make([]schema.Field, 12)
	for i := range many {
		many[i].Name = fmt.Sprintf("f%d", i)
	}
	for i, c := range []struct {
		a, b schema.Schema
		want string
	}{
		{f(x, yaw), f(x, yaw), ""},
		{f(x), f(hint), ""},
		{f(x, yaw), f(x, half), "player.yaw: wrap 4096 here, wrap 2048 there"},
		{f(x), f(wide), "player.x: -5..5 here, -5..9 there"},
		{f(any), f(schema.Field{Name: "any", Max: 1}), "player.any: any here, 0..1 there"},
		{f(any), f(ahead), "player.any: predict hold here, linear there"},
		{f(x, yaw), f(x), "player.yaw: only here"},
		{f(x), f(x, yaw), "player.yaw: only there"},
		{f(x, yaw), f(yaw, x), "player: x comes before yaw here, after it there"},
		{f(x, any, yaw), f(half, x), "player.any: only here; player.yaw: wrap 4096 here, wrap 2048 there; " +
			"player: x comes before yaw here, after it there"},
		{f(x), single, "player: a row an entity here, single there"},
		{f(x), schema.Schema{Name: "gamer", Fields: f(x).Fields}, "schema: player here, gamer there"},
		{f(many...), f(x), "player.f0: only here; player.f1: only here; player.f2: only here; " +
			"player.f3: only here; player.f4: only here; player.f5: only here; " +
			"player.f6: only here; player.f7: only here; and 5 more"},
	} {
		if got := schema.Diff(c.a, c.b); got != c.want {
			t.Errorf("case %d: %q, want %q", i, got, c.want)
		}
	}
	other := schema.Schema{Name: "other", Fields: []schema.Field{any}}
	set := func(model uint64, all ...schema.Schema) schema.Set {
		return schema.Set{Schemas: all, Model: model}
	}
	for i, c := range []struct {
		a, b schema.Set
		want string
	}{
		{set(1, f(x)), set(1, f(x)), ""},
		{set(1, f(x)), set(2, f(x)), "model: 0000000000000001 here, 0000000000000002 there"},
		{set(1, f(x)), set(2, f(wide)), "player.x: -5..5 here, -5..9 there"},
		{set(0, f(x), other), set(0, other), "schema player: only here"},
		{set(0, f(x)), set(0, f(x), other), "schema other: only there"},
		{set(0, f(x), other), set(0, other, f(x)), "schema 0: player here, other there; " +
			"schema 1: other here, player there"},
	} {
		if got := c.a.Diff(c.b); got != c.want {
			t.Errorf("set %d: %q, want %q", i, got, c.want)
		}
	}
}

func drawSet(t *rapid.T) (s schema.Set) {
	fields := []schema.Field{{Name: "x", Min: -5, Max: 5}, {Name: "x", Min: -5, Max: 6},
		{Name: "x", Wrap: 6}, {Name: "y"}, {Name: "y", Predict: schema.Best}, {Name: "z"}}
	names := rapid.Permutation([]string{"a", "b"}).Draw(t, "names")
	for _, name := range names[:rapid.IntRange(1, 2).Draw(t, "schemas")] {
		c := schema.Schema{Name: name, Single: rapid.Bool().Draw(t, "single")}
		for _, f := range rapid.Permutation(fields).Draw(t, "fields")[:rapid.IntRange(1, 4).Draw(t, "n")] {
			if !slices.ContainsFunc(c.Fields, func(g schema.Field) bool { return g.Name == f.Name }) {
				c.Fields = append(c.Fields, f)
			}
		}
		s.Schemas = append(s.Schemas, c)
	}
	s.Model = rapid.Uint64Range(1, 2).Draw(t, "model")
	return s
}

// A text comes back as the set that it was written from; two sets differ by Diff exactly if they do
// by text, and by hash.
func TestTextRoundTripAndDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet(t), drawSet(t)
		if rapid.Bool().Draw(t, "same schemas") {
			b.Schemas = a.Schemas
		}
		text, err := a.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := schema.ParseSet(text)
		if err != nil || !reflect.DeepEqual(got, a) || got.Diff(a) != "" || a.Diff(got) != "" {
			t.Fatalf("%s came back as %+v, %v", text, got, err)
		}
		other, err := b.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		if same := bytes.Equal(text, other); same != (a.Diff(b) == "") || same != (b.Diff(a) == "") {
			t.Fatalf("%s and\n%s differ by %q and by %q", text, other, a.Diff(b), b.Diff(a))
		}
		x, y := a.Schemas[0], b.Schemas[0]
		same, diff := x.Hash() == y.Hash(), schema.Diff(x, y)
		if (x.Describe() == y.Describe()) != same || (diff == "") != same {
			t.Fatalf("%s and %s: hashes %x and %x, difference %q", x.Describe(), y.Describe(), x.Hash(),
				y.Hash(), diff)
		}
	})
}

// The longest text that there can be is within its limit.
func TestLongestText(t *testing.T) {
	var s schema.Set
	for i := range schema.MaxSchemas {
		c := schema.Schema{Name: strings.Repeat(string(rune('a'+i)), schema.MaxName), Single: true}
		for j := range schema.MaxSingleFields {
			c.Fields = append(c.Fields, schema.Field{Name: fmt.Sprintf("%032d", j), Min: math.MinInt32,
				Max: math.MaxInt32 - 1, Predict: schema.Quadratic})
		}
		s.Schemas = append(s.Schemas, c)
	}
	text, err := s.AppendText(nil)
	if err != nil || len(text) > schema.MaxText || len(text) < schema.MaxText*9/10 {
		t.Errorf("%d bytes, limit %d, %v", len(text), schema.MaxText, err)
	}
	if got, err := schema.ParseSet(text); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("it does not come back: %v", err)
	}
}

func TestBadTexts(t *testing.T) {
	for i, c := range []struct{ text, want string }{
		{"", "0 schemas"},
		{"model 0000000000000001", "line 1 is not ended"},
		{"model 0000000000000001\n", "0 schemas"},
		{"schema s\nfield x\n", "line 2: expected model"},
		{"schema s\nfield x\nmodel 1\n", "not written as"},
		{"schema s\nfield x\nmodel 00000000000000001\n", "not written as"},
		{"schema s\nfield x\nmodel zz\n", "line 3: expected a hash"},
		{"schema s\nfield x 1..0\nmodel 0000000000000001\n", "min 1 is above max 0"},
		{"schema s\nfield x 01..2\nmodel 0000000000000001\n", "not written as"},
		{"schema s\nfield x 1..99999999999\nmodel 0000000000000001\n",
			"line 2: expected a number of 32 bits"},
		{"schema s\nfield x 0..0\nmodel 0000000000000001\n", "not written as"},
		{"schema s\nfield x wrap 1\nmodel 0000000000000001\n", "wrap 1"},
		{"schema s\nfield x wrap 4 5\nmodel 0000000000000001\n", "line 2: expected least..greatest"},
		{"schema s\nfield x predict magic\nmodel 0000000000000001\n", "line 2: expected one of hold"},
		{"schema s\nfield x predict hold\nmodel 0000000000000001\n", "not written as"},
		{"schema s\nfield x\nfield x\nmodel 0000000000000001\n", `field 1 is called "x"`},
		{"schema s\nfield x\nschema s\nfield x\nmodel 0000000000000001\n", "two schemas are called s"},
		{"schema s many\nfield x\nmodel 0000000000000001\n", "line 1: expected schema, field or model"},
		{"field x\nmodel 0000000000000001\n", "line 1: expected schema, field or model"},
		{"schema s\x1b[31m\nfield x\nmodel 0000000000000001\n", "letters, digits"},
		{"schema s\nfield " + strings.Repeat("x", 100) + "\nmodel 0000000000000001\n", "line 2: 106 bytes"},
		{"schema s\n" + strings.Repeat("field x\n", 36) + "model 0000000000000001\n",
			"line 37: more than 35 fields"},
		{strings.Repeat("schema s\n", 9) + "model 0000000000000001\n", "line 9: more than 8 schemas"},
		{strings.Repeat("\n", 1000), "1000 lines"},
		{strings.Repeat("x", schema.MaxText+1), "bytes, at most"},
	} {
		s, err := schema.ParseSet([]byte(c.text))
		if !errors.Is(err, schema.ErrText) || !strings.Contains(err.Error(), c.want) || s.Schemas != nil {
			t.Errorf("case %d: %+v, %v, want %q", i, s, err, c.want)
		}
	}
}

// Whatever bytes come from the network, an accepted text is canonical, its schemas are usable, and
// its difference to our own is one line.
func FuzzParseSet(f *testing.F) {
	ours := schema.Set{Schemas: []schema.Schema{player, single()}, Model: 7}
	text, err := ours.AppendText(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("schema player\nfield x wrap 9 predict best\nmodel 0000000000000001\n"))
	f.Add([]byte("schema s single\nfield x -1..2\nfield y\nmodel ffffffffffffffff\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := schema.ParseSet(src)
		if err != nil {
			if !errors.Is(err, schema.ErrText) {
				t.Fatalf("error %v does not wrap ErrText", err)
			}
			return
		}
		again, err := s.AppendText(nil)
		if err != nil || !bytes.Equal(again, src) {
			t.Fatalf("%q is written as %q, %v", src, again, err)
		}
		for _, c := range s.Schemas {
			// Panics if it fails Check.
			schema.DefaultModel(schema.Schema{Name: c.Name, Single: true, Fields: c.Fields[:1]})
		}
		d := ours.Diff(s)
		if strings.ContainsAny(d, "\n\r\x1b") || len(d) > 2048 || (d == "") != bytes.Equal(src, text) {
			t.Fatalf("difference %q", d)
		}
	})
}
