package snapshot

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"pgregory.net/rapid"
)

// TestBeforeAndAfterEqualTwin: what a client interpolates between is what a search through all it ever got, and that is
// not yet a window old, would find.
func TestBeforeAndAfterEqualTwin(t *testing.T) {
	one := schema.Schema{Name: "one", Fields: []schema.Field{{Name: "v"}}}
	m := schema.DefaultModel(one)
	rapid.Check(t, func(t *rapid.T) {
		interval := tick.Tick(rapid.IntRange(1, 3).Draw(t, "interval"))
		d := NewDecoder(m, 33, interval)
		got := map[tick.Tick]map[int]bool{}
		top := interval
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
			for old := range got {
				if old < at && (at/interval-old/interval)%Window == 0 {
					delete(got, old) // replaced in the same place
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
			if oldest := d.Newest(g*GroupRows + 3); after != 0 && after+Window*interval <= oldest {
				return // the twin remembers more than a window
			}
			if f := d.After(g*GroupRows+15, ask); (f == nil) != (after == 0) || f != nil && f.Tick != after {
				t.Fatalf("after %d: %v, want %d", ask, f, after)
			}
		}
	})
}
