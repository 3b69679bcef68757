// Package parallel runs a loop over rows in parts, so that several processors can share it. A
// number of rows and a function over a range of them go in; a Runner calls the function once for
// each part. Loop starts no goroutine and holds no lock. Pool does: it is for the program that owns
// the threads.
//
// Parts are contiguous ranges that follow from the number of rows alone, never from the number of
// workers or their speed. A part may write to its own rows, and collect other results in memory that
// its number indexes; the caller joins these in the order of the parts, which is the order of the
// rows. So the result is that of the plain loop, bit by bit.
//
//	type world struct{ pos, vel []float32 }
//	var moving parallel.Loop[world]
//	moving.SetRunner(pool) // nil: the caller alone
//	moving.Run(&w, len(w.pos), 256, func(w *world, p parallel.Part) {
//		for i := p.From; i < p.To; i++ {
//			w.pos[i] += w.vel[i]
//		}
//	})
package parallel

// MaxParts is the most parts that rows are cut into.
const MaxParts = 16

// Align is the alignment of parts: parts of Align rows or more begin at a multiple of it, so that
// two of them seldom write to one cache line.
const Align = 16

// Runner calls do(0) to do(parts-1), each once, in any order and several at a time, and returns
// when all have returned.
type Runner interface {
	Run(parts int, do func(part int))
}

// Waker is a Runner with workers that sleep between ticks. Wake wakes them before the first loop.
type Waker interface {
	Runner
	Wake()
}

// Part is a range of rows.
type Part struct {
	Index    int // 0 to Of-1; parts of higher index have higher rows
	Of       int // how many parts there are; 1: the loop was not cut
	From, To int // rows From <= i < To, never empty
}

// Loop runs loops over a T, one at a time. The zero Loop runs them whole, on the caller. One
// goroutine calls it; it must not be copied after SetRunner.
type Loop[T any] struct {
	runner Runner
	each   func(part int) // made once, so that a loop allocates nothing

	over    *T
	do      func(*T, Part)
	n, size int
}

// SetRunner lets r run the loops from now on; nil: the caller runs each whole.
func (l *Loop[T]) SetRunner(r Runner) {
	l.runner, l.each = r, nil
	if r != nil {
		l.each = l.part
	}
}

// Parallel reports whether loops may be cut.
func (l *Loop[T]) Parallel() bool { return l.runner != nil }

// Wake tells the runner that loops are about to run.
func (l *Loop[T]) Wake() {
	if w, ok := l.runner.(Waker); ok {
		w.Wake()
	}
}

// Run calls do for the parts of n rows, none of fewer than grain but the last, and returns the
// number of parts: 0 for no rows, 1 if the loop ran whole. do should be a plain function: a
// closure may allocate.
func (l *Loop[T]) Run(over *T, n, grain int, do func(*T, Part)) (parts int) {
	if n <= 0 {
		return 0
	}
	size := PartSize(n, grain)
	if l.runner == nil || size >= n {
		do(over, Part{0, 1, 0, n})
		return 1
	}
	l.over, l.do, l.n, l.size = over, do, n, size
	parts = (n + size - 1) / size
	l.runner.Run(parts, l.each)
	l.over, l.do = nil, nil
	return parts
}

// PartSize is the number of rows in a part of n: at least grain, enough that MaxParts hold all,
// and from Align on a multiple of Align.
func PartSize(n, grain int) int {
	size := max(grain, (n+MaxParts-1)/MaxParts, 1)
	if size < Align {
		return size
	}
	return (size + Align - 1) / Align * Align
}

func (l *Loop[T]) part(i int) {
	from := i * l.size
	l.do(l.over, Part{i, (l.n + l.size - 1) / l.size, from, min(from+l.size, l.n)})
}
