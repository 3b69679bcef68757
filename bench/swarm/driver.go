package swarm

import (
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

// driver is the schedule of the thread that drives a swarm, and the time that the machine takes
// from it. Atomics are shared with the backup.
type driver struct {
	pacer     *clock.Pacer
	cpus      []int         // that the swarm may use
	slot      int64         // next slot of the schedule
	now       time.Duration // start of the slot, or the last poll
	lost      time.Duration // run delay in the slot
	debt      time.Duration // time spent sending since everything that had arrived was received
	delay     *clock.RunDelay
	readAt    time.Duration // when delay was read last
	corrected clock.StealCorrected
	slotsOn   [maxCPUs]int // slots that started on each processor

	beat        atomic.Int64 // ns: when the driver moved last, or will
	cpu         atomic.Int32 // that the driver runs on
	backupCPU   atomic.Int64 // ns: CPU time of backups
	backupAside atomic.Int64 // ns: of that, on other processors than the driver's
}

// maxCPUs is how many processors a driver tells apart.
const maxCPUs = 1024

func newDriver() driver {
	return driver{cpus: clock.CPUs(), pacer: clock.New(), delay: clock.NewRunDelay()}
}

// setBeat tells the backup that the driver moves at an instant.
func (d *driver) setBeat(at time.Duration) { d.beat.Store(int64(at)) }

// totalCPU is the CPU time of the calling thread and of backups.
func (d *driver) totalCPU() time.Duration {
	return clock.ThreadCPU() + time.Duration(d.backupCPU.Load())
}

// slots is how many slots a tick has: half a millisecond each, at 60 Hz and at 128.
func (s *Swarm) slots() int64 {
	n := int64(slots)
	for n > pollsPerTick && s.cfg.Rate.Period() < time.Duration(n)*shortSlot {
		n /= 2
	}
	return n
}

// period is the length of a slot.
func (s *Swarm) period() time.Duration { return s.cfg.Rate.Period() / time.Duration(s.slots()) }

// wait waits for the instant due and returns the time, and whether there was anything to wait for.
// Run delay while the thread is parked is counted apart: it makes nothing late unless it lasts
// longer.
func (s *Swarm) wait(due time.Duration) (now time.Duration, slept bool) {
	if s.driver.pacer.Park(due) && s.driver.pacer.Now() < due {
		s.readRunDelay()
	}
	slept = s.driver.pacer.Now() < due
	s.driver.pacer.Sleep(due)
	return s.driver.pacer.Now(), slept
}

// beginSlot starts the slot that was due at an instant, after a sleep or without one.
func (s *Swarm) beginSlot(due, begun time.Duration, slept bool) {
	d, taken := &s.driver, s.readRunDelay()
	d.now, d.lost = begun, 0
	d.corrected.Begin(due, begun, taken)
	if slept {
		s.Figures.RunDelay.addWake(begun - due - taken)
	}
	d.setBeat(begun)
	cpu := clock.CPU()
	if d.cpu.Store(int32(cpu)); uint(cpu) < maxCPUs {
		d.slotsOn[cpu]++
	}
}

// minDelayRead is the least time between two readings of the run delay while the driver works: no
// run delay is longer than the time since the last reading. A shorter one may be missed, which makes
// the corrected schedule later and not earlier.
const minDelayRead = 200 * time.Microsecond

// readRunDelay is the run delay since the last call.
func (s *Swarm) readRunDelay() time.Duration {
	s.driver.readAt = s.driver.pacer.Now()
	d := s.driver.delay.Read(time.Duration(s.driver.backupAside.Load()))
	s.Figures.RunDelay.add(d)
	s.driver.lost += d
	return d
}

// worked records that the driver worked until now.
func (s *Swarm) worked(now time.Duration) {
	var taken time.Duration
	if now-s.driver.readAt >= minDelayRead {
		taken = s.readRunDelay()
	}
	s.driver.corrected.Work(now, taken)
	s.driver.setBeat(now)
}

// sentUntil is the time now, after sending, by the clock and corrected for steal.
func (s *Swarm) sentUntil() (now, corrected time.Duration) {
	now = s.driver.pacer.Now()
	s.worked(now)
	return now, s.driver.corrected.Now()
}

// skipSlots leaves out the slots that cannot be caught up with, after one that started over a tick
// late. Their passes count as late, except those that the backup has played.
func (s *Swarm) skipSlots(due, begun time.Duration) {
	behind := int64((begun - due) / s.period())
	if behind <= s.slots() {
		return
	}
	each := max(len(s.players)/int(s.slots()), 1)
	for range behind {
		s.driver.slot++
		due += s.period()
		if s.passes.queue.begin(s.driver.slot, 0) {
			s.driver.corrected.Skip(due)
			s.sender.late(begun-due, min(s.driver.corrected.Late(), begun-due), each)
		}
	}
}
