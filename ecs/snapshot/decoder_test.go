package snapshot

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestBeforeAndAfterEqualTwin: what a client interpolates between is what a search through all it
// ever got, and that is not yet a window old, would find.
func TestBeforeAndAfterEqualTwin(t *testing.T) {
	one := schema.Schema{Name: "one", Fields: []schema.Field{{Name: "v"}}}
	m := schema.DefaultModel(one)
	rapid.Check(t, func(t *rapid.T) {
		interval := tick.Tick(rapid.IntRange(1, 3).Draw(t, "interval"))
		d := NewDecoder(m, 33, interval)
		got := map[tick.Tick]map[int]bool{}
		top, last := interval, tick.Tick(0)
		for range rapid.IntRange(1, 60).Draw(t, "datagrams") {
			at := top
			if back := tick.Tick(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 30, 63}).Draw(t, "back")) * interval; back < at {
				at -= back
			}
			g := rapid.IntRange(0, 2).Draw(t, "group")
			if err := d.Section(at, append(AppendRun(nil, Run{First: g, Count: 1}, at, interval), 0)); err != nil {
				t.Fatal(err) // 16 rows of nobody
			}
			if got[at] == nil {
				got[at] = map[int]bool{}
			}
			got[at][g] = true
			last = max(last, at)
			for old := range got {
				if old+Window*interval <= last {
					delete(got, old)
				}
			}
			top += interval * tick.Tick(rapid.SampledFrom([]int{0, 1, 1, 1, 2, 7, 40}).Draw(t, "skip"))

			ask := tick.Tick(rapid.IntRange(0, int(top)+3).Draw(t, "ask"))
			var before, after tick.Tick
			for at, groups := range got {
				switch {
				case !groups[g]:
				case at <= ask:
					before = max(before, at)
				case after == 0 || at < after:
					after = at
				}
			}
			if before+Window*interval <= ask && before < d.Newest(g*GroupRows+3) {
				before = 0 // farther back than Before looks
			}
			if f := d.Before(g*GroupRows, ask); (f == nil) != (before == 0) || f != nil && f.Tick != before {
				t.Fatalf("before %d: %v, want %d", ask, f, before)
			}
			if f := d.After(g*GroupRows+15, ask); (f == nil) != (after == 0) || f != nil && f.Tick != after {
				t.Fatalf("after %d: %v, want %d", ask, f, after)
			}
		}
	})
}

// TestWhoIsGoneStaysGone: when the snapshot that said that somebody is gone falls out of the
// window, an older one that showed it is not found any more either, even if nothing has come in its
// place.
func TestWhoIsGoneStaysGone(t *testing.T) {
	one := schema.Schema{Name: "one", Fields: []schema.Field{{Name: "v"}}}
	m := schema.DefaultModel(one)
	const slot, shown, gone = 3, 10, 11
	ring, e, d := NewRing(one, 2*GroupRows, Window, 1), NewEncoder(m, 2*GroupRows), NewDecoder(m, 2*GroupRows, 1)
	say := func(at tick.Tick, id netid.ID) {
		f := ring.Begin(at)
		if id != 0 {
			f.Set(slot, id, []int32{0})
		}
		e.Begin(f, ring)
		k := NewTracker(2*GroupRows, 1)
		k.Advance(at)
		var p Packer
		p.Begin(e, k, 0, 1)
		data, _, _, _ := p.Next(nil, 1000)
		if err := d.Section(at, data); err != nil {
			t.Fatalf("tick %d: %v", at, err)
		}
	}
	say(shown, netid.Make(slot, 1))
	say(gone, 0)
	if f := d.Before(slot, gone+5); f == nil || f.Tick != gone {
		t.Fatalf("while it is held: %v", f)
	}
	// Of another group.
	if err := d.Section(gone+Window, append(AppendRun(nil, Run{First: 1, Count: 1}, gone+Window, 1), 0)); err != nil {
		t.Fatal(err)
	}
	if f := d.Before(slot, gone+Window-5); f != nil {
		t.Errorf("who is gone is back, from tick %d", f.Tick)
	}
	if d.At(shown) != nil || d.Section(shown+1, nil) != ErrStale {
		t.Error("a frame behind the window is held, or would be taken")
	}
}
