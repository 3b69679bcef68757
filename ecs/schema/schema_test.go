package schema_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
)

var player = schema.Schema{Name: "player", Fields: []schema.Field{
	{Name: "x", Min: -1 << 18, Max: 1 << 18, Often: 60},
	{Name: "yaw", Wrap: 4096, Often: 50},
	{Name: "health", Min: 0, Max: 100, Often: 3},
	{Name: "any"},
}}

func TestCheck(t *testing.T) {
	f := func(f ...schema.Field) schema.Schema { return schema.Schema{Name: "s", Fields: f} }
	many := make([]schema.Field, schema.MaxSingleFields+1)
	for i := range many {
		many[i].Name = "f" + strings.Repeat("f", i/2) + strings.Repeat("g", i%2)
	}
	single := f(many[:schema.MaxSingleFields]...)
	single.Single = true
	for i, c := range []struct {
		s    schema.Schema
		want string // "" = good
	}{
		{player, ""},
		{f(many[:schema.MaxFields]...), ""},
		{single, ""},
		{f(), "0 fields"},
		{schema.Schema{Fields: player.Fields}, "a name"},
		{f(many[:schema.MaxFields+1]...), "13 fields"},
		{schema.Schema{Name: "s", Single: true, Fields: many}, "36 fields"},
		{f(schema.Field{}), `called ""`},
		{f(schema.Field{Name: "a"}, schema.Field{Name: "a"}), `field 1 is called "a"`},
		{f(schema.Field{Name: "a", Min: 2, Max: 1}), "min 2 is above max 1"},
		{f(schema.Field{Name: "a", Wrap: 1}), "wrap 1"},
		{f(schema.Field{Name: "a", Wrap: -4}), "wrap -4"},
		{f(schema.Field{Name: "a", Wrap: schema.MaxWrap + 1}), "wrap"},
		{f(schema.Field{Name: "a", Wrap: 8, Max: 7}), "no range"},
		{f(schema.Field{Name: "a", Often: 101}), "percentage"},
	} {
		err := c.s.Check()
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, schema.ErrSchema) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("case %d: %v, want %q", i, err, c.want)
		}
	}
}

func TestHashNamesWhatBitsMean(t *testing.T) {
	base := schema.Schema{Name: "s", Fields: []schema.Field{{Name: "a", Max: 5}, {Name: "b"}}}
	if got := base.Hash(); got != 0x88216f038ae08e77 {
		t.Errorf("hash %#x: it may never change", got)
	}
	seen := map[uint64]int{base.Hash(): -1}
	for i, s := range []schema.Schema{
		{Name: "t", Fields: base.Fields},
		{Name: "s", Fields: base.Fields, Single: true},
		{Name: "s", Fields: []schema.Field{{Name: "b"}, {Name: "a", Max: 5}}},
		{Name: "s", Fields: []schema.Field{{Name: "a", Max: 6}, {Name: "b"}}},
		{Name: "s", Fields: []schema.Field{{Name: "a", Wrap: 6}, {Name: "b"}}},
		{Name: "s", Fields: []schema.Field{{Name: "a", Min: -1, Max: 5}, {Name: "b"}}},
		{Name: "s", Fields: []schema.Field{{Name: "a", Max: 5}}},
		{Name: "s", Fields: []schema.Field{{Name: "ab", Max: 5}, {Name: ""}}},
	} {
		if j, ok := seen[s.Hash()]; ok {
			t.Errorf("case %d has the hash of case %d", i, j)
		}
		seen[s.Hash()] = i
	}
	hint := schema.Schema{Name: "s", Fields: []schema.Field{{Name: "a", Max: 5, Often: 50}, {Name: "b"}}}
	if hint.Hash() != base.Hash() {
		t.Error("a hint changes the hash")
	}
}

func TestClamp(t *testing.T) {
	for i, c := range []struct {
		f       schema.Field
		v, want int32
	}{
		{schema.Field{Min: -5, Max: 5}, 6, 5},
		{schema.Field{Min: -5, Max: 5}, math.MinInt32, -5},
		{schema.Field{Min: -5, Max: 5}, -5, -5},
		{schema.Field{}, math.MinInt32, math.MinInt32},
		{schema.Field{}, math.MaxInt32, math.MaxInt32},
		{schema.Field{Wrap: 360}, 360, 0},
		{schema.Field{Wrap: 360}, -1, 359},
		{schema.Field{Wrap: 360}, -720, 0},
		{schema.Field{Wrap: schema.MaxWrap}, math.MinInt32, 0},
	} {
		if got := c.f.Clamp(c.v); got != c.want {
			t.Errorf("case %d: %d, want %d", i, got, c.want)
		}
	}
}

// slowDelta is Delta in whole numbers: the difference that wraps in 32 bits, or the nearest
// multiple round the circle.
func slowDelta(f schema.Field, v, base int32) int32 {
	d := new(big.Int).Sub(big.NewInt(int64(v)), big.NewInt(int64(base)))
	if f.Wrap == 0 {
		return int32(uint32(d.Add(d, big.NewInt(1<<32)).Uint64()))
	}
	w := int64(f.Wrap)
	m := d.Mod(d, big.NewInt(w)).Int64()
	if m > (w-1)/2 {
		m -= w
	}
	return int32(m)
}

var edgeFields = []schema.Field{
	{Name: "full"},
	{Name: "half", Min: math.MinInt32, Max: -1},
	{Name: "upper", Min: 1, Max: math.MaxInt32},
	{Name: "small", Min: -3, Max: 4},
	{Name: "constant", Min: 7, Max: 7},
	{Name: "bit", Min: 0, Max: 1},
	{Name: "turn", Wrap: 4096},
	{Name: "odd", Wrap: 359},
	{Name: "two", Wrap: 2},
	{Name: "three", Wrap: 3},
	{Name: "wide", Wrap: schema.MaxWrap},
	{Name: "metres", Min: -1 << 18, Max: 1 << 18},
}

func drawValue(t *rapid.T, f schema.Field) int32 {
	lo, hi := f.Range()
	switch rapid.IntRange(0, 3).Draw(t, "edge") {
	case 0:
		return lo
	case 1:
		return hi
	default:
		return rapid.Int32Range(lo, hi).Draw(t, "v")
	}
}

func TestCoderRoundTrip(t *testing.T) {
	m := schema.DefaultModel(schema.Schema{Name: "edges", Fields: edgeFields})
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(edgeFields)-1).Draw(t, "field")
		f, c := edgeFields[i], &m.Coders()[i]
		v, base := drawValue(t, f), drawValue(t, f)
		junk := rapid.Uint64().Draw(t, "junk")
		raw, width := c.Raw(v)
		if width != c.Width() || width < 64 && raw>>width != 0 {
			t.Fatalf("%s: raw %x in %d bits", f.Name, raw, width)
		}
		if got, ok := c.RawValue(raw | junk<<width); !ok || got != v {
			t.Fatalf("%s: raw %d came back as %d, %v", f.Name, v, got, ok)
		}
		if d := c.Delta(v, base); d != slowDelta(f, v, base) {
			t.Fatalf("%s: %d - %d = %d, want %d", f.Name, v, base, d, slowDelta(f, v, base))
		}
		if v == base {
			return
		}
		context := rapid.Uint32Range(0, 1).Draw(t, "context")
		code, n := c.Bits(v, base, context)
		if int(n) > c.MaxBits() || n > 44 || code>>n != 0 {
			t.Fatalf("%s: code %x in %d bits, at most %d", f.Name, code, n, c.MaxBits())
		}
		if got, n2, ok := c.Value(code|junk<<n, base, context); !ok || got != v || n2 != n {
			t.Fatalf("%s: %d against %d came back as %d in %d of %d bits, %v", f.Name, v, base, got, n2, n, ok)
		}
	})
}

// TestCoderRefusesWhatIsOutOfRange: whatever the bits, a value that is accepted lies in range.
func TestCoderRefusesWhatIsOutOfRange(t *testing.T) {
	m := schema.DefaultModel(schema.Schema{Name: "edges", Fields: edgeFields})
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(edgeFields)-1).Draw(t, "field")
		f, c := edgeFields[i], &m.Coders()[i]
		lo, hi := f.Range()
		window := rapid.Uint64().Draw(t, "window")
		if v, n, ok := c.Value(window, drawValue(t, f), 0); ok && (v < lo || v > hi || int(n) > c.MaxBits()) {
			t.Fatalf("%s: accepted %d in %d bits", f.Name, v, n)
		} else if !ok {
			refused++
		}
		if v, ok := c.RawValue(window); ok && (v < lo || v > hi) {
			t.Fatalf("%s: accepted raw %d", f.Name, v)
		}
	})
	if refused == 0 {
		t.Error("no window was ever refused")
	}
}

func BenchmarkCoder(b *testing.B) {
	m := schema.DefaultModel(player)
	c := &m.Coders()[0]
	b.Run("bits", func(b *testing.B) {
		var sum uint64
		for b.Loop() {
			for i := range int32(256) {
				code, n := c.Bits(i*i&255, 300, 0)
				sum += code + uint64(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/value")
	})
	code, _ := c.Bits(17, 300, 0)
	b.Run("value", func(b *testing.B) {
		for b.Loop() {
			for range 256 {
				if v, _, _ := c.Value(code, 300, 0); v != 17 {
					b.Fatal(v)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/value")
	})
}

// TestGuideNamesTheLimits: the guide for library users says what a row cannot have.
func TestGuideNamesTheLimits(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("An entity's row has at most %d fields", schema.MaxFields),
		fmt.Sprintf("(`owner`, `single`), has at most %d", schema.MaxSingleFields),
		fmt.Sprintf("have at most %d bytes: letters", schema.MaxName),
		"No string, float64, slice, map or pointer",
	} {
		if !strings.Contains(string(guide), want) {
			t.Errorf("docs/guide/library.md does not say %q", want)
		}
	}
	type text struct {
		Name string `net:""`
	}
	type long struct {
		X float64 `net:",quant=8,min=0,max=1"`
	}
	for _, reflect := range []func() (*schema.ReflectCodec, error){schema.Reflect[text], schema.Reflect[long]} {
		if _, err := reflect(); err == nil || !strings.Contains(err.Error(), "expected float32, an integer, a bool") {
			t.Errorf("%v, expected the types that a row may have", err)
		}
	}
}
