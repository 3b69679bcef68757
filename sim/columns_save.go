package sim

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
)

// scalar is a number within a type: its place and size. Padding is in no scalar.
type scalar struct {
	name   string
	offset uintptr
	size   uintptr
	kind   reflect.Kind
}

// layoutCache remembers the results of scalarsOf.
var layoutCache sync.Map

// scalarsOf lists the numbers of a type in their order. It panics for types that are not plain
// memory.
func scalarsOf(t reflect.Type) []scalar {
	if known, ok := layoutCache.Load(t); ok {
		return known.([]scalar)
	}
	all := appendLeaves(nil, t, "", 0)
	layoutCache.Store(t, all)
	return all
}

// appendLeaves lists the scalar fields of a type, nested ones by dotted name.
func appendLeaves(dst []scalar, t reflect.Type, name string, offset uintptr) []scalar {
	switch k := t.Kind(); k {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			dst = appendLeaves(dst, f.Type, name+"."+f.Name, offset+f.Offset)
		}
	case reflect.Array:
		for i := range t.Len() {
			dst = appendLeaves(dst, t.Elem(), fmt.Sprintf("%s[%d]", name, i),
				offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		dst = append(dst, scalar{name, offset, t.Size(), k})
	default:
		panic("sim: save: " + t.String() + name + " is no plain memory")
	}
	return dst
}

// memoryOf views rows as plain memory.
func memoryOf[T any](rows []T) ecs.Memory {
	t := reflect.TypeFor[T]()
	return ecs.Memory{Type: t, Bytes: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))),
		len(rows)*int(t.Size()))}
}

// single views a single value as plain memory.
func single[T any](v *T) ecs.Memory { return memoryOf(unsafe.Slice(v, 1)) }

// appendPlanes writes rows number by number, and each number byte by byte, the lowest byte of all
// rows first: similar bytes end up next to each other, which compresses well. Little-endian
// machines only, as all supported ones are.
func appendPlanes(dst []byte, m ecs.Memory) []byte {
	stride := m.Type.Size()
	for _, l := range scalarsOf(m.Type) {
		for b := range l.size {
			for at := l.offset + b; at < uintptr(len(m.Bytes)); at += stride {
				dst = append(dst, m.Bytes[at])
			}
		}
	}
	return dst
}

// parsePlanes reads what appendPlanes wrote into the rows of m, and returns what follows.
func parsePlanes(src []byte, m ecs.Memory) (rest []byte, err error) {
	stride := m.Type.Size()
	rows := uintptr(len(m.Bytes)) / stride
	for _, l := range scalarsOf(m.Type) {
		if uintptr(len(src)) < rows*l.size {
			return nil, fmt.Errorf("%w: %v%s: %d bytes, expected %d", ErrState, m.Type, l.name, len(src),
				rows*l.size)
		}
		for b := range l.size {
			for row := range rows {
				v := src[b*rows+row]
				if l.kind == reflect.Bool && v > 1 {
					return nil, fmt.Errorf("%w: %v%s: %d is no bool", ErrState, m.Type, l.name, v)
				}
				m.Bytes[row*stride+l.offset+b] = v
			}
		}
		src = src[rows*l.size:]
	}
	return src, nil
}
