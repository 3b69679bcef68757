package ringbuf

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// A ring returns the same items as the newest part of a slice that keeps all items.
func TestRingMatchesSlice(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 1 + rng.IntN(9)
		r := New[int](n)
		var all []int // the twin: every item ever
		popped, lost := 0, 0
		for range 500 {
			if rng.IntN(5) < 3 {
				if len(all)-popped == n {
					popped, lost = popped+1, lost+1
				}
				all = append(all, rng.Int())
				r.Push(all[len(all)-1])
			} else {
				got, ok := r.Pop()
				if ok != (popped < len(all)) || ok && got != all[popped] {
					t.Fatalf("seed %d: popped %d, %v", seed, got, ok)
				}
				if ok {
					popped++
				}
			}
			if r.Len() != len(all)-popped || r.Added() != uint64(len(all)) || r.Lost() != uint64(lost) {
				t.Fatalf("seed %d: %d wait, %d came, %d lost; twin says %d, %d, %d", seed, r.Len(),
					r.Added(), r.Lost(), len(all)-popped, len(all), lost)
			}
		}
	}
}

func TestRingSince(t *testing.T) {
	r := New[int](4)
	var all []int
	for i := range 11 {
		for from := range 13 {
			want := all[min(max(from, i-4, 0), i):]
			if got := r.Since(uint64(from), nil); !slices.Equal(got, want) {
				t.Fatalf("after %d items, from %d: %v, want %v", i, from, got, want)
			}
		}
		all = append(all, 100+i)
		r.Push(100 + i)
	}
	r.Reset()
	if r.Len() != 0 || r.Added() != 0 || r.Lost() != 0 || len(r.Since(0, nil)) != 0 {
		t.Error("items are left after Reset")
	}
}

// A popped item leaves no pointer behind, and only the first item allocates.
func TestRingMemory(t *testing.T) {
	r := New[*int](2)
	r.Push(new(int))
	r.Pop()
	if *r.At(0) != nil {
		t.Error("a popped item is still held")
	}
	item := new(int)
	if n := alloctest.In(100, func() { r.Push(item); r.Push(item); r.Push(item); r.Pop() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
