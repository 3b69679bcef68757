package meter

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/internal/alloctest"
)

func TestCounterAddsAcrossGoroutines(t *testing.T) {
	var c Counter
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				c.Inc()
				c.Add(2)
			}
		})
	}
	wg.Wait()
	if got := c.Load(); got != 12000 {
		t.Fatalf("counter holds %d, want 12000", got)
	}
}

// sorted is the slow twin: it keeps every value.
type sorted []int64

func (s sorted) quantile(q float64) int64 {
	if len(s) == 0 {
		return 0
	}
	rank := min(max(int(q*float64(len(s))+0.5), 1), len(s))
	return s[rank-1]
}

func TestHistogramAgreesWithSortedValues(t *testing.T) {
	fine, coarse := NewHistogram(1<<40, Fine), NewHistogram(1<<40, Coarse)
	rapid.Check(t, func(t *rapid.T) {
		h, within := fine, 0.001
		if rapid.Bool().Draw(t, "coarse") {
			h, within = coarse, 0.008
		}
		h.Reset()
		values := rapid.SliceOf(rapid.Int64Range(0, 1<<40)).Draw(t, "values")
		var sum float64
		for i, v := range values {
			h.Record(v)
			sum += float64(v)
			if i%7 == 0 { // a reader in between changes nothing
				h.Count()
			}
		}
		s := sorted(values)
		slices.Sort(s)
		if h.Count() != int64(len(s)) || h.Max() != s.quantile(1) {
			t.Fatalf("count %d max %d, want %d %d", h.Count(), h.Max(), len(s), s.quantile(1))
		}
		if len(s) > 0 && math.Abs(h.Mean()-sum/float64(len(s))) > 1e-6*sum {
			t.Fatalf("mean %g, want %g", h.Mean(), sum/float64(len(s)))
		}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
			got, want := h.Quantile(q), s.quantile(q)
			if d := math.Abs(float64(got - want)); d > 1 && d > within*float64(want) {
				t.Fatalf("quantile %g is %d, want %d", q, got, want)
			}
		}
	})
}

func TestHistogramClampsWhatIsOutOfRange(t *testing.T) {
	h := NewHistogram(1000, Fine)
	h.Record(-5)
	h.Record(1 << 50)
	h.Record(math.MinInt64)
	h.Record(1000)
	if h.Count() != 4 || h.Clamped() != 3 || h.Max() != 1000 || h.Quantile(0) != 0 {
		t.Fatalf("count %d clamped %d max %d q0 %d", h.Count(), h.Clamped(), h.Max(), h.Quantile(0))
	}
	h.Reset()
	if h.Count() != 0 || h.Clamped() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 || h.Mean() != 0 {
		t.Fatal("a reset histogram still holds something")
	}
}

func TestSnapshotIsIndependentAndAddToSums(t *testing.T) {
	h, s := NewHistogram(0, Fine), NewHistogram(0, Fine)
	s.Record(7) // forgotten by Snapshot
	for i := range int64(100) {
		h.Record(i)
	}
	h.Snapshot(s)
	h.Record(1e9)
	if s.Count() != 100 || s.Max() != 99 || h.Count() != 101 {
		t.Fatalf("snapshot holds %d to %d, source %d", s.Count(), s.Max(), h.Count())
	}
	h.AddTo(s)
	if s.Count() != 201 || s.Max() != 1e9 {
		t.Fatalf("sum holds %d to %d", s.Count(), s.Max())
	}
}

// Nothing is lost or counted twice while readers swap the counters under a running writer.
func TestReadersNeverLoseARecord(t *testing.T) {
	const records = 20_000
	h := NewHistogram(1<<20, Fine)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := rand.New(rand.NewPCG(1, 2))
		for range records {
			h.Record(r.Int64N(1 << 20))
		}
	}()
	var last int64
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		n := h.Count()
		if n < last {
			t.Fatalf("count fell from %d to %d", last, n)
		}
		last = n
	}
	if last != records {
		t.Fatalf("%d records counted, want %d", last, records)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	h, c := NewHistogram(0, Fine), new(Counter)
	v := int64(1)
	if n := alloctest.In(1000, func() {
		h.Record(v)
		h.Record(-v)
		h.Record(math.MaxInt64)
		c.Inc()
		v = v*3 + 1
	}); n != 0 {
		t.Fatalf("%g allocations a record", n)
	}
}

func TestBadUseOfAHistogramPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"range":  func() { NewHistogram(1, Fine) },
		"itself": func() { h := NewHistogram(10, Fine); h.Snapshot(h) },
		"other":  func() { NewHistogram(10, Fine).AddTo(NewHistogram(20, Fine)) },
		"finer":  func() { NewHistogram(10, Coarse).AddTo(NewHistogram(10, Fine)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			f()
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	h := NewHistogram(0, Fine)
	b.ReportAllocs()
	for i := range b.N {
		h.Record(int64(i) * 37 & (1<<30 - 1))
	}
}

// A summary is of one moment while another goroutine records: of equal values it is all of them or
// none.
func TestSummaryIsOfOneMoment(t *testing.T) {
	const value = 7
	h, done := NewHistogram(0, Fine), make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				h.Record(value)
			}
		}
	})
	filled := 0
	for range 2000 {
		s := h.Summary()
		if s.Count > 0 {
			filled++
			s.Count = value
		}
		if all := (Summary{value, value, value, value, value, value, value}); s != all && s != (Summary{}) {
			t.Fatalf("summary %+v of records of %d", s, value)
		}
		h.Reset()
	}
	close(done)
	writer.Wait()
	if filled == 0 {
		t.Error("no summary had a record")
	}
}
