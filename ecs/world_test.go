package ecs_test

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/alloctest"
)

type (
	pos  struct{ geom.Vec3 }
	vel  struct{ geom.Vec3 }
	life struct{ Health int32 }
	tag  struct{}
)

func TestNetIDPacksIndexAndGeneration(t *testing.T) {
	id := netid.Make(0xABCDEF, 0x12)
	if id != 0xABCDEF12 || id.Index() != 0xABCDEF || id.Generation() != 0x12 || id.String() != "11259375.18" {
		t.Fatal(id, uint32(id), id.Index(), id.Generation())
	}
}

// twin is the world as maps and lists: slow, and obviously right.
type twin struct {
	slots  int
	gens   map[int]uint8
	kinds  map[netid.ID]ecs.Kind // reserved, live or doomed
	doomed map[netid.ID]bool
	rows   map[ecs.Kind][]netid.ID // what arche's swap removal should give
	health map[netid.ID]int32
	queue  []func()
	born   []netid.ID
	gone   []netid.ID
}

func (m *twin) live(id netid.ID) (int, bool) {
	for row, other := range m.rows[m.kinds[id]] {
		if other == id {
			return row, true
		}
	}
	return 0, false
}

func (m *twin) spawn(k ecs.Kind) netid.ID {
	taken := map[int]bool{}
	for id := range m.kinds {
		taken[id.Index()] = true
	}
	for i := range m.slots {
		if taken[i] {
			continue
		}
		if m.gens[i]++; m.gens[i] == 0 {
			m.gens[i] = 1
		}
		id := netid.Make(i, m.gens[i])
		m.kinds[id] = k
		m.queue = append(m.queue, func() {
			if !m.doomed[id] {
				m.rows[k] = append(m.rows[k], id)
				m.born = append(m.born, id)
			}
		})
		return id
	}
	return 0
}

func (m *twin) despawn(id netid.ID) bool {
	k, ok := m.kinds[id]
	if !ok || m.doomed[id] {
		return false
	}
	m.doomed[id] = true
	m.queue = append(m.queue, func() {
		if row, ok := m.live(id); ok {
			rows := m.rows[k]
			rows[row] = rows[len(rows)-1]
			m.rows[k] = rows[:len(rows)-1]
			m.gone = append(m.gone, id)
		}
		delete(m.kinds, id)
		delete(m.doomed, id)
		delete(m.health, id)
	})
	return true
}

func (m *twin) flush() {
	m.born, m.gone = nil, nil
	for _, apply := range m.queue {
		apply()
	}
	m.queue = nil
}

func TestWorldAgreesWithItsTwin(t *testing.T) { rapid.Check(t, worldAgrees) }

func FuzzWorld(f *testing.F) { f.Fuzz(rapid.MakeFuzz(worldAgrees)) }

func worldAgrees(t *rapid.T) {
	slots := rapid.IntRange(1, 80).Draw(t, "slots")
	w := ecs.New(slots)
	health, flag := ecs.Register[life](w), ecs.Register[tag](w)
	kinds := []ecs.Kind{w.Kind("player", health), w.Kind("ghost", flag, health)}
	m := &twin{slots: slots, gens: map[int]uint8{}, kinds: map[netid.ID]ecs.Kind{},
		doomed: map[netid.ID]bool{}, rows: map[ecs.Kind][]netid.ID{}, health: map[netid.ID]int32{}}
	known := []netid.ID{0, netid.Make(slots, 1)}
	check := func(t *rapid.T) {
		if w.Len() != len(m.kinds) {
			t.Fatalf("Len %d, want %d", w.Len(), len(m.kinds))
		}
		for _, id := range known {
			row, ok := w.Row(id)
			wantRow, want := m.live(id)
			if ok != want || row != wantRow || w.Alive(id) != want || w.KindOf(id) != m.kinds[id] {
				t.Fatalf("%v: row %d %v, want %d %v", id, row, ok, wantRow, want)
			}
			p := health.Get(id)
			if (p != nil) != want || want && p.Health != m.health[id] {
				t.Fatalf("%v: health %v, want %d (live %v)", id, p, m.health[id], want)
			}
			if (w.At(id.Index()) == id) != (want || id == 0 && w.At(0) == 0) {
				t.Fatalf("%v: At gives %v, live %v", id, w.At(id.Index()), want)
			}
		}
		for _, k := range kinds {
			v := w.View(k)
			if v.Open() != (len(m.rows[k]) > 0) || v.Len() != len(m.rows[k]) {
				t.Fatalf("%s: %d rows, want %d", w.KindName(k), v.Len(), len(m.rows[k]))
			}
			if v.Len() == 0 {
				continue
			}
			ids, col := v.IDs(), ecs.Column(v, health)
			for i, id := range m.rows[k] {
				if ids[i] != id || col[i].Health != m.health[id] {
					t.Fatalf("%s row %d: %v %d, want %v %d", w.KindName(k), i, ids[i], col[i].Health, id,
						m.health[id])
				}
			}
			v.Close()
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"": check,
		"spawn": func(t *rapid.T) {
			k := rapid.SampledFrom(kinds).Draw(t, "kind")
			id, want := w.Spawn(k), m.spawn(k)
			if id != want {
				t.Fatalf("Spawn gave %v, want %v", id, want)
			}
			known = append(known, id)
		},
		"despawn": func(t *rapid.T) {
			id := rapid.SampledFrom(known).Draw(t, "id")
			if got, want := w.Despawn(id), m.despawn(id); got != want {
				t.Fatalf("Despawn(%v) %v, want %v", id, got, want)
			}
		},
		"hurt": func(t *rapid.T) {
			id, n := rapid.SampledFrom(known).Draw(t, "id"), rapid.Int32().Draw(t, "health")
			if p := health.Get(id); p != nil {
				p.Health, m.health[id] = n, n
			}
		},
		"flush": func(t *rapid.T) {
			w.Flush()
			m.flush()
			if !equal(w.Spawned(), m.born) || !equal(w.Despawned(), m.gone) {
				t.Fatalf("spawned %v, want %v; despawned %v, want %v", w.Spawned(), m.born, w.Despawned(),
					m.gone)
			}
		},
	})
}

func equal(a, b []netid.ID) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestSameCallsGiveSameIDsAndRows(t *testing.T) {
	run := func() (log []netid.ID) {
		w := ecs.New(64)
		k := w.Kind("player", ecs.Register[life](w))
		seed := uint32(1)
		for range 2000 {
			seed = seed*1664525 + 1013904223
			switch id := w.At(int(seed >> 26)); {
			case seed>>20&3 == 0:
				w.Flush()
				if v := w.View(k); v.Open() {
					log = append(log, v.IDs()...)
					v.Close()
				}
			case id != 0:
				w.Despawn(id)
			default:
				log = append(log, w.Spawn(k))
			}
		}
		return log
	}
	a, b := run(), run()
	if len(a) < 1000 || !equal(a, b) {
		t.Fatalf("two runs of the same calls differ (%d, %d entries)", len(a), len(b))
	}
}

func TestRow01GenerationsSkipZeroAndRejectStaleHandles(t *testing.T) {
	w := ecs.New(1)
	k := w.Kind("player", ecs.Register[life](w))
	seen := map[netid.ID]bool{}
	for life := range 255 {
		id := w.Spawn(k)
		w.Flush()
		if id.Generation() == 0 || id.Index() != 0 || seen[id] || !w.Alive(id) {
			t.Fatalf("life %d: id %v", life, id)
		}
		seen[id] = true
		w.Despawn(id)
		if w.Spawn(k) != 0 {
			t.Fatal("a slot whose despawn is only queued was given out")
		}
		w.Flush()
		if w.Alive(id) || w.Despawn(id) {
			t.Fatalf("life %d: stale handle accepted", life)
		}
	}
	if again := w.Spawn(k); !seen[again] {
		t.Fatalf("the 256th life is %v, want a repeat of the first", again)
	}
}

func TestRow01FlushAllocatesNothing(t *testing.T) {
	w := ecs.New(1 << 15)
	k := w.Kind("player", ecs.Register[pos](w), ecs.Register[vel](w))
	churn := func() {
		for range 200 {
			w.Spawn(k)
		}
		w.Flush()
		for i := range 200 {
			w.Despawn(w.At(i))
		}
		w.Flush()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	churn()                                                                       // not even the first time
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<17 { // the columns would be 1 MB
		t.Fatalf("the first spawns took %d bytes", after.TotalAlloc-before.TotalAlloc)
	}
	if n := alloctest.In(50, churn); n != 0 {
		t.Fatalf("%v allocations for 400 structural changes", n)
	}
}

type score struct{ Red, Blue int }

func TestResourcesAreOnePerWorldAndType(t *testing.T) {
	a, b := ecs.New(1), ecs.New(1)
	if ecs.Resource[score](a) != nil {
		t.Fatal("a resource nobody set")
	}
	ecs.SetResource(a, &score{Red: 1})
	ecs.SetResource(a, &score{Red: 2})
	ecs.SetResource(b, &score{Red: 3})
	if ecs.Resource[score](a).Red != 2 || ecs.Resource[score](b).Red != 3 {
		t.Fatal("resources mixed up", ecs.Resource[score](a), ecs.Resource[score](b))
	}
	if n := alloctest.In(100, func() { ecs.Resource[score](a).Blue++ }); n != 0 {
		t.Fatalf("%v allocations a look-up", n)
	}
}

// mustPanic runs f and wants a panic whose text holds every part.
func mustPanic(t *testing.T, f func(), parts ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		text, _ := recover().(string)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Fatalf("panic %q, want it to say %q", text, part)
			}
		}
	}()
	f()
}

func TestDeclarationMistakesPanicClearly(t *testing.T) {
	w, other := ecs.New(4), ecs.New(4)
	a, b := ecs.Register[life](w), ecs.Register[tag](w)
	w.Kind("player", a)
	for i, c := range []struct {
		do    func()
		parts []string
	}{
		{func() { ecs.New(0) }, []string{"New(0)"}},
		{func() { w.Kind("player", b) }, []string{"player", "twice"}},
		{func() { w.Kind("bot", a) }, []string{"bot", "components of player"}},
		{func() { w.Kind("bot", a, a) }, []string{"named twice"}},
		{func() { w.Kind("bot", ecs.Register[life](other)) }, []string{"life", "is of another world"}},
		{func() { ecs.Register[string](w) }, []string{"string", "no pointers"}},
		{func() { ecs.Register[struct{ P [2]*int }](w) }, []string{"no pointers"}},
		{func() { ecs.Register[netid.ID](w) }, []string{"netid.ID"}},
		{func() { w.Spawn(0) }, []string{"kind 0", "declared one, 1 to 1"}},
		{func() { w.Spawn(9) }, []string{"kind 9", "declared one, 1 to 1"}},
		{func() { ecs.Comp[life]{}.Get(0) }, []string{"life", "component that Register returned"}},
	} {
		t.Run(string(rune('a'+i)), func(t *testing.T) { mustPanic(t, c.do, c.parts...) })
	}
}
