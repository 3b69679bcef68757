// Package footprint says how many bytes of memory a value keeps alive, by owner. A pointer to a
// struct and a table of its parts go in; bytes by part come out. It reads every pointer that it
// finds, so nothing may change the value meanwhile.
package footprint

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// Owner is a part of a struct that memory is counted for.
type Owner struct {
	// Path is the names of fields from the struct to the part, with a dot between two. It leads
	// through pointers, and into every element of a slice or an array. "" is the whole struct.
	Path  string
	Group string // of what other values have, too; "": its own
	Is    string // what it is, for tables
}

// Part is an owner and the bytes of what only it, or an owner before it, reaches.
type Part struct {
	Owner
	Bytes uint64
}

// Measure returns the bytes that each owner keeps alive, in the order of owners. Memory counts
// once, for the first owner that reaches it; the struct itself counts for the owner with no path.
// What the allocator rounds up is in them, as far as spans of memory show. Contents of closures and
// of channels count as nothing, and maps by their entries. It panics if a path names no field.
func Measure[T any](root *T, owners []Owner) []Part {
	w := walkOwners(root, owners)
	parts := make([]Part, len(owners))
	for i, o := range owners {
		parts[i] = Part{o, w.maps[i]}
	}
	for _, r := range w.regions() {
		parts[r.Owner].Bytes += uint64(r.End - r.Start)
	}
	return parts
}

// Region is memory that one owner keeps.
type Region struct {
	Start, End uintptr
	Owner      int          // its index
	Of         reflect.Type // of the values there, one after another; nil: not known
}

// Regions returns where the memory is that Measure counts, but for maps: ascending and disjoint.
func Regions[T any](root *T, owners []Owner) []Region {
	w := walkOwners(root, owners)
	return w.regions()
}

func walkOwners[T any](root *T, owners []Owner) *walk {
	w := &walk{seen: map[visit]bool{}, maps: map[int]uint64{}}
	w.root = span{start: uintptr(unsafe.Pointer(root)), size: unsafe.Sizeof(*root), owner: -1,
		of: reflect.TypeFor[T]()}
	for i, o := range owners {
		w.owner = i
		if o.Path == "" {
			w.root.owner = i
			w.value(reflect.TypeFor[T](), unsafe.Pointer(root))
			continue
		}
		w.follow(reflect.TypeFor[T](), unsafe.Pointer(root), o.Path, strings.Split(o.Path, "."))
	}
	if w.root.owner >= 0 {
		w.spans = append(w.spans, w.root)
	}
	return w
}

// walk follows the pointers of a value and notes the memory behind them.
type walk struct {
	root  span
	owner int // of what is found now
	spans []span
	maps  map[int]uint64 // bytes of maps, by owner: where they lie is not known
	seen  map[visit]bool
}

// span is memory that an owner reaches.
type span struct {
	start, size uintptr
	owner       int
	of          reflect.Type // of the values there; nil: not known
}

// visit is memory that is read as one type.
type visit struct {
	at unsafe.Pointer
	of reflect.Type
	n  int
}

// regions makes the spans disjoint. Spans may lie in each other or overlap: an allocation belongs to
// the owner of the largest span that begins it, with what the allocator rounds up.
func (w *walk) regions() (out []Region) {
	slices.SortFunc(w.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.size, a.size),
			cmp.Compare(a.owner, b.owner))
	})
	begun, counted := uintptr(0), uintptr(0)
	roundUp := func() {
		if n := len(out); n > 0 {
			out[n-1].End = begun + allocated(counted-begun)
		}
	}
	for _, s := range w.spans {
		if s.start > counted { // what was counted last ends
			roundUp()
			begun = s.start
		}
		if from, end := max(s.start, counted), s.start+s.size; end > from {
			out = append(out, Region{from, end, s.owner, s.of})
			counted = end
		}
	}
	roundUp()
	return out
}

// allocated is the size that the allocator gives an object of size bytes.
func allocated(size uintptr) uintptr {
	return uintptr(cap(append([]byte(nil), make([]byte, size)...)))
}

// follow walks what lies at the rest of a path from a value of type t at p.
func (w *walk) follow(t reflect.Type, p unsafe.Pointer, path string, rest []string) {
	switch t.Kind() {
	case reflect.Pointer:
		if to := *(*unsafe.Pointer)(p); to != nil {
			if len(rest) == 0 {
				w.value(t, p)
				return
			}
			w.follow(t.Elem(), to, path, rest)
		}
		return
	case reflect.Slice, reflect.Array:
		if len(rest) == 0 {
			break
		}
		first, n := p, t.Len
		if t.Kind() == reflect.Slice {
			s := (*[]byte)(p)
			first, n = unsafe.Pointer(unsafe.SliceData(*s)), func() int { return len(*s) }
		}
		for i := range n() {
			w.follow(t.Elem(), unsafe.Add(first, uintptr(i)*t.Elem().Size()), path, rest)
		}
		return
	}
	if len(rest) == 0 {
		w.value(t, p)
		return
	}
	f, ok := reflect.StructField{}, false
	if t.Kind() == reflect.Struct {
		f, ok = t.FieldByName(rest[0])
	}
	if !ok {
		panic(fmt.Sprintf("footprint: path %s: %v has no field %s", path, t, rest[0]))
	}
	for _, i := range f.Index[:len(f.Index)-1] { // embedded structs
		e := t.Field(i)
		p, t = unsafe.Add(p, e.Offset), e.Type
		if t.Kind() == reflect.Pointer {
			if p, t = *(*unsafe.Pointer)(p), t.Elem(); p == nil {
				return
			}
		}
	}
	f = t.Field(f.Index[len(f.Index)-1])
	w.follow(f.Type, unsafe.Add(p, f.Offset), path, rest[1:])
}

// value walks what a value of type t at p points to.
func (w *walk) value(t reflect.Type, p unsafe.Pointer) {
	switch t.Kind() {
	case reflect.Pointer:
		w.allocation(t.Elem(), *(*unsafe.Pointer)(p), 1)
	case reflect.Slice:
		s := *(*[]byte)(p)
		w.allocation(t.Elem(), unsafe.Pointer(unsafe.SliceData(s)), cap(s))
	case reflect.String:
		s := *(*string)(p)
		w.note(nil, unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
	case reflect.Interface:
		w.dynamic(reflect.NewAt(t, p).Elem().Elem(), p)
	case reflect.Map:
		w.entries(reflect.NewAt(t, p).Elem())
	case reflect.Array:
		if pointers(t.Elem()) {
			for i := range t.Len() {
				w.value(t.Elem(), unsafe.Add(p, uintptr(i)*t.Elem().Size()))
			}
		}
	case reflect.Struct:
		w.fields(t, p)
	}
}

// fields walks the fields of a struct of type t at p.
func (w *walk) fields(t reflect.Type, p unsafe.Pointer) {
	if t == reflect.TypeFor[reflect.Value]() {
		if v := *(*reflect.Value)(p); v.IsValid() && v.CanAddr() {
			w.allocation(v.Type(), v.Addr().UnsafePointer(), 1)
		} else if v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) {
			at := v.UnsafePointer()
			w.value(v.Type(), unsafe.Pointer(&at))
		}
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() == reflect.UnsafePointer {
			if of := t.Field(0).Type; t.PkgPath() == "sync/atomic" && of.Kind() == reflect.Array {
				w.allocation(of.Elem().Elem(), *(*unsafe.Pointer)(unsafe.Add(p, f.Offset)), 1)
			}
		} else if pointers(f.Type) {
			w.value(f.Type, unsafe.Add(p, f.Offset))
		}
	}
}

// dynamic walks the value v of an interface at p.
func (w *walk) dynamic(v reflect.Value, p unsafe.Pointer) {
	if !v.IsValid() {
		return
	}
	word := unsafe.Add(p, unsafe.Sizeof(uintptr(0))) // after that of the type
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		w.value(v.Type(), word)
	default:
		if v.Type().Size() > unsafe.Sizeof(uintptr(0)) { // a small one may be in the word itself
			w.allocation(v.Type(), *(*unsafe.Pointer)(word), 1)
		}
	}
}

// entries notes the memory of a map and walks its keys and values.
func (w *walk) entries(v reflect.Value) {
	at := visit{v.UnsafePointer(), v.Type(), 1}
	if v.IsNil() || w.seen[at] {
		return
	}
	w.seen[at] = true
	t := v.Type()
	w.maps[w.owner] += mapHead + uint64(v.Len()+7)/8*8*uint64(t.Key().Size()+t.Elem().Size()+1)
	if !pointers(t.Key()) && !pointers(t.Elem()) {
		return
	}
	for i := v.MapRange(); i.Next(); {
		for _, part := range [2]reflect.Value{i.Key(), i.Value()} {
			copied := reflect.New(part.Type())
			copied.Elem().Set(part)
			w.value(part.Type(), copied.UnsafePointer())
		}
	}
}

// mapHead is the bytes of a map without entries, which come in groups of eight slots.
const mapHead = 48

// allocation notes n values of type t at p and walks what they point to.
func (w *walk) allocation(t reflect.Type, p unsafe.Pointer, n int) {
	at := visit{p, t, n}
	size := t.Size() * uintptr(n)
	if p == nil || size == 0 || w.seen[at] || w.inRoot(p) {
		return
	}
	w.seen[at] = true
	w.note(t, p, size)
	if pointers(t) {
		for i := range n {
			w.value(t, unsafe.Add(p, uintptr(i)*t.Size()))
		}
	}
}

// note adds memory with values of type t to the owner.
func (w *walk) note(t reflect.Type, p unsafe.Pointer, size uintptr) {
	if p != nil && size > 0 && !w.inRoot(p) {
		w.spans = append(w.spans, span{uintptr(p), size, w.owner, t})
	}
}

// inRoot reports whether p points into the struct whose parts are measured: its parts point at
// each other.
func (w *walk) inRoot(p unsafe.Pointer) bool {
	at := uintptr(p)
	return at >= w.root.start && at < w.root.start+w.root.size
}

// pointers reports whether a value of type t may point to memory.
func pointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && pointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if pointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Pointer, reflect.Slice, reflect.String, reflect.Interface, reflect.Map,
		reflect.UnsafePointer:
		return true
	}
	return false
}
