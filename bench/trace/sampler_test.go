package trace

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// slowAt is the honest twin of Sampler.At: it walks all runs and samples from the first for every
// call.
func slowAt(s *Sampler, t time.Duration) Sample {
	clock := max(t, 0) + s.offset
	for run := uint32(0); ; run++ {
		r := s.track.Runs[int(run)%len(s.track.Runs)]
		if length := s.track.Length(r); clock >= length {
			clock -= length
			continue
		}
		for i := r.From; ; i++ {
			a, b := s.track.Samples[i], s.track.Samples[i+1]
			if local := s.track.Samples[r.From].T + clock; local < b.T {
				f := float32(float64(local-a.T) / float64(b.T-a.T))
				out := a
				out.T, out.Run = max(t, 0), run
				out.Pos = s.direct(a.Pos.Lerp(b.Pos, f).Sub(s.centre)).Add(s.shift)
				out.Vel = s.direct(a.Vel.Lerp(b.Vel, f))
				out.Yaw, out.Pitch = s.yaw(a.Yaw.Lerp(b.Yaw, f)), a.Pitch.Lerp(b.Pitch, f)
				return out
			}
		}
	}
}

func TestSamplerAgainstSlowTwin(t *testing.T) {
	both := Join(open(t, "testdata/handmade_qw.csv"), open(t, "testdata/handmade_cs16.csv"))
	rapid.Check(t, func(t *rapid.T) {
		s := NewSampler(both, rapid.IntRange(0, 50).Draw(t, "copy"), rapid.Uint64().Draw(t, "seed"))
		at := time.Duration(0)
		for range 30 {
			if rapid.Bool().Draw(t, "anywhere") {
				at = time.Duration(rapid.Int64Range(-10, int64(3*s.Length())).Draw(t, "at"))
			} else {
				at += time.Duration(rapid.Int64Range(0, int64(60*time.Millisecond)).Draw(t, "step"))
			}
			if got, want := s.At(at), slowAt(s, at); got != want {
				t.Fatalf("at %v:\n got %+v\nwant %+v", at, got, want)
			}
		}
	})
}

func TestSamplerIsAFunctionOfItsArguments(t *testing.T) {
	tr := open(t, "testdata/handmade_qw.csv")
	a, b := NewSampler(tr, 5, 9), NewSampler(tr, 5, 9)
	for at := time.Duration(0); at < 3*a.Length(); at += 7 * time.Millisecond {
		b.At(2*a.Length() - at/2) // where it looked before must not matter
		if a.At(at) != b.At(at) {
			t.Fatalf("two samplers of one seed differ at %v", at)
		}
	}
	if NewSampler(tr, 5, 10).At(0) == a.At(0) {
		t.Error("another seed gives the same player")
	}
}

func TestCopiesDiffer(t *testing.T) {
	tr := open(t, "testdata/handmade_qw.csv")
	seen := map[Sample]int{}
	for copy := range 200 {
		s := NewSampler(tr, copy, 1)
		if want := &tr.Tracks[copy%2]; s.track != want {
			t.Fatalf("copy %d does not play track %d", copy, copy%2)
		}
		if other, twice := seen[s.At(time.Second)]; twice {
			t.Errorf("copies %d and %d are the same player", other, copy)
		}
		seen[s.At(time.Second)] = copy
	}
}

// Turned, mirrored and shifted, a player still walks where they look and covers the same ground.
func TestCopiesKeepTheirGait(t *testing.T) {
	tr := open(t, "testdata/handmade_cs16.csv") // both sessions run straight ahead
	orientations := map[[2]any]bool{}
	for copy := range 200 {
		s := NewSampler(tr, copy, 3)
		orientations[[2]any{s.turns, s.mirror}] = true
		for at := time.Duration(0); at < s.Length(); at += 5 * time.Millisecond {
			p := s.At(at)
			ahead := geom.Forward(p.Yaw, 0).Dot(p.Vel.Normalize())
			if ahead < 0.9999 {
				t.Fatalf("copy %d (%d turns, mirror %v) looks at %v and moves %v",
					copy, s.turns, s.mirror, p.Yaw.Degrees(), p.Vel)
			}
			q := s.At(at + time.Millisecond)
			if moved := q.Pos.Sub(p.Pos).Scale(1000); q.Run == p.Run && !close3(moved, p.Vel, 0.05) {
				t.Fatalf("copy %d: velocity %v, but it moves %v", copy, p.Vel, moved)
			}
			if geom.Abs(p.Pos.X) > 4+Spread || geom.Abs(p.Pos.Z) > 4+Spread {
				t.Fatalf("copy %d strays to %v", copy, p.Pos)
			}
		}
	}
	if len(orientations) != 8 {
		t.Errorf("%d of 8 orientations among 200 copies", len(orientations))
	}
}

func TestMirroringSwapsTurns(t *testing.T) {
	s := Sampler{mirror: true}
	for deg := 0.0; deg < 360; deg += 15 {
		yaw := geom.Degrees(deg)
		for s.turns = range uint8(4) {
			want := s.direct(geom.Forward(yaw, 0))
			if got := geom.Forward(s.yaw(yaw), 0); !close3(got, want, 1e-6) {
				t.Fatalf("mirrored and turned %d: view %v, direction %v", s.turns, got, want)
			}
		}
	}
}

func TestAtDoesNotAllocate(t *testing.T) {
	s, at := NewSampler(open(t, "testdata/handmade_qw.csv"), 1, 1), time.Duration(0)
	if n := alloctest.In(1000, func() { s.At(at); at += 16 * time.Millisecond }); n != 0 {
		t.Errorf("%v allocations a call in order", n)
	}
	if n := alloctest.In(1000, func() { s.At(at); at = (at*7 + 13) % (9 * s.Length()) }); n != 0 {
		t.Errorf("%v allocations a call anywhere", n)
	}
}

func TestSamplersOfRecordings(t *testing.T) {
	tr := open(t, "testdata/people_duel.csv.gz")
	for copy := range 16 {
		s := NewSampler(tr, copy, 1)
		last := s.At(0)
		for at := time.Second / 60; at < 30*time.Second; at += time.Second / 60 {
			p := s.At(at)
			speed := float64(p.Pos.Sub(last.Pos).Len()) * 60
			if p.Run == last.Run && (speed > teleportUnitsPerSecond/32. || math.IsNaN(speed)) {
				t.Fatalf("copy %d moves %.0f m/s at %v within a run", copy, speed, at)
			}
			last = p
		}
	}
}

func BenchmarkAt(b *testing.B) {
	tr := open(b, "testdata/people_4on4.csv.gz")
	at := time.Duration(0)
	b.Run("in order", func(b *testing.B) {
		b.ReportAllocs()
		s := NewSampler(tr, 1, 1)
		for b.Loop() {
			s.At(at)
			at += time.Second / 60
		}
	})
	b.Run("search each time", func(b *testing.B) {
		b.ReportAllocs()
		s := NewSampler(tr, 1, 1)
		for b.Loop() {
			s.At(at)
			at += time.Minute + time.Second/60
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	path := "testdata/people_duel.csv.gz"
	for b.Loop() {
		open(b, path)
	}
}
