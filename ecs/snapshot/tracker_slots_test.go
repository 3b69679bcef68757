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
	const want = "frame of 80 slots, tracker has room for 16"
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
