package clock

import (
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Pacer wakes a thread at exact instants: it parks until shortly before, has the kernel wake it a
// little early and spins the rest, which is within a microsecond on an idle machine where
// time.Sleep is 0.6 ms late. Instants count from its making.
type Pacer struct {
	start time.Time // as the runtime reads it, without a system call
	at    int64     // the same instant on the kernel's monotonic clock
}

const (
	// spin is how long before the deadline the kernel is asked to wake us.
	spin = 60 * time.Microsecond

	// park is how long before an instant a parked goroutine is woken: the runtime keeps timers to a
	// millisecond.
	park = 1500 * time.Microsecond

	// worthParking is the least time that is spent parked.
	worthParking = time.Millisecond
)

// New binds the calling goroutine to its thread for good and asks the kernel not to round that
// thread's timers.
func New() *Pacer {
	p := &Pacer{start: time.Now(), at: readClock(unix.CLOCK_MONOTONIC)}
	p.Bind()
	return p
}

// Bind binds the calling goroutine to its thread for good, as New does; it may then use the pacer's
// clock beside the goroutine that made it.
func (p *Pacer) Bind() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // on failure 50 us, which the spin covers
}

// Join is Bind for a thread that asks for slightly shorter time slices than others
// (sched_setattr(2), which needs no privilege; kernels before 6.12 ignore it): on a shared
// processor, such as one with a server, the kernel then schedules it when it wakes, and not when
// the running thread's slice is over.
func (p *Pacer) Join() {
	p.Bind()
	if now, err := unix.SchedGetAttr(0, 0); err == nil && now.Policy == unix.SCHED_NORMAL {
		now.Runtime = uint64(shortTurn)
		_ = unix.SchedSetAttr(0, now, 0)
	}
}

// RaisePriority gives the calling thread nice -20, and reports whether it may, which usually needs
// root.
func RaisePriority() bool { return unix.Setpriority(unix.PRIO_PROCESS, 0, -20) == nil }

// shortTurn is shorter than the 1.4 ms slice of a kernel on two processors (more on more), and
// long enough that work is seldom split: with slices of 0.1 ms a thread lost the processor in the
// middle of its work, and got it back with the next timer interrupt, after up to 4 ms.
const shortTurn = time.Millisecond

// Now is the time since the pacer was made.
func (p *Pacer) Now() time.Duration { return time.Since(p.start) }

// Until waits for the instant d and returns the time it woke at; it does not wait for the past.
func (p *Pacer) Until(d time.Duration) time.Duration {
	p.Sleep(d - spin)
	for {
		if now := p.Now(); now >= d {
			return now
		}
	}
}

// Sleep waits for the instant d by the kernel's clock, without spinning; it does not wait for the
// past.
//
// A goroutine in a blocking system call is costly: the scheduler's monitor wakes every 70 us at
// first to look for such goroutines, and each wake-up takes the processor from the running thread
// (a tenth of a core in a server of one). So the long part of the wait is spent parked, which
// releases the processor at once, and the last 1.5 ms in a call that the scheduler does not know
// of. That delays nothing else: to stop the world, the garbage collector sends the thread a
// signal, the call returns, and the next function call stops.
func (p *Pacer) Sleep(d time.Duration) {
	p.Park(d)
	p.SleepInKernel(d)
}

// SleepInKernel is Sleep without the parked part.
func (p *Pacer) SleepInKernel(d time.Duration) {
	for at := unix.NsecToTimespec(p.at + int64(d)); p.Now() < d; {
		if sleepUntil(&at) != unix.EINTR {
			return
		}
	}
}

// Park spends the parked part of the wait for the instant d, and reports whether there was one.
// Sleep begins with it; callers with work shortly before the instant call it first.
func (p *Pacer) Park(d time.Duration) bool {
	left := d - p.Now() - park
	if left > worthParking {
		time.Sleep(left)
	}
	return left > worthParking
}

// sleepUntil sleeps on the calling thread to an instant of the monotonic clock, or until a signal.
//
//go:noinline
func sleepUntil(at *unix.Timespec) unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(at)), 0, 0, 0)
	return errno
}

// CPU is the processor that the calling thread is on; -1: not known.
func CPU() int {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// SetThreadAffinity limits the calling thread, to which the goroutine must be bound, to the given
// processors.
func SetThreadAffinity(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	return unix.SchedSetaffinity(0, &set)
}

// ThreadCPU is the CPU time, user and system, of the calling thread.
func ThreadCPU() time.Duration { return time.Duration(readClock(unix.CLOCK_THREAD_CPUTIME_ID)) }

// ProcessCPU is the CPU time, user and system, of this process.
func ProcessCPU() time.Duration { return time.Duration(readClock(unix.CLOCK_PROCESS_CPUTIME_ID)) }

// readClock reads one of the kernel's clocks in a call that cannot block, so that the scheduler
// need not know of it.
func readClock(id int32) int64 {
	var ts unix.Timespec
	// these clocks exist on every Linux
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// SetProcessAffinity limits every thread of this process, and the threads that they start, to the
// given processors. Child processes inherit it.
func SetProcessAffinity(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	for done := map[int]bool{}; ; { // until a pass finds no thread that started meanwhile
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		before := len(done)
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || done[tid] {
				continue
			}
			// the thread may have ended
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
				return err
			}
			done[tid] = true
		}
		if len(done) == before {
			return nil
		}
	}
}

// WithAffinity runs do with the calling thread limited to the given processors; a process that do
// starts inherits that.
func WithAffinity(cpus []int, do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }() // it was valid before
	return do()
}

// CPUs lists the processors that the calling thread may use.
func CPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var all []int
	for c := 0; c < 1024 && len(all) < set.Count(); c++ {
		if set.IsSet(c) {
			all = append(all, c)
		}
	}
	return all
}
