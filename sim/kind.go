package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
)

// kindSpec declares a kind of entity of the match: everything that spawning, placing, saving,
// restoring, hashing and inspecting it needs. A file that calls declareKind adds a kind.
type kindSpec struct {
	name   string // in maps, states and tables
	plural string // its ids in checksums
	page   int    // its net ids begin at page*ecs.PageSlots; 16 and on: a sparse component
	datum  Datum  // its rows in the table of systems
	is     string // its rows in words, if the table has not got them yet

	columns  []columnSpec
	capacity func(slots int) (most, reserve int) // of kinds that come and go during a match
	count    func(m *Match) int                  // of kinds that the map places: how many it has
	place    func(m *Match)                      // writes the rows of a new match
	restart  func(m *Match)                      // writes the rows of a new round; nil: they stay
	bind     func(m *Match)                      // takes the kind's columns after each flush
	valid    func(m *Match) error                // checks the rows of a loaded state
	byName   bool                                // maps place it as Layout.Objects
	systems  []placedSystem
}

// placedSystem is a system that a kind adds to the table, after the system that it names.
type placedSystem struct {
	after string
	System
}

// Pages of net ids, by kind; a page belongs to one kind for good. See FirstProjectile for their
// first ids.
const (
	pagePlayer = iota
	pageProjectile
	pageGrenade
	pageBarrel
	pageCube
	pageTeleporter
	pagePoint
	pageArea
	pageHome
	pageSpawnPoint // the last that is taken here

	pageSparse      = 16 // and on: sparse components
	pageTeleporting = 16
	pageBurning     = 17
	pageSpectating  = 18

	maxKinds = 32
)

// columnUse is what a column takes part in.
type columnUse uint8

const (
	inState     columnUse = 1 << iota // saved and restored
	inChecksums                       // of recordings
	inHash

	derived columnUse = 0 // follows from the map
	given             = inState | inChecksums
	full              = inState | inChecksums | inHash
)

// String names the use in tables.
func (u columnUse) String() string {
	switch {
	case u&inHash != 0:
		return "state"
	case u&inChecksums != 0:
		return "given"
	case u&inState != 0:
		return "measured"
	}
	return "map"
}

// columnSpec is a component of a kind.
type columnSpec struct {
	typ      reflect.Type
	use      columnUse
	register func(w *ecs.World) ecs.Component
	sparse   func(w *ecs.World, name string, capacity int) ecs.Kind
}

// column declares component T of a kind.
func column[T any](use columnUse) columnSpec {
	return columnSpec{
		reflect.TypeFor[T](), use,
		func(w *ecs.World) ecs.Component { return ecs.Register[T](w) },
		func(w *ecs.World, name string, capacity int) ecs.Kind {
			return ecs.RegisterSparse[T](w, name, capacity).Kind()
		},
	}
}

// kinds are all kinds by page. They are declared when the program starts, and read only after that.
var kinds []*kindSpec

// declareKind adds a kind, its datum and its systems to the tables, and its restart to what the
// last system, mode, writes. It panics if the name, the page or a system's neighbour is wrong. Only
// functions named init call it.
func declareKind(k *kindSpec) {
	at, taken := slices.BinarySearchFunc(kinds, k.page,
		func(have *kindSpec, page int) int { return have.page - page })
	if taken || k.page >= maxKinds || kindNamed(k.name) != nil {
		panic(fmt.Sprintf("sim: kind %s, page %d: the name or the page is taken", k.name, k.page))
	}
	k.plural = k.name + "s"
	kinds = slices.Insert(kinds, at, k)
	if k.is != "" {
		data = append(data, DatumRow{k.datum, Persistent, k.is})
	}
	if k.restart != nil {
		if mode := &systems[len(systems)-1]; !slices.Contains(mode.Writes, k.datum) {
			mode.Writes = append(mode.Writes, k.datum)
		}
	}
	for _, s := range k.systems {
		i := slices.IndexFunc(systems, func(t System) bool { return t.Name == s.after })
		if i < 0 {
			panic(fmt.Sprintf("sim: kind %s: there is no system %s", k.name, s.after))
		}
		systems = slices.Insert(systems, i+1, s.System)
	}
}

// kindNamed is the kind of a name, nil if there is none.
func kindNamed(name string) *kindSpec {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// placeableNames lists the kinds that maps place by name.
func placeableNames() string {
	var names []string
	for _, k := range kinds {
		if k.byName {
			names = append(names, k.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// declareKinds declares all kinds in the world of a new match, spawns what the map has and places
// it.
func (m *Match) declareKinds(slots int) {
	w := m.World
	for _, k := range kinds {
		var comps []ecs.Component
		if k.page < pageSparse {
			for i := range k.columns {
				comps = append(comps, k.columns[i].register(w))
			}
		}
		switch most, reserve := k.size(m, slots); {
		case k.page >= pageSparse:
			m.kinds[k.page] = k.columns[0].sparse(w, k.name, most)
		case k.page == pagePlayer:
			m.kinds[k.page] = w.Kind(k.name, comps...)
		default:
			spec := ecs.Spec{Name: k.name, Page: k.page, Capacity: most, Reserve: reserve}
			m.kinds[k.page] = w.Declare(spec, comps...)
		}
	}
	for _, k := range kinds {
		if k.count != nil {
			for range k.count(m) {
				w.Spawn(m.kinds[k.page])
			}
		}
	}
}

// size is how many entities of a kind a match has at most, and for how many it takes memory.
func (k *kindSpec) size(m *Match, slots int) (most, reserve int) {
	if k.count != nil {
		n := max(1, k.count(m))
		return n, n
	}
	return k.capacity(slots)
}

// placeKinds writes the rows of what the map has.
func (m *Match) placeKinds() {
	m.World.Flush()
	m.bindKinds()
	for _, k := range kinds {
		if k.place != nil {
			k.place(m)
		}
	}
}

// bindKinds lets all kinds take their columns.
func (m *Match) bindKinds() {
	for _, k := range kinds {
		if k.bind != nil {
			k.bind(m)
		}
	}
}

// bindMoved is bindKinds after a tick: rows of what the map places have not moved.
func (m *Match) bindMoved() {
	for _, k := range kinds {
		if k.bind != nil && k.count == nil {
			k.bind(m)
		}
	}
}

// restartKinds writes the rows of what the map has anew, for a new round, and ends what was fired.
func (m *Match) restartKinds() {
	for _, k := range m.fired {
		m.World.DespawnAll(k)
	}
	for _, k := range kinds {
		if k.restart != nil {
			k.restart(m)
		}
	}
}

// rowsOf is the column of T of a kind: valid until the next flush.
func rowsOf[T any](m *Match, page int) []T {
	return ecs.Rows(m.World, m.kinds[page], ecs.CompOf[T](m.World))
}

// ColumnInfo is one component of a kind.
type ColumnInfo struct {
	Type  string // of Go
	Use   string // state: saved and hashed; given, measured: saved; map: follows from the map
	Bytes int    // of a row
}

// KindInfo is what a match has of a kind of entity, or of a component that comes and goes.
type KindInfo struct {
	Name     string
	Sparse   bool // a component of other kinds' entities
	First    int  // index of its first net id
	Rows     int
	Capacity int
	RowBytes int    // of all columns, and the id
	Refused  uint64 // spawns beyond the capacity
	Columns  []ColumnInfo
}

// Kinds lists the kinds of entities that the match has, with their columns and rows.
func (m *Match) Kinds() (list []KindInfo) {
	for _, k := range kinds {
		id := m.kinds[k.page]
		info := KindInfo{Name: k.name, Sparse: k.page >= pageSparse, Rows: m.World.Count(id),
			Capacity: m.World.Capacity(id), RowBytes: m.World.RowBytes(id), Refused: m.World.Refused(id)}
		if !info.Sparse {
			info.First = k.page * ecs.PageSlots
		}
		for i := range k.columns {
			c := &k.columns[i]
			info.Columns = append(info.Columns, ColumnInfo{c.typ.String(), c.use.String(), int(c.typ.Size())})
		}
		list = append(list, info)
	}
	return list
}

// memory views the columns of a kind as plain memory, in the order of its declaration, also without
// rows. It is valid until the next call, and the next flush.
func (m *Match) memory(k *kindSpec) (ids []netid.ID, columns []ecs.Memory) {
	s := m.scratch
	s.memory = s.memory[:0]
	if v := m.World.View(m.kinds[k.page]); v.Open() {
		ids, s.memory = v.IDs(), v.Columns(s.memory)
		v.Close()
		return ids, s.memory
	}
	for i := range k.columns {
		s.memory = append(s.memory, ecs.Memory{Type: k.columns[i].typ})
	}
	return nil, s.memory
}

// idsOf are the ids of the rows of a kind: valid until the next flush.
func (m *Match) idsOf(page int) (ids []netid.ID) {
	if v := m.World.View(m.kinds[page]); v.Open() {
		ids = v.IDs()
		v.Close()
	}
	return ids
}

// countObjects is how many objects of a kind the map places by name.
func (l *Layout) countObjects(kind string) (n int) {
	for i := range l.Objects {
		if l.Objects[i].Kind == kind {
			n++
		}
	}
	return n
}

// object is the i-th object of a kind that the map places by name.
func (l *Layout) object(kind string, i int) *PlacedObject {
	for at := range l.Objects {
		if l.Objects[at].Kind != kind {
			continue
		}
		if i == 0 {
			return &l.Objects[at]
		}
		i--
	}
	panic("sim: the map has fewer objects of kind " + kind)
}
