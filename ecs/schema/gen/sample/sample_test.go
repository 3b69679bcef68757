package sample_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
	. "github.com/tickrate/tickrate/ecs/schema/gen/sample"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// code is what was generated for one section of a component T.
type code[T any] struct {
	section schema.Section
	schema  schema.Schema
	hash    uint64
	row     func(*T, []int32)
	restore func(*T, []int32)
	lerp    func(*T, []int32, []int32, uint8)
	columns func([][]int32, []T)
}

var edges = []code[Edges]{
	{schema.Everyone, EdgesSchema, EdgesHash, (*Edges).Row, (*Edges).Restore, (*Edges).Lerp, EdgesColumns},
}

var character = []code[Character]{
	{schema.Everyone, CharacterSchema, CharacterHash, (*Character).Row, (*Character).Restore, (*Character).Lerp, CharacterColumns},
	{schema.Owner, CharacterOwnerSchema, CharacterOwnerHash, (*Character).RowOwner, (*Character).RestoreOwner, (*Character).LerpOwner, CharacterOwnerColumns},
	{schema.Others, CharacterOthersSchema, CharacterOthersHash, (*Character).RowOthers, (*Character).RestoreOthers, (*Character).LerpOthers, CharacterOthersColumns},
}

// oddFloats are what a simulation should never hand over but some day will.
var oddFloats = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0.5, -0.5, 1, 359.95, 359.9499, 360, -0.05, -360, 7e8, -7e8, 2.5, 0.49999997,
	1 << 24, -1 << 24, 1 << 31, 1 << 32, 1e18, 16777217. / (1 << 24), 2000.0039, -2048, 2048,
}

// fill gives v, whatever it is, values without any restraint.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float32:
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			v.SetFloat(float64(rapid.SampledFrom(oddFloats).Draw(t, "odd")))
		case 1:
			v.SetFloat(float64(float32(rapid.IntRange(-1<<22, 1<<22).Draw(t, "n")) / float32(rapid.SampledFrom([]int{1, 2, 20, 256, 2000}).Draw(t, "per"))))
		default:
			v.SetFloat(float64(math.Float32frombits(rapid.Uint32().Draw(t, "bits"))))
		}
	case reflect.String:
	default:
		n := rapid.Uint64().Draw(t, "n")
		if rapid.Bool().Draw(t, "edge") {
			n = uint64(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, 100, -100, 127, -128, 65535, 65528, 4095}).Draw(t, "edge"))
		}
		if v.CanInt() {
			v.SetInt(int64(n) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
		} else {
			v.SetUint(n << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
		}
	}
}

// drawRow is any row that a decoder may hand over.
func drawRow(t *rapid.T, s schema.Schema) []int32 {
	row := make([]int32, len(s.Fields))
	for i, f := range s.Fields {
		lo, hi := f.Range()
		row[i] = rapid.OneOf(rapid.Int32Range(lo, hi), rapid.SampledFrom([]int32{lo, hi, f.Clamp(lo + (hi-lo)/2), f.Clamp(0)})).Draw(t, f.Name)
	}
	return row
}

// TestRow62GeneratedEqualsReflective is row 62 of docs/features.md: what structgen wrote
// does what the tags say, as the reflective twin reads them. The two share the parser of tags and
// no arithmetic.
func TestRow62GeneratedEqualsReflective(t *testing.T) {
	t.Run("edges", func(t *testing.T) { testEqual(t, edges) })
	t.Run("character", func(t *testing.T) { testEqual(t, character) })
}

func testEqual[T comparable](t *testing.T, all []code[T]) {
	twin, err := schema.Reflect[T]()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if want := twin.Schemas[c.section]; !reflect.DeepEqual(c.schema, want) || c.hash != want.Hash() {
			t.Errorf("%v: generated %+v, hash %x\nreflective %+v, hash %x", c.section, c.schema, c.hash, want, want.Hash())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var v [2]T
		for i := range v {
			fill(t, reflect.ValueOf(&v[i]).Elem())
		}
		for _, c := range all {
			n := len(c.schema.Fields)
			got, columns := make([]int32, n), make([][]int32, n)
			for f := range columns {
				columns[f] = make([]int32, 3)
			}
			c.columns(columns, v[:])
			for i := range v {
				c.row(&v[i], got)
				want := twin.Capture(&v[i], c.section)
				if !slices.Equal(got, want) {
					t.Fatalf("%v row of %+v\ngenerated  %v\nreflective %v", c.section, v[i], got, want)
				}
				for f := range got {
					if columns[f][i] != got[f] || c.schema.Fields[f].Clamp(got[f]) != got[f] {
						t.Fatalf("%v: field %d is %d, in its column %d, clamped %d", c.section, f, got[f], columns[f][i], c.schema.Fields[f].Clamp(got[f]))
					}
				}
			}
			a, b := drawRow(t, c.schema), drawRow(t, c.schema)
			var x, y T
			c.restore(&x, a)
			twin.Restore(&y, c.section, a)
			if x != y {
				t.Fatalf("%v of %v\ngenerated  %+v\nreflective %+v", c.section, a, x, y)
			}
			c.row(&x, got)
			if !slices.Equal(got, a) && exact(c.schema, a) {
				t.Fatalf("%v: row %v came back as %v", c.section, a, got)
			}
			frac := rapid.Uint8().Draw(t, "frac")
			c.lerp(&x, a, b, frac)
			twin.Lerp(&y, c.section, a, b, frac)
			if x != y {
				t.Fatalf("%v, %d/256 from %v to %v\ngenerated  %+v\nreflective %+v", c.section, frac, a, b, x, y)
			}
			c.lerp(&x, a, b, 0)
			if twin.Restore(&y, c.section, a); x != y {
				t.Fatalf("%v: 0/256 of the way is not the start: %+v, %+v", c.section, x, y)
			}
		}
	})
}

// exact leaves out rows that hold a step which no float32 tells from its neighbour: beyond 24 bits.
func exact(s schema.Schema, row []int32) bool {
	for i, f := range s.Fields {
		if f.Name == "wide" && (row[i] > 1<<22 || row[i] < -1<<22) {
			return false
		}
	}
	return true
}

// No section's row depends on what another section's receivers are told. What a lobby's receivers
// are sent is tested on its datagrams, in package server.
func TestSectionsKeepApart(t *testing.T) {
	twin, err := schema.Reflect[Character]()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var a, b Character
		fill(t, reflect.ValueOf(&a).Elem())
		fill(t, reflect.ValueOf(&b).Elem())
		for _, c := range character {
			mixed := b // section c from a, all else from b
			for _, l := range twin.Leaves {
				if l.Section == c.section && l.Derived == "" {
					part(&mixed, l.Index).Set(part(&a, l.Index))
				}
			}
			want, got := make([]int32, len(c.schema.Fields)), make([]int32, len(c.schema.Fields))
			c.row(&a, want)
			c.row(&mixed, got)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: row %v, but %v when only other sections changed", c.section, want, got)
			}
		}
	})
}

func part(c *Character, index []int) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for _, i := range index {
		if v.Kind() == reflect.Array {
			v = v.Index(i)
		} else {
			v = v.Field(i)
		}
	}
	return v
}

func TestDerivedFieldsFollow(t *testing.T) {
	twin, err := schema.Reflect[Character]()
	if err != nil {
		t.Fatal(err)
	}
	c := Character{Health: 0, Dead: true}
	if err := twin.Verify(&c); err != nil {
		t.Error(err)
	}
	c.Dead = false
	if err := twin.Verify(&c); err == nil || err.Error() != "Character.Dead is false, but IsDead() is true" {
		t.Errorf("verify: %v", err)
	}
	var row [CharacterFields]int32
	c.Row(row[:])
	if c.Restore(row[:]); !c.Dead {
		t.Error("nobody derived Dead")
	}
	c = Character{Health: 1001}
	if err := twin.Verify(&c); err == nil || err.Error() != "Character.Health is 1001, out of range: 0 to 1000 steps" {
		t.Errorf("verify: %v", err)
	}
}

func TestGeneratedCodeAllocatesNothing(t *testing.T) {
	var a, b, columns0 [EdgesFields]int32
	var v [1]Edges
	columns := make([][]int32, EdgesFields)
	for i := range columns {
		columns[i] = columns0[i : i+1]
	}
	if n := alloctest.In(100, func() {
		v[0].Row(a[:])
		v[0].Lerp(a[:], b[:], 100)
		v[0].Restore(b[:])
		EdgesColumns(columns, v[:])
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
