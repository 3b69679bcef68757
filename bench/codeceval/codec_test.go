package codeceval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/bench/codeceval/rows"
)

const testFields = 5

// crowd is a number of frames of rows of which some change.
func crowd(seed uint64, entities, frames int) (all [][]int32) {
	rng := rand.New(rand.NewPCG(seed, 0))
	now := make([]int32, entities*testFields)
	for range frames {
		for i := range now {
			if rng.IntN(4) == 0 {
				now[i] += int32(rng.IntN(21) - 10)
			}
		}
		if rng.IntN(10) == 0 {
			now[rng.IntN(len(now))] = int32(rng.Uint32())
		}
		all = append(all, slices.Clone(now))
	}
	return all
}

func testModel(t testing.TB) *rows.Model {
	t.Helper()
	s := rows.Schema{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		s.Fields = append(s.Fields, rows.Field{Name: name})
	}
	m, err := rows.Train(s, []rows.Recording{{Frames: crowd(1, 10, 60)}}, rows.Training{Rows: 400, Contexts: 2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// All codecs behind the door do the same: they give back the live rows.
func TestCodecs(t *testing.T) {
	m, frames := testModel(t), crowd(2, 10, 100)
	rec := rows.Recording{Frames: frames}
	for _, name := range Names {
		enc, err := New(name, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		dec, err := New(name, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		var past rows.Past
		for s, frame := range frames {
			rec.PastAt(s, 3, 1, &past)
			live := make([]bool, 10)
			for e := range live {
				live[e] = (e+s)%7 != 0
			}
			got := slices.Clone(frame)
			for e := range live {
				if live[e] {
					clear(got[e*testFields:][:testFields])
				}
			}
			if err := dec.Decode(enc.Append(nil, frame, &past, live), got, &past, live); err != nil || !slices.Equal(got, frame) {
				t.Fatalf("%s: frame %d: %v:\ngot  %d\nwant %d", name, s, err, got, frame)
			}
		}
	}
	if _, err := New("lzma", m, nil); err == nil {
		t.Error("an unknown codec: no error")
	}
}

// Hostile messages give an error or some frame.
func FuzzCodecs(f *testing.F) {
	m, frames := testModel(f), crowd(3, 10, 30)
	rec := rows.Recording{Frames: frames}
	var past rows.Past
	rec.PastAt(20, 3, 1, &past)
	var all []Codec
	for _, name := range Names {
		c, err := New(name, m, nil)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, c)
		f.Add(c.Append(nil, frames[20], &past, nil))
	}
	got, again := make([]int32, 10*testFields), make([]int32, 10*testFields)
	f.Fuzz(func(t *testing.T, src []byte) {
		for i, c := range all {
			if c.Decode(src, got, &past, nil) != nil {
				continue
			}
			if err := c.Decode(c.Append(nil, got, &past, nil), again, &past, nil); err != nil || !slices.Equal(got, again) {
				t.Fatalf("%s: a decoded frame did not come back: %v", Names[i], err)
			}
		}
	})
}
