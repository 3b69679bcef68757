package rows

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
)

// walkers is a game made up for the tests: bodies that run about, turn and stop, with fields that
// follow from others.
func walkers(seed uint64, entities, frames int) (Schema, Recording) {
	s := Schema{Interval: 3, Fields: []Field{
		{Name: "pos.x"}, {Name: "pos.y"}, {Name: "pos.z"}, {Name: "vel.x"}, {Name: "vel.z"},
		{Name: "yaw", Kind: Angle, Mod: 3600}, {Name: "heading", Kind: Angle, Mod: 360},
		{Name: "state", Kind: Flag}, {Name: "since", Kind: Stamp}, {Name: "health"}}}
	rng := rand.New(rand.NewPCG(seed, 1))
	rec := Recording{}
	now := make([]int32, entities*len(s.Fields))
	for f := range frames {
		for e := range entities {
			r := now[e*len(s.Fields):][:len(s.Fields)]
			if rng.IntN(20) == 0 {
				r[7], r[8] = int32(rng.IntN(3)), int32(f*3-rng.IntN(3))
			}
			if r[7] != 0 {
				r[3], r[4] = r[3]*7/8+int32(rng.IntN(61)-30), r[4]*7/8+int32(rng.IntN(61)-30)
				r[5] = (r[5] + int32(rng.IntN(41)) - 20 + 3600) % 3600
			} else {
				r[3], r[4] = 0, 0
			}
			r[0], r[2] = r[0]+r[3]/20, r[2]+r[4]/20
			r[1] = r[0] / 8
			r[6] = r[5] / 10
			if rng.IntN(50) == 0 {
				r[9] = int32(rng.IntN(101))
			}
		}
		rec.Frames = append(rec.Frames, slices.Clone(now))
	}
	return s, rec
}

var walkerModel = sync.OnceValue(func() *Model {
	s, rec := walkers(1, 24, 300)
	m, err := Train(s, []Recording{rec}, Training{Delay: 2, Rows: 4000})
	if err != nil {
		panic(err)
	}
	return m
})

type coder interface {
	Append(dst []byte, frame []int32, past *Past, live []bool) []byte
	Decode(src []byte, frame []int32, past *Past, live []bool) error
}

func coders(m *Model) map[string][2]coder {
	return map[string][2]coder{"range": {NewRange(m), NewRange(m)}, "huffman": {NewHuffman(m), NewHuffman(m)}}
}

// What goes in comes out, from the first frame, which has no past, on; and small.
func TestRoundTrip(t *testing.T) {
	s, rec := walkers(2, 24, 200)
	n := len(s.Fields)
	for name, c := range coders(walkerModel()) {
		var past Past
		total := 0
		for f := range rec.Frames {
			rec.PastAt(f, 2, s.Interval, &past)
			live := make([]bool, 24)
			for e := range live {
				live[e] = (f+e)%11 != 0
			}
			got := slices.Clone(rec.Frames[f])
			for e := range live {
				if live[e] {
					clear(got[e*n:][:n])
				}
			}
			out := c[0].Append([]byte("head"), rec.Frames[f], &past, live)
			if string(out[:4]) != "head" {
				t.Fatalf("%s: frame %d: the caller's bytes changed", name, f)
			}
			if err := c[1].Decode(out[4:], got, &past, live); err != nil || !slices.Equal(got, rec.Frames[f]) {
				t.Fatalf("%s: frame %d came out different: %v", name, f, err)
			}
			if f > 20 {
				total += len(out) - 4
			}
		}
		if perRow := float64(total*8) / float64(22*179); perRow > 35 {
			t.Errorf("%s: %.1f bits a row", name, perRow)
		} else {
			t.Logf("%s: %.1f bits a row", name, perRow)
		}
	}
}

// Any value can be coded, however wild: each field takes extremes while the others rest.
func TestExtremes(t *testing.T) {
	m := walkerModel()
	n := len(m.Schema().Fields)
	wild := []int32{0, 1, -1, 180, 360, 3599, 3600, 4000, -3600, math.MaxInt32, math.MinInt32, math.MinInt32 + 1, 1 << 30, -1 << 30}
	rng := rand.New(rand.NewPCG(3, 3))
	pick := func() []int32 {
		frame := make([]int32, 6*n)
		for i := range frame {
			if rng.IntN(3) > 0 {
				frame[i] = wild[rng.IntN(len(wild))]
			} else {
				frame[i] = int32(rng.Uint32())
			}
		}
		return frame
	}
	for name, c := range coders(m) {
		for round := range 3000 {
			past := Past{Now: int32(rng.Uint32())}
			for range rng.IntN(Depth + 2) {
				past.Frames = append(past.Frames, pick())
			}
			frame, got := pick(), make([]int32, 6*n)
			if err := c[1].Decode(c[0].Append(nil, frame, &past, nil), got, &past, nil); err != nil || !slices.Equal(got, frame) {
				t.Fatalf("%s: round %d: %v:\nsent %d\ngot  %d", name, round, err, frame, got)
			}
		}
	}
}

// Training is a function of its input.
func TestTrainRepeats(t *testing.T) {
	s, rec := walkers(5, 8, 80)
	a, err := Train(s, []Recording{rec}, Training{Rows: 300, Contexts: 3})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Train(s, []Recording{rec}, Training{Rows: 300, Contexts: 3})
	if !reflect.DeepEqual(a, b) {
		t.Error("the same recording gave two models")
	}
	if _, err := Train(s, nil, Training{}); err == nil {
		t.Error("training on nothing: no error")
	}
	if _, err := Train(Schema{}, []Recording{rec}, Training{}); err == nil {
		t.Error("a schema without fields: no error")
	}
}

func TestCodersAllocateNothing(t *testing.T) {
	s, rec := walkers(6, 24, 60)
	var past Past
	rec.PastAt(50, 2, s.Interval, &past)
	for name, c := range coders(walkerModel()) {
		buf := make([]byte, 0, 4096)
		got := make([]int32, len(rec.Frames[50]))
		if n := testing.AllocsPerRun(50, func() {
			buf = c[0].Append(buf[:0], rec.Frames[50], &past, nil)
			if c[1].Decode(buf, got, &past, nil) != nil {
				t.Fatal(name)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Hostile bytes give an error or a frame, and the coder works afterwards as before.
func FuzzDecode(f *testing.F) {
	s, rec := walkers(7, 24, 40)
	m := walkerModel()
	var past Past
	rec.PastAt(30, 2, s.Interval, &past)
	f.Add([]byte{}, uint8(30))
	for _, c := range coders(m) {
		f.Add(c[0].Append(nil, rec.Frames[30], &past, nil), uint8(30))
	}
	all := coders(m)
	got := make([]int32, len(rec.Frames[0]))
	f.Fuzz(func(t *testing.T, src []byte, at uint8) {
		var past Past
		rec.PastAt(int(at)%len(rec.Frames), 2, s.Interval, &past)
		for name, c := range all {
			if c[1].Decode(src, got, &past, nil) == nil {
				// What was decoded is a frame like any other: it codes and decodes to itself.
				again := make([]int32, len(got))
				if err := c[1].Decode(c[0].Append(nil, got, &past, nil), again, &past, nil); err != nil || !slices.Equal(got, again) {
					t.Fatalf("%s: a decoded frame did not come back: %v", name, err)
				}
			}
		}
	})
}

// An error names its value, and splits into a symbol and bits that name it too.
func TestErrors(t *testing.T) {
	for _, mod := range []int32{2, 3, 7, 360, 3600, 1 << 30} {
		for _, v := range []int32{0, 1, 2, 180, 359, 3599, 3600, 1<<31 - 1, -1 << 31, -1, 1 << 30} {
			for _, p := range []int32{0, 1, 2, 180, 181, 179, 359, 1800, 1 << 29} {
				if got := hit(miss(v, p%mod, mod), p%mod, mod); got != v {
					t.Errorf("%d, predicted %d of %d, comes back as %d", v, p%mod, mod, got)
				}
			}
		}
	}
	for v := int64(-1 << 33); v <= 1<<33; v += 1<<27 - 1 {
		for _, x := range []int64{v, v >> 10, v >> 20, v >> 30} {
			if x == 0 {
				continue
			}
			sym, extra, n := splitError(x)
			size, minus, n2 := joinError(sym)
			y := int64(size | extra)
			if minus {
				y = -y
			}
			if y != x || n != n2 || sym >= errorSymbols {
				t.Errorf("%d: symbol %d with %d more bits, back %d with %d", x, sym, n, y, n2)
			}
		}
	}
}

// The table of probabilities is the same on every machine.
func TestSquash(t *testing.T) {
	sum := uint64(0)
	for i, p := range squashTable {
		sum = sum*31 + uint64(p)*uint64(i+1)
	}
	const want = 16022632601249864146
	if sum != want {
		t.Errorf("sum %d, want %d", sum, uint64(want))
	}
}
