package swarm

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

// backup sends for a driver that is held up. A machine takes a processor from a thread for some milliseconds now and then (kernel threads that are not
// preempted, memory that its host has to bring, interrupts), and of thousands of players a dozen are due every hundred microseconds. So a second thread
// looks once in each slot, from another processor, whether the driver is behind. If it is, the relief plays what is left of the slot that was begun
// last, and those after it: in the driver's place, if that does not move, and else beside it.
//
// The two share the bare players, each of whom is in one hand at a time (Swarm.tryLock), and that only while the gate is open: but for once a tick. All
// else is the driver's.
type backup struct {
	sender
	stopping atomic.Bool
	done     chan struct{}
}

// maxStall is how long the driver may not move, who does with each chunk of sends and with each glance, and how late it may begin a slot.
const maxStall = 200 * time.Microsecond

// startBackup starts a relief for a run; nil where there is none: full players know more than a hand can hold, a thread without another processor waits with
// the driver, and where two goroutines run at a time, as both sleep without giving up their places, nobody else would.
func (s *Swarm) startBackup() *backup {
	if !s.cfg.Bare || len(s.cpus) < 2 || runtime.GOMAXPROCS(0) < 3 {
		return nil
	}
	r := newBackup(s)
	clock.RaisePriority() // it has the processors in parts of a millisecond, and gives them back
	s.pinDriver()
	s.on.Store(int32(clock.CPU()))
	s.setBeat(s.clock.Now())
	s.gate.open.Store(true)
	go r.run(s.period())
	return r
}

// pinDriver keeps the driver, after a first run, to the processor that it was on most: that which others, such as a server, leave it. On
// another it would be in their way.
func (s *Swarm) pinDriver() {
	most := 0
	for cpu, n := range s.slotsOn {
		if n > s.slotsOn[most] {
			most = cpu
		}
	}
	if s.slotsOn[most] > 0 {
		_ = clock.SetThreadAffinity([]int{most}) // else it goes where the kernel has it go
	}
}

func newBackup(s *Swarm) *backup {
	r := &backup{sender: sender{s: s, blind: true}, done: make(chan struct{})}
	r.sentUntil = func() (now, own time.Duration) {
		now = s.clock.Now()
		return now, now
	}
	return r
}

func (r *backup) run(period time.Duration) {
	defer close(r.done)
	s, off, apart := r.s, int32(-1), false
	s.clock.Join() // not undone: the thread ends with its processors
	clock.RaisePriority()
	before := clock.ThreadCPU()
	for at := s.clock.Now() / period * period; !r.stopping.Load(); at = max(at+period, s.clock.Now()/period*period) {
		s.clock.Sleep(at + period/2)
		if on := s.on.Load(); on != off {
			off = on
			apart = clock.SetThreadAffinity(slices.DeleteFunc(slices.Clone(s.cpus), func(c int) bool { return c == int(on) })) == nil // else it helps less
		}
		r.playSlots(int64(at / period))
		cpu := clock.ThreadCPU()
		if s.spent.Add(int64(cpu - before)); apart {
			s.aside.Add(int64(cpu - before))
		}
		before = cpu
	}
}

// playSlots plays for a driver that is behind, up to a slot. What is over a tick late is left to the driver, to give up.
func (r *backup) playSlots(slot int64) {
	s := r.s
	for now := s.clock.Now(); s.stalled(now) && s.gate.enter(); now = s.clock.Now() {
		at, turns := s.queue.slot(), r.sent.Turns
		over := slot-at > slots || !r.sweep(at, now, func(int) bool { return !s.gate.closing() })
		r.sent.ByBackup += r.sent.Turns - turns
		if s.gate.leave(); over || at >= slot {
			return
		}
		s.queue.begin(at+1, s.turns())
	}
}

// stop stops the relief and has what it counted; on nil it does nothing.
func (r *backup) stop() {
	if r == nil {
		return
	}
	r.s.gate.shut()
	r.stopping.Store(true)
	<-r.done
	r.s.gather(&r.sender)
	r.s.backup = nil
}

// setBeat tells the relief that the driver will move at an instant, or has.
func (s *Swarm) setBeat(at time.Duration) { s.beat.Store(int64(at)) }

// stalled is whether the driver has not moved for longer than it may, or has not begun a slot for so long.
func (s *Swarm) stalled(now time.Duration) bool {
	return now > time.Duration(s.beat.Load())+maxStall || now > time.Duration(s.queue.slot()+1)*s.period()+maxStall
}

// tryLock takes player i in hand, unless another has it.
func (s *Swarm) tryLock(i int) bool { return s.held[i].CompareAndSwap(false, true) }

func (s *Swarm) unlock(i int) { s.held[i].Store(false) }

// lock is hold for who cannot go on without: the other's hand has it for microseconds, or until its thread goes on.
func (s *Swarm) lock(i int) {
	for !s.tryLock(i) {
		runtime.Gosched()
	}
}

// gate lets a second goroutine in while its owner keeps it open. The zero value is shut.
type gate struct{ open, in atomic.Bool }

// enter goes in, if it is open; then leave must follow, soon after asked.
func (g *gate) enter() bool {
	g.in.Store(true)
	if g.open.Load() {
		return true
	}
	g.in.Store(false)
	return false
}

func (g *gate) leave() { g.in.Store(false) }

// closing is whether who is in is asked to leave.
func (g *gate) closing() bool { return !g.open.Load() }

// tryShut shuts the gate, if nobody is in.
func (g *gate) tryShut() bool {
	if g.open.Store(false); !g.in.Load() {
		return true
	}
	g.open.Store(true)
	return false
}

// close shuts the gate and waits until nobody is in.
func (g *gate) shut() {
	for g.open.Store(false); g.in.Load(); {
		runtime.Gosched()
	}
}
