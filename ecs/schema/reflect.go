package schema

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
)

// ReflectCodec captures and restores a component by reflection, in whole numbers of any size:
// slow, and simple enough to serve as the reference. Tests compare generated code with it; tools
// use it for components that they meet at run time.
type ReflectCodec struct {
	*Layout
	typ reflect.Type
}

// Reflect is ReflectType for a type that is known.
func Reflect[T any]() (*ReflectCodec, error) { return ReflectType(reflect.TypeFor[T]()) }

// ContextField reads the tags of t, a struct. Errors wrap ErrSchema and name the struct, the field,
// the option, and what was expected.
func ReflectType(t reflect.Type) (*ReflectCodec, error) {
	if t == nil {
		return nil, fmt.Errorf("%w: no type, expected a struct", ErrSchema)
	}
	name := t.Name()
	if name == "" {
		name = t.Kind().String()
	}
	l, err := NewLayout(name, nodeOf(t))
	if err != nil {
		return nil, err
	}
	for _, leaf := range l.Leaves {
		if leaf.Derived == "" {
			continue
		}
		want := at(reflect.New(t).Elem(), leaf.Index).Type()
		m, ok := reflect.PointerTo(t).MethodByName(leaf.Derived)
		if !ok || m.Type.NumIn() != 1 || m.Type.NumOut() != 1 || m.Type.Out(0) != want {
			return nil, fmt.Errorf("%w: %s.%s: option derive=%s: expected a method %s() %v of %s",
				ErrSchema, name, leaf.Path, leaf.Derived, leaf.Derived, want, name)
		}
	}
	return &ReflectCodec{l, t}, nil
}

// nodeOf is the tags' view of t.
func nodeOf(t reflect.Type) Node {
	n := Node{Type: t.String(), Exported: true}
	switch t.Kind() {
	case reflect.Bool:
		n.Kind, n.Bits = Bool, 1
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.Kind, n.Bits = Int, t.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n.Kind, n.Bits = Uint, t.Bits()
	case reflect.Float32:
		n.Kind, n.Bits = Float, 32
	case reflect.Array:
		n.Kind, n.Len, n.Elems = Array, t.Len(), []Node{nodeOf(t.Elem())}
	case reflect.Struct:
		n.Kind = Struct
		for i := range t.NumField() {
			f := t.Field(i)
			e := nodeOf(f.Type)
			e.Field, e.Exported = f.Name, f.IsExported()
			e.Tag, e.Tagged = f.Tag.Lookup(TagKey)
			n.Elems = append(n.Elems, e)
		}
	}
	return n
}

// at is the part of v that an index leads to.
func at(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Array {
			v = v.Index(i)
		} else {
			v = v.Field(i)
		}
	}
	return v
}

// component is what v, a pointer to the component, points to.
func (t *ReflectCodec) component(v any) reflect.Value {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.Type().Elem() != t.typ {
		panic(fmt.Sprintf("schema: %T given, want *%v", v, t.typ))
	}
	return p.Elem()
}

// Capture returns the row of section s of a component, to which v points. It panics if v points to
// anything else.
func (t *ReflectCodec) Capture(v any, s Section) []int32 {
	c := t.component(v)
	row := make([]int32, len(t.Schemas[s].Fields))
	for i := range t.Leaves {
		if l := &t.Leaves[i]; l.Section == s && l.Derived == "" {
			row[l.Field] |= l.capture(at(c, l.Index)) << l.Shift
		}
	}
	return row
}

// Restore writes what a row of section s says into the component that v points to, and then all
// that is derived. The values must be in range, as those of a decoder are.
func (t *ReflectCodec) Restore(v any, s Section, row []int32) {
	c := t.component(v)
	for i := range t.Leaves {
		if l := &t.Leaves[i]; l.Section == s && l.Derived == "" {
			l.restore(at(c, l.Index), l.part(row))
		}
	}
	t.derive(c)
}

// Lerp restores what lies frac/256 of the way from row a to row b of section s: each field as its
// interp says.
func (t *ReflectCodec) Lerp(v any, s Section, a, b []int32, frac uint8) {
	c := t.component(v)
	for i := range t.Leaves {
		if l := &t.Leaves[i]; l.Section == s && l.Derived == "" {
			l.lerp(at(c, l.Index), l.part(a), l.part(b), frac)
		}
	}
	t.derive(c)
}

// derive computes the derived fields, in the order of the struct.
func (t *ReflectCodec) derive(c reflect.Value) {
	for _, l := range t.Leaves {
		if l.Derived != "" {
			at(c, l.Index).Set(c.Addr().MethodByName(l.Derived).Call(nil)[0])
		}
	}
}

// Verify reports the first number of a component that its rows would not give back: a derived
// field that differs from its method's result, or a value out of range. Rounding is no fault.
func (t *ReflectCodec) Verify(v any) error {
	c := t.component(v)
	for i := range t.Leaves {
		l := &t.Leaves[i]
		x := at(c, l.Index)
		if l.Derived != "" {
			got := c.Addr().MethodByName(l.Derived).Call(nil)[0]
			if !reflect.DeepEqual(got.Interface(), x.Interface()) {
				return fmt.Errorf("%s.%s is %v, but %s() is %v", t.Type, l.Path, x, l.Derived, got)
			}
			continue
		}
		steps, finite := l.exact(x)
		if !finite || l.Wrap == 0 && (steps.Cmp(big.NewRat(int64(l.Lo), 1)) < 0 ||
			steps.Cmp(big.NewRat(int64(l.Hi), 1)) > 0) {
			return fmt.Errorf("%s.%s is %v, out of range: %d to %d steps", t.Type, l.Path, x, l.Lo, l.Hi)
		}
	}
	return nil
}

// part is the leaf's share of a row.
func (l *Leaf) part(row []int32) int32 {
	if l.Width > 0 {
		return row[l.Field] >> l.Shift & l.Hi
	}
	return row[l.Field]
}

// exact is the number in steps, not rounded; false for NaN and infinities.
func (l *Leaf) exact(x reflect.Value) (steps *big.Rat, finite bool) {
	steps = new(big.Rat)
	switch l.Kind {
	case Bool:
		if x.Bool() {
			steps.SetInt64(1)
		}
	case Int:
		steps.SetInt64(x.Int())
	case Uint:
		steps.SetInt(new(big.Int).SetUint64(x.Uint()))
		if half := new(big.Int).Lsh(big.NewInt(1), uint(l.Bits)-1); l.Signed && steps.Num().Cmp(half) >= 0 {
			steps.SetInt(new(big.Int).Sub(steps.Num(), half.Lsh(half, 1)))
		}
	case Float:
		if steps.SetFloat64(x.Float()) == nil {
			return nil, false
		}
	}
	return steps.Mul(steps, big.NewRat(l.Per, l.Step)), true
}

// capture rounds to the nearest step, halves upwards, and brings the result into range.
func (l *Leaf) capture(x reflect.Value) int32 {
	r, finite := l.exact(x)
	switch {
	case !finite && l.Wrap != 0:
		return 0
	case !finite && math.IsInf(x.Float(), 1):
		return l.Hi
	case !finite && math.IsInf(x.Float(), -1):
		return l.Lo
	case !finite:
		return min(max(0, l.Lo), l.Hi)
	}
	r.Add(r, big.NewRat(1, 2))
	n := new(big.Int).Div(r.Num(), r.Denom()) // Euclid's: downwards, as the denominator is positive
	if l.Wrap != 0 {
		return int32(n.Mod(n, big.NewInt(int64(l.Wrap))).Int64())
	}
	if lo := big.NewInt(int64(l.Lo)); n.Cmp(lo) < 0 {
		n = lo
	}
	if hi := big.NewInt(int64(l.Hi)); n.Cmp(hi) > 0 {
		n = hi
	}
	return int32(n.Int64())
}

// float is steps in units: the nearest float64, and then the nearest float32.
func (l *Leaf) float(steps int32) float32 {
	f, _ := big.NewRat(int64(steps), l.Per).Float64()
	return float32(f)
}

func (l *Leaf) restore(x reflect.Value, steps int32) {
	if l.Kind == Float {
		x.SetFloat(float64(l.float(steps)))
		return
	}
	l.set(x, int64(steps)*l.Step)
}

// set gives a bool or an integer its value in units.
func (l *Leaf) set(x reflect.Value, units int64) {
	switch l.Kind {
	case Bool:
		x.SetBool(units != 0)
	case Int:
		x.SetInt(units)
	case Uint:
		x.SetUint(uint64(units) & (1<<l.Bits - 1)) // two's complement, where signed
	}
}

func (l *Leaf) lerp(x reflect.Value, a, b int32, frac uint8) {
	switch {
	case frac == 0 || l.Interp == NoInterp:
		l.restore(x, a)
	case l.Kind == Float && l.Interp == LinearInterp:
		from, to := l.float(a), l.float(b)
		x.SetFloat(float64(from + float32((to-from)*(float32(frac)/256))))
	case l.Kind == Float:
		turn := l.float(l.Wrap)
		y := l.float(a) + float32(l.float(l.shorter(a, b))*(float32(frac)/256))
		if y < 0 {
			y += turn
		}
		if y >= turn {
			y -= turn
		}
		x.SetFloat(float64(y))
	case l.Interp == LinearInterp:
		l.set(x, l.floor(a, int64(b)-int64(a), frac).Int64())
	default:
		n := l.floor(a, int64(l.shorter(a, b)), frac)
		l.set(x, n.Mod(n, big.NewInt(int64(l.Wrap)*l.Step)).Int64())
	}
}

// shorter is the way from a to b round the circle, counted out; of two equal ways the one down.
func (l *Leaf) shorter(a, b int32) int32 {
	up := ((int64(b)-int64(a))%int64(l.Wrap) + int64(l.Wrap)) % int64(l.Wrap)
	if up > int64(l.Wrap-1)/2 {
		up -= int64(l.Wrap)
	}
	return int32(up)
}

// floor is a + way*frac/256 in units, rounded downwards.
func (l *Leaf) floor(a int32, way int64, frac uint8) *big.Int {
	units := big.NewRat(way*l.Step*int64(frac), 256)
	n := new(big.Int).Div(units.Num(), units.Denom())
	return n.Add(n, big.NewInt(int64(a)*l.Step))
}
