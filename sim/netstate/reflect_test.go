package netstate

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// The generated schemas match the struct tags. This fails after an edit of a struct without go
// generate.
func TestRow62GeneratedSchemasAreCurrent(t *testing.T) {
	for i, c := range []struct {
		t       reflect.Type
		section schema.Section
		s       schema.Schema
		hash    uint64
	}{
		{reflect.TypeFor[PlayerState](), schema.Everyone, Public, PlayerStateHash},
		{reflect.TypeFor[OwnerState](), schema.Owner, Owner, OwnerStateHash},
	} {
		twin, err := schema.ReflectType(c.t)
		if err != nil {
			t.Fatal(err)
		}
		if want := twin.Schemas[c.section]; !reflect.DeepEqual(c.s, want) || c.hash != want.Hash() {
			t.Errorf("%d: %s: run go generate ./sim/netstate", i,
				schema.Set{Schemas: []schema.Schema{c.s}}.Diff(schema.Set{Schemas: []schema.Schema{want}}))
		}
	}
}

func drawRow(t *rapid.T, s schema.Schema, name string) []int32 {
	row := make([]int32, len(s.Fields))
	for i, f := range s.Fields {
		lo, hi := f.Range()
		row[i] = rapid.Int32Range(lo, hi).Draw(t, name+f.Name)
	}
	return row
}

// The generated code of both rows does what the twin does, for whatever a decoder may hand over.
func TestRow62RowsEqualTheTwins(t *testing.T) {
	public, err := schema.Reflect[PlayerState]()
	if err != nil {
		t.Fatal(err)
	}
	own, err := schema.Reflect[OwnerState]()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var p, p2 PlayerState
		var o, o2 OwnerState
		a, b, c := drawRow(t, Public, "a "), drawRow(t, Public, "b "), drawRow(t, Owner, "own ")
		frac := rapid.Uint8().Draw(t, "frac")
		p.Lerp(a, b, frac)
		if public.Lerp(&p2, schema.Everyone, a, b, frac); p != p2 {
			t.Fatalf("%d/256 from %v to %v: %+v, twin %+v", frac, a, b, p, p2)
		}
		p.Restore(a)
		if public.Restore(&p2, schema.Everyone, a); p != p2 {
			t.Fatalf("%v: %+v, twin %+v", a, p, p2)
		}
		o.Restore(c)
		if own.Restore(&o2, schema.Owner, c); o != o2 {
			t.Fatalf("%v: %+v, twin %+v", c, o, o2)
		}
		var row [PublicFields]int32
		if p.Row(row[:]); !slices.Equal(row[:], a) || !slices.Equal(public.Capture(&p, schema.Everyone), a) {
			t.Fatalf("%v came back as %v", a, row)
		}
		var ownRow [OwnerFields]int32
		if o.Row(ownRow[:]); !slices.Equal(ownRow[:], c) || !slices.Equal(own.Capture(&o, schema.Owner), c) {
			t.Fatalf("%v came back as %v", c, ownRow)
		}
	})
}

// TestRow40InterpolationIsTheServers is row 40 of docs/features.md, as far as it is about
// rows: what the tags say of a player's place and view between two snapshots is rig.Lerp, by which
// the server judges shots, bit for bit. Of the figure they say nothing, since it is packed: there
// rig.Lerp is all there is.
func TestRow40InterpolationIsTheServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := netid.Make(3, 1)
		a, b := drawRow(t, Public, "a "), drawRow(t, Public, "b ")
		b[PlayerStateState] = a[PlayerStateState] // one unbroken life
		if b[PlayerStatePitch]-a[PlayerStatePitch] == 2048 {
			// from straight down to straight up lagcomp goes over the back: half a turn either way
			b[PlayerStatePitch]--
		}
		frac := rapid.Uint8().Draw(t, "frac")
		var p PlayerState
		p.Lerp(a, b, frac)
		from, to := PoseOf(id, a), PoseOf(id, b)
		to.Form = from.Form
		if got, want := p.Pose(id), rig.Lerp(&from, &to, frac); got.Pos != want.Pos ||
			got.Yaw != want.Yaw || got.Pitch != want.Pitch || got.Flags != want.Flags {
			t.Fatalf("%d/256 from %v to %v: %+v, lagcomp has %+v", frac, a, b, got, want)
		}
	})
}
