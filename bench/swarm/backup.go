package swarm

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/clock"
)

// backup sends for a stalled driver. A machine takes a processor from a thread for some
// milliseconds now and then (kernel threads, page faults in the host, interrupts), while of
// thousands of players a dozen are due every hundred microseconds. So a second thread on another
// processor checks once in each slot whether the driver is behind. If so, it plays the rest of the
// newest slot and those after it, instead of the driver or beside it.
//
// The two share only the blind players, each locked by one of them at a time, and only while the
// latch is open, which is always but once a tick. All else is the driver's.
type backup struct {
	sender
	stopping atomic.Bool
	done     chan struct{}
}

// maxStall is how long the driver may stand still, and how late it may start a slot, before the
// backup helps. The driver reports a beat with each chunk of sends and each poll.
const maxStall = 200 * time.Microsecond

// startBackup starts a backup for a run, nil if there is none: players with a prediction need more
// than a sender may touch, a thread without a processor of its own waits with the driver, and both
// sleep without giving up their place, so a third goroutine must be able to run. Links are the
// driver's.
func (s *Swarm) startBackup() *backup {
	d := &s.driver
	if s.links != nil || s.cfg.Decode != client.DecodeAcks || len(d.cpus) < 2 || runtime.GOMAXPROCS(0) < 3 {
		return nil
	}
	b := newBackup(s)
	clock.RaisePriority() // the driver uses processors for parts of a millisecond
	d.pin()
	d.cpu.Store(int32(clock.CPU()))
	d.setBeat(d.pacer.Now())
	s.passes.latch.open.Store(true)
	go b.run(s.period())
	return b
}

// pin pins the driver, after a first run, to the processor that it used most: other threads, such
// as a server's, leave it that one.
func (d *driver) pin() {
	most := 0
	for cpu, n := range d.slotsOn {
		if n > d.slotsOn[most] {
			most = cpu
		}
	}
	if d.slotsOn[most] > 0 {
		_ = clock.SetThreadAffinity([]int{most}) // without it the kernel chooses
	}
}

func newBackup(s *Swarm) *backup {
	b := &backup{sender: sender{s: s, blindOnly: true}, done: make(chan struct{})}
	b.sentUntil = func() (now, corrected time.Duration) {
		now = s.driver.pacer.Now()
		return now, now
	}
	return b
}

func (b *backup) run(period time.Duration) {
	defer close(b.done)
	d, off, apart := &b.s.driver, int32(-1), false
	d.pacer.Join() // not undone: the thread ends with its affinity
	clock.RaisePriority()
	before := clock.ThreadCPU()
	slotStart := func() time.Duration { return d.pacer.Now() / period * period }
	for at := slotStart(); !b.stopping.Load(); at = max(at+period, slotStart()) {
		d.pacer.Sleep(at + period/2)
		if on := d.cpu.Load(); on != off {
			off = on
			others := slices.DeleteFunc(slices.Clone(d.cpus), func(cpu int) bool { return cpu == int(on) })
			apart = clock.SetThreadAffinity(others) == nil // otherwise it helps less
		}
		b.playSlots(int64(at / period))
		cpu := clock.ThreadCPU()
		if d.backupCPU.Add(int64(cpu - before)); apart {
			d.backupAside.Add(int64(cpu - before))
		}
		before = cpu
	}
}

// playSlots plays for a driver that is behind, up to a slot. What is over a tick late is left to
// the driver to skip.
func (b *backup) playSlots(slot int64) {
	s, q, g := b.s, &b.s.passes.queue, &b.s.passes.latch
	for now := s.driver.pacer.Now(); s.stalled(now) && g.enter(); now = s.driver.pacer.Now() {
		at, passes := q.slot(), b.sent.Passes
		over := slot-at > b.s.slots() || !b.sweep(at, now, func(int) bool { return !g.closing() })
		b.sent.ByBackup += b.sent.Passes - passes
		if g.leave(); over || at >= slot {
			return
		}
		q.begin(at+1, s.passesPerSlot())
	}
}

// stop stops the backup and gathers its counters; on nil it does nothing.
func (b *backup) stop() {
	if b == nil {
		return
	}
	b.s.passes.latch.close()
	b.stopping.Store(true)
	<-b.done
	b.s.gather(&b.sender)
	b.s.backup = nil
}

// stalled reports whether the driver stands still, or has started no slot, for longer than
// maxStall.
func (s *Swarm) stalled(now time.Duration) bool {
	beat, slotEnd := time.Duration(s.driver.beat.Load()), time.Duration(s.passes.queue.slot()+1)*s.period()
	return now > beat+maxStall || now > slotEnd+maxStall
}
