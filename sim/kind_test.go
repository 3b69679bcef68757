package sim

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/object"
)

// Each kind has a name, a page, columns, and either a capacity or a place on the map; and what the
// match says of its kinds is what their rows are.
func TestKindsAreDeclaredWhole(t *testing.T) {
	s := newScript(t, 8, Rules{Seed: 3, Mix: true, Game: furnished()}, "arena-16")
	for range 300 {
		s.step()
	}
	list := s.m.Kinds()
	if len(list) != len(kinds) {
		t.Fatalf("%d kinds, %d declared", len(list), len(kinds))
	}
	for i, k := range kinds {
		info := list[i]
		if k.name == "" || k.datum == "" || len(k.columns) == 0 || (k.count == nil) == (k.capacity == nil) {
			t.Errorf("%q says too little of itself", k.name)
		}
		if i > 0 && kinds[i-1].page >= k.page || kindNamed(k.name) != k {
			t.Errorf("%s: page %d or the name is not its own", k.name, k.page)
		}
		bytes := 4 // the id
		for c := range k.columns {
			bytes += info.Columns[c].Bytes
		}
		ids, columns := s.m.memory(k)
		if info.Name != k.name || info.Rows != len(ids) || info.RowBytes != bytes ||
			len(columns) != len(k.columns) ||
			info.Rows > info.Capacity || info.Refused != 0 {
			t.Errorf("%+v, but %d rows of %d bytes", info, len(ids), bytes)
		}
		for c := range columns {
			if columns[c].Type != k.columns[c].typ ||
				len(columns[c].Bytes) != info.Columns[c].Bytes*len(ids) {
				t.Errorf("%s: column %v: %d bytes", k.name, columns[c].Type, len(columns[c].Bytes))
			}
		}
		for _, id := range ids {
			if k.page < pageSparse && (id.Index() < info.First || id.Index() >= info.First+ecs.PageSlots) {
				t.Errorf("%s: id %v is of another kind's page", k.name, id)
			}
		}
	}
	for name, want := range map[string]int{"player": s.m.World.Len(), "barrel": 3, "cube": 5,
		"damage area": 1, "teleporter": 1,
		"capture point": 3, "home": 2, "spawn point": len(s.m.arena.Spawns)} {
		if i := slices.IndexFunc(list, func(k KindInfo) bool { return k.Name == name }); i < 0 ||
			list[i].Rows != want {
			t.Errorf("%s: want %d rows", name, want)
		}
	}
}

// TestRow01BeyondTheCapacity: a spawn beyond the capacity of a kind is refused and counted, the
// match goes on, and a row that ends makes room.
func TestRow01BeyondTheCapacity(t *testing.T) {
	m := New(1, Rules{Game: furnished()}, plain(t))
	id := m.Join()
	m.Step()
	most := m.World.Capacity(m.kinds[pageProjectile])
	m.Begin()
	for i := range most + 9 {
		got := m.launch(object.Trajectory{Owner: id, Tick: m.Tick(), Start: m.arena.Spawns[0].Pos},
			tick.View{})
		if (got != 0) != (i < most) {
			t.Fatalf("projectile %d of %d: %v", i, most, got)
		}
	}
	for i := range systems {
		m.Run(i)
	}
	m.End()
	total := m.Kinds()[pageProjectile].Refused
	if n := len(m.Objects().Projectiles); n != most || m.Outcome().Refused != 9 || total != 9 {
		t.Fatalf("%d of %d projectiles, %d refused in the tick, %d in all", n, most, m.Outcome().Refused,
			total)
	}
	for range 1000 {
		m.Step()
	}
	if n := len(m.Objects().Projectiles); n != 0 || m.Outcome().Refused != 0 {
		t.Errorf("%d projectiles are left, %d refused", n, m.Outcome().Refused)
	}
	if m.launch(object.Trajectory{Owner: id, Tick: m.Tick()}, tick.View{}) == 0 {
		t.Error("there is no room again")
	}
}

// TestRow02FiredKindsEndWithARound: the match finds the kinds whose entities end with a round by a
// filter, and ends those of them that fly and those that wait for their row.
func TestRow02FiredKindsEndWithARound(t *testing.T) {
	m := New(2, Rules{Game: furnished()}, plain(t))
	id := m.Join()
	m.Step()
	fired := m.World.Kinds(nil, ecs.Filter{With: []ecs.Component{ecs.CompOf[Fired](m.World)}})
	if !slices.Equal(fired, []ecs.Kind{m.kinds[pageProjectile], m.kinds[pageGrenade]}) ||
		!slices.Equal(fired, m.fired) {
		t.Fatalf("fired are kinds %v", fired)
	}
	rest := m.World.Kinds(nil, ecs.Filter{Without: []ecs.Component{ecs.CompOf[Fired](m.World)}})
	if len(rest)+len(fired) != len(slices.DeleteFunc(slices.Clone(kinds),
		func(k *kindSpec) bool { return k.page >= pageSparse })) {
		t.Errorf("%d kinds are fired, %d are not", len(fired), len(rest))
	}
	for range 3 {
		m.launch(object.Trajectory{Owner: id, Tick: m.Tick()}, tick.View{})
		m.throw(object.Grenade{Owner: id, Thrown: m.Tick()})
		m.Step()
	}
	if len(m.Objects().Projectiles) != 3 || len(m.Objects().Grenades) != 3 {
		t.Fatalf("%d projectiles, %d grenades", len(m.Objects().Projectiles), len(m.Objects().Grenades))
	}
	m.launch(object.Trajectory{Owner: id, Tick: m.Tick()}, tick.View{})
	m.Scene().Barrels[0].Health = 0
	m.restartKinds()
	m.Step()
	if len(m.Objects().Projectiles) != 0 || len(m.Objects().Grenades) != 0 || len(m.Scene().Barrels) != 3 ||
		m.Scene().Barrels[0].Health != 10 || m.Vital(id) == nil {
		t.Errorf("%d projectiles, %d grenades, barrels %+v", len(m.Objects().Projectiles),
			len(m.Objects().Grenades),
			m.Scene().Barrels)
	}
}

// TestRow06WorldsOfTwoMatches: kinds, capacities and rows of one match are not those of another.
func TestRow06WorldsOfTwoMatches(t *testing.T) {
	a, b := New(1, Rules{Game: furnished()}, plain(t)), New(3, Rules{Game: quick(nil)}, plain(t))
	id := a.Join()
	b.Join()
	a.Step()
	b.Step()
	before := b.Hash()
	for range 5 {
		a.launch(object.Trajectory{Owner: id, Tick: a.Tick()}, tick.View{})
		a.Step()
	}
	if b.Hash() != before || len(b.Objects().Projectiles) != 0 || len(b.Scene().Barrels) != 0 {
		t.Error("one match's projectiles are in another")
	}
	if a.World.Capacity(a.kinds[pageProjectile]) == b.World.Capacity(b.kinds[pageProjectile]) {
		t.Error("one match's capacity is the other's")
	}
}

// Rows of what is fired keep the order in which it was fired, whatever ends before.
func TestFlightsKeepTheirOrder(t *testing.T) {
	s := newScript(t, 16, Rules{Seed: 21, Mix: true, Game: rocketeers()}, "arena-16")
	seen := 0
	for range 900 {
		s.step()
		o := s.m.Objects()
		for i := range o.Projectiles {
			p := &o.Projectiles[i]
			if row, ok := s.m.World.Row(p.ID); !ok || row != i || i > 0 && o.Projectiles[i-1].Tick > p.Tick {
				t.Fatalf("tick %d: projectile %v is in row %d, not %d", s.m.Tick(), p.ID, row, i)
			}
			seen++
		}
		for i := range o.Grenades {
			if i > 0 && o.Grenades[i-1].Thrown > o.Grenades[i].Thrown {
				t.Fatalf("tick %d: grenade %d is older than the one before", s.m.Tick(), i)
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d rows of projectiles", seen)
	}
}
