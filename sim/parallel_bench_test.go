package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/parallel"
)

// clock times the systems of a war, tick by tick, so that a busy machine can be left out of the
// middle of them.
type clock struct {
	w     *war
	took  [][]int64 // by system: ns, one a tick
	whole []int64   // ns of all systems, one a tick
}

func newClock(w *war) *clock { return &clock{w: w, took: make([][]int64, len(systems))} }

func (c *clock) tick() {
	start := time.Now()
	begun, last := time.Duration(0), time.Duration(0)
	c.w.tick(func(i int) {
		now := time.Since(start)
		if i == 0 {
			begun = now
		} else {
			c.took[i-1] = append(c.took[i-1], int64(now-last))
		}
		last = now
	})
	c.whole = append(c.whole, int64(last-begun))
}

// low is the tenth percentile: the cost without interference of other programs.
func low(ns []int64) float64 {
	ns = slices.Sorted(slices.Values(ns))
	return float64(ns[len(ns)/10])
}

// foreman runs parts one after the other, and works out when as many workers as hands would be done
// with them, each taking the next part as soon as it is free.
type foreman struct {
	hands [2]time.Duration
	saved time.Duration // in all loops
}

func (f *foreman) Run(parts int, do func(int)) {
	clear(f.hands[:])
	whole := time.Duration(0)
	for i := range parts {
		start := time.Now()
		do(i)
		took := time.Since(start)
		whole += took
		least := 0
		for j := range f.hands {
			if f.hands[j] < f.hands[least] {
				least = j
			}
		}
		f.hands[least] += took
	}
	f.saved += whole - slices.Max(f.hands[:])
}

// shared are the systems that are run in parts.
var shared = []string{"commands", "abilities", "move", "animate", "record", "combat", "projectiles",
	"grenades"}

// BenchmarkWorkers plays one firefight of 4000 players three times, tick by tick in turns: with one
// worker, with a pool of two, and with a serial runner that times each part and computes the
// duration for two workers. pool-ns/tick beside alone-ns/tick is what the pool is worth.
// computed-ns/tick is independent of other programs: it includes serial and uneven parts, but no
// synchronisation and no shared memory bandwidth. serial-ns/tick is of the systems that have no parts.
// machine-ratio is the pool's speedup on parts that touch no memory: near 1 there is no second
// processor, and pool-ns/tick means nothing.
func BenchmarkWorkers(b *testing.B) {
	pool := parallel.NewPool(2)
	defer pool.Close()
	f := &foreman{}
	alone, two, told := newClock(newWar(b, 4000, true)), newClock(newSharedWar(b, 4000, true, pool)),
		newClock(newSharedWar(b, 4000, true, f))
	var account, one, both []int64
	var out [16 * parallel.MaxParts]uint64
	sums := func(part int) {
		x := uint64(part)
		for range 60_000 { // some 80 us, as a part of the systems together
			x = x*6364136223846793005 + 1442695040888963407
		}
		out[16*part] = x
	}
	spend := func(r parallel.Runner) int64 {
		start := time.Now()
		r.Run(parallel.MaxParts, sums)
		return int64(time.Since(start))
	}
	for b.Loop() {
		alone.tick()
		two.tick()
		both = append(both, spend(pool))
		one = append(one, spend(&backwards{}))
		f.saved = 0
		told.tick()
		account = append(account, told.whole[len(told.whole)-1]-int64(f.saved))
	}
	serial := 0.
	for i := range systems {
		if !slices.Contains(shared, systems[i].Name) {
			serial += low(alone.took[i])
		}
	}
	b.ReportMetric(low(alone.whole), "alone-ns/tick")
	b.ReportMetric(low(two.whole), "pool-ns/tick")
	b.ReportMetric(low(account), "computed-ns/tick")
	b.ReportMetric(serial, "serial-ns/tick")
	b.ReportMetric(low(one)/low(both), "machine-ratio")
	b.ReportMetric(0, "ns/op") // all three together
	if a, z, y := alone.w.m.Hash(), two.w.m.Hash(), told.w.m.Hash(); a != z || a != y {
		b.Fatalf("the matches differ: %x, %x, %x", a, z, y)
	}
}
