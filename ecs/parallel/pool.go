package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a Runner with goroutines of its own. The caller of Run works too, and helpers that are
// awake join it. A helper spins for a while after the last run and then sleeps. Run never waits
// for a helper that sleeps or is not scheduled, only for parts that have begun: on a busy machine
// the caller does all the work.
//
// One goroutine at a time calls Run; Close ends the pool.
//
// Each worker begins with parts of its own, the same in every run of as many parts, and then takes
// what the others have left. So the rows of a run are mostly in the caches of the processor that
// works on them.
type Pool struct {
	do    func(part int) // read only while open, or busy
	parts int
	_     [48]byte

	open atomic.Uint64 // number of the run that helpers may enter, 0: none
	_    [56]byte
	busy atomic.Int64 // helpers inside the run
	_    [56]byte
	next []workerParts // by worker; the caller is 0

	fault   atomic.Pointer[any] // panic of a helper's part
	runs    uint64
	helpers []helper
	done    sync.WaitGroup
}

// workerParts counts the parts taken of one worker.
type workerParts struct {
	taken atomic.Int64
	_     [56]byte
}

type helper struct {
	asleep atomic.Bool
	wake   chan bool // false: exit
	_      [48]byte
}

// spinTime is how long a helper spins before it sleeps: longer than the pauses between the loops
// of a tick. A wake-up takes some 50 µs, in which the caller would be alone.
const spinTime = 200 * time.Microsecond

// NewPool makes a pool of workers, the caller of Run included; 1 or less: the caller alone.
func NewPool(workers int) *Pool {
	p := &Pool{helpers: make([]helper, max(workers-1, 0)), next: make([]workerParts, max(workers, 1))}
	for i := range p.helpers {
		h := &p.helpers[i]
		h.wake = make(chan bool, 1)
		p.done.Add(1)
		go p.help(h, i+1)
	}
	return p
}

// Workers is the number of workers; 1 for a nil pool.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return len(p.helpers) + 1
}

// Close ends the helpers and waits for them. Run still works afterwards, on the caller. Close of a
// nil pool does nothing.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	for i := range p.helpers {
		p.helpers[i].asleep.Store(false)
		p.helpers[i].wake <- false
	}
	p.open.Store(closing)
	p.done.Wait()
	p.open.Store(0)
	p.helpers = nil
}

const closing = ^uint64(0)

// Run implements Runner.
func (p *Pool) Run(parts int, do func(part int)) {
	if parts <= 1 || len(p.helpers) == 0 {
		for i := range parts {
			do(i)
		}
		return
	}
	p.do, p.parts = do, parts
	for i := range p.next {
		p.next[i].taken.Store(0)
	}
	p.runs++
	p.open.Store(p.runs)
	defer p.finish() // even if a part panics
	p.wake(parts - 1)
	p.take(0)
}

// finish closes the run and waits for the helpers inside: each has a part in hand. Either a helper
// sees open at 0, or finish sees the helper in busy. A panic of a helper's part panics here.
func (p *Pool) finish() {
	p.open.Store(0)
	for i := 1; p.busy.Load() != 0; i++ {
		if i&1023 == 0 {
			runtime.Gosched() // the helper may wait for this very processor
		}
	}
	p.do = nil
	if fault := p.fault.Swap(nil); fault != nil {
		panic(*fault)
	}
}

// Wake implements Waker.
func (p *Pool) Wake() { p.wake(len(p.helpers)) }

// wake wakes up to n sleeping helpers.
func (p *Pool) wake(n int) {
	for i := range p.helpers[:min(len(p.helpers), n)] {
		if h := &p.helpers[i]; h.asleep.Load() && h.asleep.CompareAndSwap(true, false) {
			h.wake <- true
		}
	}
}

// take runs parts until none is left: first those of the worker, then those of the others.
func (p *Pool) take(worker int) {
	n := len(p.next)
	for k := range n {
		owner := (worker + k) % n
		from, to := owner*p.parts/n, (owner+1)*p.parts/n
		for {
			i := from + int(p.next[owner].taken.Add(1)) - 1
			if i >= to {
				break
			}
			p.do(i)
		}
	}
}

func (p *Pool) help(h *helper, worker int) {
	defer p.done.Done()
	var last uint64
	for {
		run := p.await(h, last)
		if run == closing {
			return
		}
		if run == 0 { // woken too late
			continue
		}
		last = run
		p.enter(run, worker)
	}
}

// enter helps with a run if it is still open.
func (p *Pool) enter(run uint64, worker int) {
	p.busy.Add(1)
	defer func() {
		if fault := recover(); fault != nil {
			p.fault.Store(&fault)
		}
		p.busy.Add(-1)
	}()
	if p.open.Load() == run {
		p.take(worker)
	}
}

// await returns the number of a run other than last, 0 for none after a sleep, or closing.
func (p *Pool) await(h *helper, last uint64) uint64 {
	for start := time.Now(); time.Since(start) < spinTime; {
		for range 64 {
			if run := p.open.Load(); run != 0 && run != last {
				return run
			}
		}
	}
	h.asleep.Store(true)
	if run := p.open.Load(); run != 0 && run != last && h.asleep.CompareAndSwap(true, false) {
		return run // the run was opened before asleep was set, so no wake-up comes
	}
	if !<-h.wake {
		return closing
	}
	return 0
}
