package schema_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
)

type vec struct{ X, Y, Z float32 }

type angle uint16

type soldier struct {
	_      struct{} `net:"soldier"`
	Pos    vec      `net:",inline,quant=128,min=-2048,max=2048,interp=linear,often=70/20/70"`
	Yaw    angle    `net:",step=16,wrap=65536,interp=angle,often=60"`
	Pitch  angle    `net:"pitch,signed,step=16,min=-16384,max=16384"`
	Alive  bool     `net:"state,bits=1,often=2"`
	Team   uint8    `net:"state,bits=2"`
	Health int16    `net:",min=0,max=1000,predict=linear"`
	Score  int32    `net:",owner"`
	Cache  []int    `net:"-"`
}

func TestReflect(t *testing.T) {
	twin, err := schema.Reflect[soldier]()
	if err != nil {
		t.Fatal(err)
	}
	want := schema.Schema{Name: "soldier", Fields: []schema.Field{
		{Name: "x", Min: -1 << 18, Max: 1 << 18, Often: 70},
		{Name: "y", Min: -1 << 18, Max: 1 << 18, Often: 20},
		{Name: "z", Min: -1 << 18, Max: 1 << 18, Often: 70},
		{Name: "yaw", Wrap: 4096, Often: 60},
		{Name: "pitch", Min: -1024, Max: 1024},
		{Name: "state", Min: 0, Max: 7, Often: 2},
		{Name: "health", Min: 0, Max: 1000, Predict: schema.Linear},
	}}
	if got := twin.Schemas[schema.Everyone]; !reflect.DeepEqual(got, want) {
		t.Errorf("everyone:\n%+v, want\n%+v", got, want)
	}
	own := schema.Schema{Name: "soldier.owner", Single: true, Fields: []schema.Field{{Name: "score"}}}
	if got := twin.Schemas[schema.Owner]; !reflect.DeepEqual(got, own) {
		t.Errorf("owner: %+v, want %+v", got, own)
	}
	if twin.Uses(schema.Others) || twin.Derives() {
		t.Error("a section or a derived field that nobody asked for")
	}
	v := soldier{Pos: vec{1.5, -0.00390625, 4000}, Yaw: 65530, Pitch: 0xFFF0, Alive: true, Team: 9, Health: -3, Score: 7}
	if got, want := twin.Capture(&v, schema.Everyone), []int32{192, 0, 1 << 18, 0, -1, 1 | 3<<1, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("row %v, want %v", got, want)
	}
	var back soldier
	twin.Restore(&back, schema.Everyone, []int32{192, -1, 5, 4095, -1024, 7, 9})
	if want := (soldier{Pos: vec{1.5, -0.0078125, 0.0390625}, Yaw: 65520, Pitch: 0xC000, Alive: true, Team: 3, Health: 9}); !reflect.DeepEqual(back, want) {
		t.Errorf("restored %+v, want %+v", back, want)
	}
	a, b := []int32{0, 0, 0, 4090, 0, 0, 0}, []int32{256, 0, 0, 6, 0, 7, 9}
	twin.Lerp(&back, schema.Everyone, a, b, 128)
	if back.Pos.X != 1 || back.Yaw != 0 || back.Alive || back.Health != 0 {
		t.Errorf("half way: %+v", back)
	}
	for name, f := range map[string]func(){
		"a value":   func() { twin.Capture(v, schema.Everyone) },
		"a foreign": func() { twin.Restore(&own, schema.Everyone, a) },
		"nothing":   func() { _ = twin.Verify(nil) },
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, "want *schema_test.soldier") {
					t.Errorf("%s: panic %q", name, r)
				}
			}()
			f()
		}()
	}
}

type derived struct {
	A int8 `net:""`
	B int8 `net:",derive=Twice"`
}

func (d *derived) Twice() int { return 2 * int(d.A) }

// Every error names the struct, the field and the option, and says what was expected.
func TestTagErrors(t *testing.T) {
	for i, c := range []struct {
		v    any
		want string
	}{
		{7, " is int, expected a struct"},
		{struct{}{}, " replicates nothing"},
		{struct{ A int8 }{}, `.A: no net tag: expected one, or net:"-"`},
		{struct {
			a int8 `net:""`
		}{}, ".a: not exported"},
		{struct {
			A int8 `net:"a b"`
		}{}, `.A: name "a b": expected 1 to 32 letters`},
		{struct {
			A int8 `net:",fast"`
		}{}, `.A: option "fast": unknown; known are quant,`},
		{struct {
			A int8 `net:",max=1,max=2"`
		}{}, ".A: option max is given twice"},
		{struct {
			A int8 `net:",max"`
		}{}, `.A: option "max": expected max=value`},
		{struct {
			A int8 `net:",owner=1"`
		}{}, `.A: option "owner=1": expected no value`},
		{struct {
			A int8 `net:",max=1e9"`
		}{}, `.A: option "max=1e9": expected a decimal number`},
		{struct {
			A int8 `net:",max=1.5"`
		}{}, ".A: option max=3/2: 1.500 steps, expected a whole number"},
		{struct {
			A int8 `net:",max=128"`
		}{}, ".A: option max: 128 does not fit int8"},
		{struct {
			A int8 `net:",min=5,max=4"`
		}{}, ".A: option min: above max"},
		{struct {
			A int8 `net:",min=0,max=0"`
		}{}, ".A: options min and max: expected more than the one value 0"},
		{struct {
			A int64 `net:",min=0"`
		}{}, ".A: option max: expected, as int64 is wider than a row's 32 bits"},
		{struct {
			A int64 `net:",min=0,max=4294967296"`
		}{}, ".A: option max=4294967296: 4294967296 steps, expected 32 bits"},
		{struct {
			A int8 `net:",quant=2"`
		}{}, ".A: option quant: expected on a float32, not int8"},
		{struct {
			A float32 `net:",quant=0"`
		}{}, `.A: option "quant=0": expected 1 to 16777216 steps a unit`},
		{struct {
			A float32 `net:",min=0,max=1"`
		}{}, ".A: option quant: expected, as a float needs steps"},
		{struct {
			A float32 `net:",quant=2"`
		}{}, ".A: options min and max, or wrap: expected, as a float needs a range"},
		{struct {
			A float32 `net:",quant=2,step=2,wrap=1"`
		}{}, ".A: option step: expected on an integer"},
		{struct {
			A float32 `net:",quant=2,wrap=1,max=1"`
		}{}, ".A: option wrap: expected without min and max"},
		{struct {
			A float32 `net:",quant=2,wrap=0.5"`
		}{}, ".A: option wrap: 1 steps, expected 2 to"},
		{struct {
			A int8 `net:",wrap=256"`
		}{}, ".A: option wrap: the greatest value, 255, does not fit int8"},
		{struct {
			A uint8 `net:",signed,wrap=256"`
		}{}, ".A: option signed: expected without wrap"},
		{struct {
			A int8 `net:",signed"`
		}{}, ".A: option signed: expected on an unsigned integer"},
		{struct {
			A int8 `net:",interp=angle"`
		}{}, ".A: option interp=angle: expected together with wrap"},
		{struct {
			A uint8 `net:",wrap=256,interp=linear"`
		}{}, ".A: option interp=linear: expected without wrap"},
		{struct {
			A bool `net:",interp=linear"`
		}{}, ".A: option interp=linear: expected on a number of its own"},
		{struct {
			A int8 `net:",interp=cubic"`
		}{}, `.A: option "interp=cubic": expected one of none, linear, angle`},
		{struct {
			A int8 `net:",predict=magic"`
		}{}, `.A: option "predict=magic": expected one of hold, linear, quadratic, best`},
		{struct {
			A int8 `net:",often=0"`
		}{}, `.A: option "often=0": expected 1 to 100 percent`},
		{struct {
			A [3]int8 `net:",often=1/2"`
		}{}, ".A: option often: 2 percentages, expected 1 or 3"},
		{struct {
			A bool `net:",max=1"`
		}{}, ".A: options min, max, wrap: expected on numbers, not bool"},
		{struct {
			A int8 `net:",bits=3"`
		}{}, ".A: option bits: expected on a bool or an unsigned integer"},
		{struct {
			A uint8 `net:",bits=9"`
		}{}, ".A: option bits=9: expected at most the 8 of uint8"},
		{struct {
			A, B uint16 `net:"x,bits=16"`
		}{}, ".B: option bits: 32 bits in field x, expected at most 31"},
		{struct {
			A int8 `net:",inline"`
		}{}, ".A: option inline: expected a struct, or an array with bits, not int8"},
		{struct {
			A int8 `net:",single"`
		}{}, ".A: option single: expected on the field _ only"},
		{struct {
			A string `net:""`
		}{}, ".A: type string: expected float32, an integer, a bool, or structs and arrays"},
		{struct {
			A *int8 `net:""`
		}{}, ".A: type *int8: expected"},
		{struct {
			A [1 << 20]int8 `net:""`
		}{}, ".A[256]: more than 256 numbers"},
		{struct {
			A vec `net:",quant=2,min=-1,max=1,bits=2"`
		}{}, ".A.X: option bits: expected"},
		{struct {
			A, B int8 `net:"x"`
		}{}, `field 1 is called "x", want a name of its own`},
		{struct {
			A [13]int8 `net:""`
		}{}, "13 fields, want a name and 1 to 12"},
		{struct {
			_ struct{} `net:"two words"`
			A int8     `net:""`
		}{}, `name "two words"`},
		{struct {
			A int8 `net:",derive=twice"`
		}{}, `option "derive=twice": expected the name of an exported method`},
		{derived{}, "derived.B: option derive=Twice: expected a method Twice() int8 of derived"},
	} {
		_, err := schema.ReflectType(reflect.TypeOf(c.v))
		if !errors.Is(err, schema.ErrSchema) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("case %d: %v, want %q", i, err, c.want)
		}
	}
	if _, err := schema.ReflectType(nil); !errors.Is(err, schema.ErrSchema) {
		t.Errorf("no type: %v", err)
	}
}

// TestRow29Quantisation is row 29 of docs/features.md: whatever the value in range, what
// comes back is at most half a step away: scalars at decimal and binary precisions, vectors and
// quaternions, and angles round the circle.
func TestRow29Quantisation(t *testing.T) {
	type values struct {
		_    struct{}   `net:"values,single"`
		Q0   float32    `net:",quant=1,min=-2000,max=2000"`
		Q1   float32    `net:",quant=10,min=-2000,max=2000"`
		Q2   float32    `net:",quant=100,min=-2000,max=2000"`
		Q3   float32    `net:",quant=1000,min=-2000,max=2000"`
		V    vec        `net:",quant=128,min=-2048,max=2048"`
		Turn float32    `net:",quant=10,wrap=360"`
		Quat [4]float32 `net:",quant=1000,min=-1,max=1"`
		Yaw  angle      `net:",step=16,wrap=65536"`
	}
	twin, err := schema.Reflect[values]()
	if err != nil {
		t.Fatal(err)
	}
	// near allows half a step, and the rounding of a float32 where a step is no binary fraction.
	near := func(t *rapid.T, what string, got, want float32, per float64) {
		if d := math.Abs(float64(got) - float64(want)); d > 0.5/per+math.Abs(float64(got))/(1<<24) {
			t.Fatalf("%s: %v came back as %v: off by %g, a step is %g", what, want, got, d, 1/per)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		metres := rapid.Float32Range(-2000, 2000)
		v := values{Q0: metres.Draw(t, "q0"), Q1: metres.Draw(t, "q1"), Q2: metres.Draw(t, "q2"), Q3: metres.Draw(t, "q3"),
			V: vec{metres.Draw(t, "x"), metres.Draw(t, "y"), metres.Draw(t, "z")}, Turn: rapid.Float32Range(0, 359.94).Draw(t, "turn"),
			Yaw: angle(rapid.Uint16().Draw(t, "yaw"))}
		for i := range v.Quat {
			v.Quat[i] = rapid.Float32Range(-1, 1).Draw(t, "quat")
		}
		var got values
		twin.Restore(&got, schema.Everyone, twin.Capture(&v, schema.Everyone))
		near(t, "q0", got.Q0, v.Q0, 1)
		near(t, "q1", got.Q1, v.Q1, 10)
		near(t, "q2", got.Q2, v.Q2, 100)
		near(t, "q3", got.Q3, v.Q3, 1000)
		if d := max(math.Abs(float64(got.V.X)-float64(v.V.X)), math.Abs(float64(got.V.Y)-float64(v.V.Y)), math.Abs(float64(got.V.Z)-float64(v.V.Z))); d > 1./256 {
			t.Fatalf("vector %v came back as %v", v.V, got.V)
		}
		near(t, "turn", got.Turn, v.Turn, 10)
		for i := range v.Quat {
			near(t, "quaternion", got.Quat[i], v.Quat[i], 1000)
		}
		if d := int16(got.Yaw - v.Yaw); d > 8 || d < -8 {
			t.Fatalf("yaw %d came back as %d", v.Yaw, got.Yaw)
		}
	})
}

// The edges that random values seldom meet.
func TestStepsAtTheEdges(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i, c := range [][2]int32{
		{schema.Quantize(0.5, 1, -9, 9), 1}, {schema.Quantize(-0.5, 1, -9, 9), 0}, {schema.Quantize(-1.5, 1, -9, 9), -1}, {schema.Quantize(0.49999997, 1, -9, 9), 0},
		{schema.Quantize(nan, 1, -9, 9), 0}, {schema.Quantize(nan, 1, 2, 9), 2}, {schema.Quantize(nan, 1, -9, -2), -2},
		{schema.Quantize(inf, 1, -9, 9), 9}, {schema.Quantize(-inf, 1, -9, 9), -9},
		{schema.Quantize(inf, 1, math.MinInt32, math.MaxInt32), math.MaxInt32}, {schema.Quantize(-3e9, 1, math.MinInt32, math.MaxInt32), math.MinInt32},
		{schema.QuantizeWrapped(359.95, 10, 3600), 0}, {schema.QuantizeWrapped(359.94, 10, 3600), 3599}, {schema.QuantizeWrapped(-0.05, 10, 3600), 3599},
		{schema.QuantizeWrapped(360, 10, 3600), 0}, {schema.QuantizeWrapped(-0.1, 10, 3600), 3599}, {schema.QuantizeWrapped(-720, 10, 3600), 0},
		{schema.QuantizeWrapped(nan, 10, 3600), 0}, {schema.QuantizeWrapped(inf, 10, 3600), 0}, {schema.QuantizeWrapped(1e30, 1, 4096), 0},
		{schema.QuantizeInt(8, 16, -9, 9), 1}, {schema.QuantizeInt(7, 16, -9, 9), 0}, {schema.QuantizeInt(-8, 16, -9, 9), 0}, {schema.QuantizeInt(-9, 16, -9, 9), -1},
		{schema.QuantizeInt(math.MaxInt64, 3, -9, 9), 9}, {schema.QuantizeInt(math.MinInt64, 3, -9, 9), -9},
		{schema.QuantizeIntWrapped(65528, 16, 4096), 0}, {schema.QuantizeIntWrapped(65527, 16, 4096), 4095}, {schema.QuantizeIntWrapped(-1, 1, 359), 358},
		{schema.WrapDelta(0, 2048, 4096), -2048}, {schema.WrapDelta(2048, 0, 4096), -2048}, {schema.WrapDelta(0, 2047, 4096), 2047}, {schema.WrapDelta(1, 2, 3), 1}, {schema.WrapDelta(0, 2, 3), -1},
		{int32(schema.LerpInt(0, -1, 1)), -1}, {int32(schema.LerpInt(0, -256, 1)), -1}, {int32(schema.LerpInt(5, 9, 0)), 5},
		{int32(schema.LerpIntWrapped(4095, 1, 16, 4096, 128)), 0}, {int32(schema.LerpIntWrapped(0, 4095, 16, 4096, 255)), 65520},
	} {
		if c[0] != c[1] {
			t.Errorf("case %d: %d, want %d", i, c[0], c[1])
		}
	}
	for i, c := range [][2]float32{
		{schema.LerpWrapped(7, 1, 8, 1, 128), 0}, {schema.LerpWrapped(7, 1, 8, 1, 127), 7.9921875}, {schema.LerpWrapped(0, 3, 4, 1, 64), 3.75}, {schema.LerpWrapped(3, 0, 4, 1, 255), 3.99609375},
		{schema.Lerp(2, 4, 64), 2.5}, {schema.Lerp(-1, 1, 0), -1},
	} {
		if c[0] != c[1] {
			t.Errorf("float case %d: %v, want %v", i, c[0], c[1])
		}
	}
}

// TestRow31Codes is row 31, as far as fields go: the codes of buckets and zigzag bring back every
// difference at the edge of a bucket, up and down, across the whole range and from either end of
// it.
func TestRow31Codes(t *testing.T) {
	c := &schema.DefaultModel(schema.Schema{Name: "all", Fields: []schema.Field{{Name: "v"}}}).Coders()[0]
	var edges []int32
	for bit := range 32 {
		for d := int64(-2); d <= 2; d++ {
			edges = append(edges, int32(1<<bit+d), int32(-(1<<bit)+d))
		}
	}
	for _, base := range []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 1 << 18} {
		for _, d := range edges {
			v := base + d // wraps, as differences do
			if v == base {
				continue
			}
			code, n := c.Bits(v, base, 0)
			if got, m, ok := c.Value(code, base, 0); !ok || got != v || m != n {
				t.Fatalf("%d against %d came back as %d, %d of %d bits, %v", v, base, got, m, n, ok)
			}
		}
		code, _ := c.Raw(base)
		if got, ok := c.RawValue(code); !ok || got != base {
			t.Fatalf("raw %d came back as %d", base, got)
		}
	}
}
