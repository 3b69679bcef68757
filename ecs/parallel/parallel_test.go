package parallel

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// backwards runs parts on the caller, the last first: an order that no loop may notice.
type backwards struct{}

func (backwards) Run(parts int, do func(int)) {
	for i := parts - 1; i >= 0; i-- {
		do(i)
	}
}

type table struct {
	rows  []int
	parts []Part
	lists [MaxParts][]int
}

func double(t *table, p Part) {
	list := t.lists[p.Index][:0]
	for i := p.From; i < p.To; i++ {
		t.rows[i] = 2 * i
		if i%7 == 0 {
			list = append(list, i)
		}
	}
	t.lists[p.Index] = list
}

// Parts cover the rows in order, follow from their number alone, and what each kept comes together
// in the order of rows.
func TestPartsAreTheRows(t *testing.T) {
	pool := NewPool(3)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		n, grain := rapid.IntRange(0, 5000).Draw(t, "rows"), rapid.IntRange(0, 300).Draw(t, "grain")
		var want []int
		for i, r := range []Runner{nil, backwards{}, pool} {
			var l Loop[table]
			l.SetRunner(r)
			tab := table{rows: make([]int, n), parts: make([]Part, MaxParts)}
			parts := l.Run(&tab, n, grain, double)
			l.Run(&tab, n, grain, func(t *table, p Part) { t.parts[p.Index] = p })
			at := 0
			for j, p := range tab.parts[:parts] {
				if p.Index != j || p.Of != parts || p.From != at || p.To <= at ||
					grain >= Align && p.From%Align != 0 {
					t.Fatalf("part %d of %d is %+v, after row %d", j, parts, p, at)
				}
				at = p.To
			}
			if at != n || n == 0 && parts != 0 || r == nil && parts > 1 || parts > MaxParts {
				t.Fatalf("%d parts end at row %d of %d", parts, at, n)
			}
			for row, v := range tab.rows {
				if v != 2*row {
					t.Fatalf("row %d was visited with %d", row, v)
				}
			}
			got := slices.Concat(tab.lists[:parts]...)
			if i == 0 {
				want = got
			} else if !slices.Equal(got, want) {
				t.Fatalf("runner %d lists %v, want %v", i, got, want)
			}
		}
	})
}

// Every part of every run is run once, also when helpers fall asleep in between and after Close.
func TestPoolRunsEachPartOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, workers := range []int{0, 1, 2, 4, 9} {
		p := NewPool(workers)
		if p.Workers() != max(workers, 1) {
			t.Errorf("%d workers, want %d", p.Workers(), workers)
		}
		var seen [40]atomic.Int32
		for run := range 3000 {
			parts := run % len(seen)
			if run == 2900 {
				p.Close()
				p.Close()
			}
			p.Run(parts, func(i int) { seen[i].Add(1) })
			for i := range seen {
				want := int32(0)
				if i < parts {
					want = 1
				}
				if n := seen[i].Swap(0); n != want {
					t.Fatalf("%d workers, run %d: part %d ran %d times, want %d", workers, run, i, n, want)
				}
			}
			if run%500 == 499 { // so long that helpers sleep
				for i := range p.helpers {
					for !p.helpers[i].asleep.Load() {
						runtime.Gosched()
					}
				}
			}
		}
	}
}

// A panic of a part reaches the caller when no part runs any more; the pool can still be used.
func TestPanicsReachTheCaller(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for i := range 200 {
		running := atomic.Int32{}
		func() {
			defer func() {
				if fault := recover(); fault != "part" {
					t.Fatalf("run %d: %v, want part", i, fault)
				}
				if n := running.Load(); n != 0 {
					t.Fatalf("run %d: %d parts still run", i, n)
				}
			}()
			p.Run(8, func(part int) {
				running.Add(1)
				defer running.Add(-1)
				runtime.Gosched() // lets the caller's part panic while a helper's part runs
				if part == i%8 {
					panic("part")
				}
			})
		}()
		n := atomic.Int32{}
		if p.Run(4, func(int) { n.Add(1) }); n.Load() != 4 {
			t.Fatalf("%d parts ran, want 4", n.Load())
		}
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var l Loop[table]
	l.SetRunner(p)
	tab := table{rows: make([]int, 4096)}
	l.Run(&tab, len(tab.rows), 64, double)
	for i := range tab.lists {
		tab.lists[i] = slices.Grow(tab.lists[i], 64)
	}
	if n := alloctest.In(100, func() { l.Run(&tab, len(tab.rows), 64, double) }); n != 0 && !raceEnabled { // which allocates
		t.Errorf("%g allocations a loop", n)
	}
}

// BenchmarkRun measures an empty loop on helpers that are awake, and on goroutines made for it.
func BenchmarkRun(b *testing.B) {
	nothing := func(int) {}
	for _, workers := range []int{1, 2} {
		b.Run([]string{1: "alone", 2: "pool=2"}[workers], func(b *testing.B) {
			p := NewPool(workers)
			defer p.Close()
			b.ReportAllocs()
			for b.Loop() {
				p.Run(MaxParts, nothing)
			}
		})
	}
	b.Run("go=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			done := make(chan bool)
			go func() { done <- true }()
			for i := range MaxParts {
				nothing(i)
			}
			<-done
		}
	})
}
