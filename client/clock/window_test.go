package clock

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// slowWindow is window written for reading: a list that is sorted for each query.
type slowWindow struct {
	grain     time.Duration
	list      []sample
	low, high time.Duration
	run       []time.Duration // the newest, all beyond high or all below low
}

// sample is a sample of the list; a noisy one belongs to no run.
type sample struct {
	v     time.Duration
	noise bool
}

func (s *slowWindow) sorted() []time.Duration {
	var all []time.Duration
	for _, x := range s.list {
		all = append(all, x.v)
	}
	slices.Sort(all)
	return all
}

func (s *slowWindow) put(x sample) {
	if s.list = append(s.list, x); len(s.list) > windowSize {
		s.list = s.list[1:]
	}
}

func (s *slowWindow) add(v time.Duration) bool {
	if n := len(s.run); n == 0 || s.run[0] > s.high && v <= s.high || s.run[0] < s.low && v >= s.low {
		s.low, s.high, s.run = v, v, nil
		var firm []time.Duration
		for _, x := range s.list {
			if !x.noise {
				firm = append(firm, x.v)
			}
		}
		if len(firm) > 0 {
			s.low, s.high = slices.Min(firm)-s.grain/2, slices.Max(firm)+s.grain
		}
	}
	if v > s.high || v < s.low {
		s.run = append(s.run, v)
	}
	s.put(sample{v, false})
	if len(s.run) < stepProof {
		return false
	}
	s.list = nil
	for _, v := range s.run[1:] {
		s.list = append(s.list, sample{v, false})
	}
	s.run = nil
	return true
}

// TestWindowEqualsItsTwin: for any samples, the window returns what the list returns.
func TestWindowEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grain := time.Duration(rapid.IntRange(0, 3).Draw(t, "grain"))
		r, slow := window{grain: grain}, slowWindow{grain: grain}
		level := time.Duration(0)
		for range rapid.IntRange(1, 300).Draw(t, "samples") {
			switch rapid.IntRange(0, 30).Draw(t, "what") {
			case 0:
				level = time.Duration(rapid.IntRange(-50, 50).Draw(t, "level"))
			case 1, 2, 3:
				v := level + time.Duration(rapid.IntRange(-3, 3).Draw(t, "noise"))
				r.addNoise(v)
				slow.put(sample{v, true})
			default:
				v := level + time.Duration(rapid.IntRange(-3, 3).Draw(t, "sample"))
				if got, want := r.add(v), slow.add(v); got != want {
					t.Fatalf("%v: step %v, want %v", v, got, want)
				}
			}
			all := slow.sorted()
			if len(all) == 0 {
				continue
			}
			if r.n != len(all) || !slices.Equal(r.sorted[:r.n], all) || max(r.run, -r.run) != len(slow.run) {
				t.Fatalf("holds %v, want %v; run %d, want %v", r.sorted[:r.n], all, r.run, slow.run)
			}
			late, early := all[(95*len(all)+99)/100-1], all[(5*len(all)+99)/100-1]
			if got := r.percentile(95); got != late {
				t.Fatalf("late %v, want %v", got, late)
			}
			if len(slow.run) == 0 && (r.late() != late || r.early() != early) {
				t.Fatalf("%v to %v, want %v to %v", r.early(), r.late(), early, late)
			}
			if r.early() > r.midmean() && len(slow.run) == 0 ||
				r.midmean() > r.late() && len(slow.run) == 0 || r.midmean() < all[0] ||
				r.midmean() > all[len(all)-1] {
				t.Fatalf("middle %v of %v", r.midmean(), all)
			}
		}
	})
}

// TestWindowForgetsAStep: four samples after a step of the path, up or down, no older sample is
// left. A spike of three samples, or an overtaken one, is noise and stays.
func TestWindowForgetsAStep(t *testing.T) {
	for _, by := range []time.Duration{-30, 30} {
		var r window
		for i := range 100 {
			r.add(time.Duration(i % 7))
		}
		for i := range 3 {
			if r.add(by + time.Duration(i)) {
				t.Fatalf("a step of %d after %d samples", by, i+1)
			}
			if by > 0 && r.late() < by || by < 0 && r.early() > by+2 {
				t.Errorf("after %d samples %d to %d", i+1, r.early(), r.late())
			}
		}
		if spike := r; spike.add(3) || spike.n != windowSize || spike.late() > 6 || spike.early() < 0 {
			t.Errorf("a spike of three: %d to %d of %d", spike.early(), spike.late(), spike.n)
		}
		r.addNoise(3)
		if !r.add(by+3) || r.n != 3 || r.early() != by+1 || r.late() != by+3 {
			t.Errorf("after four samples %d to %d of %d", r.early(), r.late(), r.n)
		}
	}
}
