package snapshot

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// sectionOf is a snapshot of one row, as a sender with a schema makes it.
func sectionOf(t *testing.T, s schema.Schema, at tick.Tick) []byte {
	t.Helper()
	ring, e, k := NewRing(s, GroupRows, Window, 1), NewEncoder(schema.DefaultModel(s), GroupRows), NewTracker(GroupRows, 1)
	row := make([]int32, len(s.Fields))
	for i, f := range s.Fields {
		_, row[i] = f.Range()
	}
	ring.Begin(at).Set(2, netid.Make(2, 1), row)
	e.Begin(ring.At(at), ring)
	k.Advance(at)
	var p Packer
	p.Begin(e, k, 0, 1)
	out, _, _, _ := p.Next(nil, 1200)
	return out
}

// A sender with another schema is suspected at its first section, not only after a time.
func TestSchemaErrorNamesTheSchema(t *testing.T) {
	here := schema.Schema{Name: "car", Fields: []schema.Field{{Name: "x", Max: 3}, {Name: "y", Max: 3}}}
	there := schema.Schema{Name: "car", Fields: []schema.Field{{Name: "x", Max: 1 << 20}, {Name: "y", Wrap: 360}}}
	m := schema.DefaultModel(here)
	foreign := sectionOf(t, there, 1)
	d := NewDecoder(m, GroupRows, 1)
	err := d.Section(1, foreign)
	var named *SchemaError
	if !errors.As(err, &named) || !errors.Is(err, ErrRun) || named.Name != "car" || named.Schema != here.Hash() ||
		named.Model != m.Hash() || !strings.Contains(err.Error(), fmt.Sprintf("schema car %016x", here.Hash())) {
		t.Fatalf("the first section of another schema: %v", err)
	}
	// What is no sign of another schema stays as it is, and bad bytes between good ones are bad bytes.
	if err := d.Section(0, foreign); err != ErrStale {
		t.Errorf("tick 0: %v", err)
	}
	for at := tick.Tick(1); at < 4; at++ {
		if err := d.Section(at, sectionOf(t, here, at)); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if err := d.Section(at, foreign); err != ErrRun {
				t.Fatalf("bad bytes %d after a good section: %v", i, err)
			}
		}
	}
	if err := d.Section(4, foreign); !errors.As(err, &named) {
		t.Errorf("nothing was read for long: %v", err)
	}
	single := schema.Schema{Name: "own", Single: true, Fields: []schema.Field{{Name: "x", Max: 3}}}
	own := NewOwnerReader(schema.DefaultModel(single), 1)
	if _, _, err := own.Parse(1, []byte{200}); !errors.As(err, &named) || named.Name != "own" || !errors.Is(err, ErrRun) {
		t.Errorf("the first own row: %v", err)
	}
	if n := alloctest.In(10, func() { _ = d.Section(4, foreign) }); n != 0 {
		t.Errorf("%v allocations for a refused section", n)
	}
}
