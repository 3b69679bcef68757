package sim

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
)

// EntityInfo is one entity of a match.
type EntityInfo struct {
	ID     netid.ID
	Kind   string
	Number int       // of the kind, from 0, in the order of rows
	Pos    geom.Vec3 // metres; zero unless Placed
	Placed bool
}

// ComponentInfo is a component of one entity.
type ComponentInfo struct {
	ColumnInfo
	Sparse bool // it comes and goes
	Fields []FieldInfo
}

// FieldInfo is a field of a component, those of structs within it by their path.
type FieldInfo struct{ Name, Value string }

// Entities appends all entities of the match, by kind. Call it between ticks.
func (m *Match) Entities(dst []EntityInfo) []EntityInfo {
	for _, k := range kinds {
		if k.page >= pageSparse {
			continue
		}
		ids, columns := m.memory(k)
		for row, at := 0, placeOf(k); row < len(ids); row++ {
			dst = append(dst, at.entity(k, columns, row, ids[row]))
		}
	}
	return dst
}

// Entity describes an entity with all its components, also those that come and go. ok is false if
// there is none. Call it between ticks.
func (m *Match) Entity(id netid.ID) (e EntityInfo, components []ComponentInfo, ok bool) {
	for _, k := range kinds {
		ids, columns := m.memory(k)
		for row := range ids {
			if ids[row] != id {
				continue
			}
			if sparse := k.page >= pageSparse; !sparse {
				at := placeOf(k)
				e, ok = at.entity(k, columns, row, id), true
			}
			for i := range k.columns {
				components = append(components, componentIn(k, i, columns[i], row))
			}
		}
	}
	return e, components, ok
}

// place is where a kind has its positions: in a column, at an offset of its rows.
type place struct {
	column int // -1: nowhere
	offset uintptr
	box    bool // the middle of a box
}

var (
	vectorType = reflect.TypeFor[geom.Vec3]()
	boxType    = reflect.TypeFor[geom.AABB]()
)

// placeOf finds the first column that is a position, or has a field of a name that positions have,
// or a box.
func placeOf(k *kindSpec) place {
	for i := range k.columns {
		t := k.columns[i].typ
		if t == vectorType {
			return place{column: i}
		}
		if t.Kind() != reflect.Struct {
			continue
		}
		for _, name := range []string{"Pos", "Center", "Start", "Box"} {
			if f, ok := t.FieldByName(name); ok && (f.Type == vectorType || f.Type == boxType) {
				return place{i, f.Offset, f.Type == boxType}
			}
		}
	}
	return place{column: -1}
}

// entity describes the entity in a row.
func (p *place) entity(k *kindSpec, columns []ecs.Memory, row int, id netid.ID) EntityInfo {
	e := EntityInfo{ID: id, Kind: k.name, Number: row, Placed: p.column >= 0}
	if !e.Placed {
		return e
	}
	at := unsafe.Add(rowIn(columns[p.column], row), p.offset)
	if p.box {
		box := (*geom.AABB)(at)
		e.Pos = box.Min.Add(box.Max).Scale(0.5)
	} else {
		e.Pos = *(*geom.Vec3)(at)
	}
	return e
}

func componentIn(k *kindSpec, i int, column ecs.Memory, row int) ComponentInfo {
	c := &k.columns[i]
	return ComponentInfo{
		ColumnInfo: ColumnInfo{c.typ.String(), c.use.String(), int(c.typ.Size())},
		Sparse:     k.page >= pageSparse,
		Fields:     appendValues(nil, "", reflect.NewAt(column.Type, rowIn(column, row)).Elem()),
	}
}

// rowIn is where a row of a column lies.
func rowIn(column ecs.Memory, row int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(column.Bytes)), row*int(column.Type.Size()))
}

// appendValues appends a value as fields, whose names begin with path.
func appendValues(dst []FieldInfo, path string, v reflect.Value) []FieldInfo {
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case geom.Vec3:
			return append(dst, FieldInfo{path, fmt.Sprintf("%.3f %.3f %.3f", x.X, x.Y, x.Z)})
		case geom.Angle:
			return append(dst, FieldInfo{path, fmt.Sprintf("%.1f°", x.Degrees())})
		case fmt.Stringer:
			return append(dst, FieldInfo{path, x.String()})
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			dst = appendValues(dst, name, v.Field(i))
		}
		return dst
	case reflect.Array:
		for i := range v.Len() {
			dst = appendValues(dst, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
		return dst
	}
	return append(dst, FieldInfo{path, fmt.Sprint(v)})
}
