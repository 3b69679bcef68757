package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// slowTracker remembers every acknowledgement by name.
type slowTracker struct {
	interval, now tick.Tick
	sent          map[tick.Tick]bool
	acked         map[tick.Tick]map[int]bool
}

func (k *slowTracker) base(g int) tick.Tick { return k.baseAhead(g, 0) }

// baseAhead is base some intervals ahead.
func (k *slowTracker) baseAhead(g int, ahead tick.Tick) tick.Tick {
	for _, age := range []tick.Tick{1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 24, 32, 48} {
		if t := k.now + ahead*k.interval - age*k.interval; t < k.now && k.acked[t][g] {
			return t
		}
	}
	return 0
}

// baselines adds the two snapshots before that one, as far apart as the two newest are, if they are
// to be had.
func (k *slowTracker) bases(g int) (b Baselines) {
	b[0] = k.base(g)
	var steps []tick.Tick
	for age := tick.Tick(1); age <= 8 && len(steps) < 2; age++ {
		if t := k.now - age*k.interval; t < k.now && k.sent[t] {
			steps = append(steps, age)
		}
	}
	if b[0] == 0 || len(steps) < 2 || steps[1]-steps[0] > 4 {
		return b
	}
	step := steps[1] - steps[0]
	middle := b[0] - step*k.interval
	oldest := middle - step*k.interval
	if (k.now-b[0])/k.interval > deepAge*step || oldest > middle || middle > b[0] || !k.acked[middle][g] || !k.acked[oldest][g] {
		return b
	}
	return Baselines{b[0], middle, oldest}
}

func TestTrackerEqualsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SampledFrom([]int{1, 7, 63, 64, 65, 130}).Draw(t, "groups")
		interval := tick.Tick(rapid.IntRange(1, 4).Draw(t, "interval"))
		phase := tick.Tick(rapid.IntRange(0, int(interval)-1).Draw(t, "phase"))
		k := NewTracker(groups*GroupRows, interval)
		twin := &slowTracker{interval: interval, sent: map[tick.Tick]bool{}, acked: map[tick.Tick]map[int]bool{}}
		now := phase
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += interval * tick.Tick(rapid.SampledFrom([]int{1, 1, 1, 1, 2, 5, 63, 64, 65, 200}).Draw(t, "skip"))
			k.Advance(now)
			twin.now = now
			twin.sent[now] = true
			for range rapid.IntRange(0, 3).Draw(t, "acks") {
				at := now - interval*tick.Tick(rapid.IntRange(0, 70).Draw(t, "age"))
				if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
					at++
				}
				first, count := rapid.IntRange(-1, groups).Draw(t, "first"), rapid.IntRange(-1, groups+2).Draw(t, "count")
				k.Acked(at, first, count)
				if at <= now && now-at < Window*interval && twin.sent[at] && first >= 0 {
					if twin.acked[at] == nil {
						twin.acked[at] = map[int]bool{}
					}
					for g := first; g < first+count; g++ {
						twin.acked[at][g] = true
					}
				}
			}
			first := rapid.IntRange(0, groups).Draw(t, "from")
			end := rapid.IntRange(first, groups).Draw(t, "end")
			g := first
			for _, r := range k.Runs(nil, first, end) {
				if r.First != g || r.Count <= 0 {
					t.Fatalf("run %+v does not follow group %d", r, g)
				}
				for ; g < r.First+r.Count; g++ {
					if want := twin.bases(g); r.Baselines != want || k.Baseline(g) != want[0] {
						t.Fatalf("tick %d, group %d: run has %d, Base %d, twin %d", now, g, r.Baselines, k.Baseline(g), want)
					}
				}
			}
			if g != end {
				t.Fatalf("runs end at %d, want %d", g, end)
			}
			lacking, ahead := 0, rapid.IntRange(0, MaxAge+1).Draw(t, "ahead")
			for g := first; g < end; g++ {
				if twin.baseAhead(g, tick.Tick(ahead)) == 0 {
					lacking++
				}
			}
			if got := k.Lacking(first, end, ahead); got != lacking {
				t.Fatalf("tick %d: %d of groups %d to %d lacking %d intervals ahead, twin %d",
					now, got, first, end, ahead, lacking)
			}
		}
	})
}

// Whatever clients miss and whenever they are sent snapshots, the trackers of a tick name no more than
// 48 sets of baselines, which is what the encoder's memory and its list of caches are made for. Each
// set takes a coding of the blocks that use it.
func TestSetsOfBaselines(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	const interval, now = 3, 600
	sets := map[Baselines]bool{}
	for range 20_000 {
		k := NewTracker(GroupRows, interval)
		newest, step := 1+rng.IntN(8), 1+rng.IntN(6)
		for age := MaxAge + 8; age > 0; age-- {
			sent := age == newest || age == newest+step || age > newest+step && rng.IntN(5) > 0
			if !sent {
				continue
			}
			k.Advance(now - tick.Tick(age*interval))
			if rng.IntN(3) == 0 {
				k.Acked(now-tick.Tick(age*interval), 0, 1)
			}
		}
		k.Advance(now)
		sets[k.Runs(nil, 0, 1)[0].Baselines] = true
	}
	if len(sets) != maxBaselineSets || maxBaselineSets != 48 {
		t.Errorf("%d sets of baselines, want %d, 48", len(sets), maxBaselineSets)
	}
	e := NewEncoder(schema.DefaultModel(playerSchema), GroupRows)
	e.Reserve(1000, GroupRows)
	if len(e.caches) != len(sets) {
		t.Errorf("room for %d sets of baselines, want %d", len(e.caches), len(sets))
	}
}

func TestRunsAreAsLongAsTheyCanBe(t *testing.T) {
	k := NewTracker(130*GroupRows, 1)
	for now := tick.Tick(1); now <= 5; now++ {
		k.Advance(now)
	}
	k.Acked(4, 60, 10)
	k.Acked(3, 0, 130)
	want := []Run{{First: 0, Count: 60, Baselines: Baselines{3}}, {First: 60, Count: 10, Baselines: Baselines{4}}, {First: 70, Count: 60, Baselines: Baselines{3}}}
	if got := k.Runs(nil, 0, 130); !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
}

func TestRunHeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := tick.Tick(rapid.IntRange(1, 10).Draw(t, "interval"))
		now := tick.Tick(rapid.IntRange(Window*10, 1<<30).Draw(t, "now"))
		r := Run{First: rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, MaxGroups-MaxRun)).Draw(t, "first"), Count: rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, MaxRun)).Draw(t, "count")}
		if age := rapid.IntRange(0, Window-1).Draw(t, "age"); age > 0 {
			r.Baselines[0] = now - tick.Tick(age)*interval
			for i, age := 1, age; i < len(r.Baselines); i++ {
				step := rapid.IntRange(0, MaxSpacing).Draw(t, "spacing")
				if age += step; step == 0 || age >= Window {
					break
				}
				r.Baselines[i] = r.Baselines[i-1] - tick.Tick(step)*interval
			}
		}
		r.Rows = rapid.Bool().Draw(t, "rows")
		src := append(AppendRun(nil, r, now, interval), 42)
		got, rest, err := ParseRun(src, now, interval)
		if err != nil || got != r || len(rest) != 1 || rest[0] != 42 {
			t.Fatalf("%+v came back as %+v, %v, %v", r, got, rest, err)
		}
	})
	for i, c := range []struct {
		src           []byte
		now, interval tick.Tick
	}{
		{nil, 100, 1},
		{[]byte{0}, 100, 1},
		{[]byte{0xf0, 0, 15}, 100, 1},
		{[]byte{0xf0, 0, 14, 0}, 100, 1}, // a first group that fits half a byte
		{[]byte{0x0f, 3}, 100, 1},
		{[]byte{0x0f, 14, 0}, 100, 1}, // a count that fits half a byte
		{[]byte{0x00, byRows}, 100, 1},
		{[]byte{0, Window}, 100, 1},
		{[]byte{0, Window, 0}, 100, 1},
		{[]byte{0, Window, 1}, 100, 1},
		{[]byte{0, Window + 1, 0x10}, 100, 1},
		{[]byte{0, Window + 60, 0x04}, 100, 1},
		{[]byte{0, Window + 50, 0xe1}, 100, 1},
		{[]byte{0, Window + 5, 0x41}, 10, 1},
		{[]byte{0, 10}, 10, 1},
		{[]byte{0, 63}, 100, 1 << 30},
		{[]byte{0xf0, 0xff, 0xff, 0}, 100, 1},
		{[]byte{0xf1, 0x0f, 0xff, 0}, 100, 1},
	} {
		if _, rest, err := ParseRun(c.src, c.now, c.interval); err != ErrRun || len(rest) != len(c.src) {
			t.Errorf("case %d: error %v", i, err)
		}
	}
}
