package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// A tracker counts slots as a ring, an encoder and a decoder do. The row in the last slot is sent, and a
// tracker with less room is named instead of leaving rows out.
func TestTrackerCountsSlots(t *testing.T) {
	const slots = 5*GroupRows - 3
	m := schema.DefaultModel(playerSchema)
	ring, e, d := NewRing(playerSchema, slots, Window, 1), NewEncoder(m, slots), NewDecoder(m, slots, 1)
	row := make([]int32, len(playerSchema.Fields))
	id := netid.Make(slots-1, 1)
	ring.Begin(1).Set(slots-1, id, row)
	e.Begin(ring.At(1), ring)

	begin := func(k *Tracker) (panicked string) {
		defer func() {
			if r := recover(); r != nil {
				panicked = fmt.Sprint(r)
			}
		}()
		k.Advance(1)
		var p Packer
		p.Begin(e, k, 0, ring.Groups())
		for !p.Done() {
			payload, _, _, _ := p.Next(nil, 1200)
			if err := d.Section(1, payload); err != nil {
				t.Fatal(err)
			}
		}
		p.Costs(e, k, nil, make([]uint16, 2*64))
		return ""
	}
	if said := begin(NewTracker(slots, 1)); said != "" {
		t.Fatal(said)
	}
	if got := d.At(1).ID(slots - 1); got != id {
		t.Errorf("the last slot holds %v, want %v", got, id)
	}
	const want = "frame of 80 slots, want at most those of the tracker, 16"
	if said := begin(NewTracker(5, 1)); !strings.Contains(said, want) { // 5 groups, by mistake
		t.Errorf("a short tracker: %q, want %q", said, want)
	}
	for _, slots := range []int{-1, 0, MaxGroups*GroupRows + 1} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, fmt.Sprintf("tracker of %d slots", slots)) {
					t.Errorf("NewTracker(%d, 1): %s", slots, said)
				}
			}()
			NewTracker(slots, 1)
		}()
	}
}

// TestMistakesPanicWithNumbers: a frame, a ring and a tracker say what they were given and what they
// expected.
func TestMistakesPanicWithNumbers(t *testing.T) {
	ring, k := NewRing(playerSchema, 16, Window, 1), NewTracker(16, 1)
	f := ring.Begin(5)
	k.Advance(5)
	fields := len(playerSchema.Fields)
	row := make([]int32, fields)
	for _, c := range []struct {
		misuse func()
		want   string
	}{
		{func() { f.Set(40, netid.Make(40, 1), row) }, "set in slot 40, want an id of that slot, slot 0 to 15"},
		{func() { f.Set(-1, netid.Make(3, 1), row) }, "3.1 with"},
		{func() { f.Set(3, 0, row) }, "set in slot 3, want"},
		{func() { f.Set(3, netid.Make(3, 1), row[1:]) }, fmt.Sprintf("with %d values set in slot 3, want", fields-1)},
		{func() { f.Row(3, row[1:]) }, fmt.Sprintf("into %d values, want %d", fields-1, fields)},
		{func() { ring.Begin(5) }, "frame of tick 5 begun after that of tick 5, want a later one"},
		{func() { ring.Begin(3) }, "frame of tick 3 begun after that of tick 5, want a later one"},
		{func() { NewRing(playerSchema, 16, Window, 1).Begin(0) }, "frame of tick 0"},
		{func() { k.Advance(4) }, "tracker advanced to tick 4 after 5, want a later one"},
		{func() { k.Advance(5) }, "tracker advanced to tick 5 after 5, want a later one"},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, c.want) {
					t.Errorf("%q, want %q", said, c.want)
				}
			}()
			c.misuse()
		}()
	}
}
