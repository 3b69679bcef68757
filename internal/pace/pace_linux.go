package pace

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Pacer wakes a thread at exact instants: it sleeps to an absolute deadline a little early and spins the rest, which
// is within a microsecond on an idle machine where time.Sleep is 0.6 ms late. Instants count from its making.
type Pacer struct{ start int64 }

// spin is how long before the deadline the kernel is asked to wake us.
const spin = 60 * time.Microsecond

// New binds the calling goroutine to its thread for good and asks the kernel not to round that thread's timers.
func New() *Pacer {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // worst case: the default 50 us, which the spin covers
	return &Pacer{start: clock(unix.CLOCK_MONOTONIC)}
}

// Now is the time since the pacer was made.
func (p *Pacer) Now() time.Duration { return time.Duration(clock(unix.CLOCK_MONOTONIC) - p.start) }

// Until waits for the instant d and returns the time it woke at; it does not wait for the past.
func (p *Pacer) Until(d time.Duration) time.Duration {
	if early := d - spin; early > p.Now() {
		at := unix.NsecToTimespec(p.start + int64(early))
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
		}
	}
	for {
		if now := p.Now(); now >= d {
			return now
		}
	}
}

// Sleep waits for the instant d as the kernel keeps it, without spinning.
func (p *Pacer) Sleep(d time.Duration) {
	at := unix.NsecToTimespec(p.start + int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
	}
}

// keep has the calling thread on the given processors for good.
func keep(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	return unix.SchedSetaffinity(0, &set)
}

// ThreadCPU is the CPU time, user and system, of the calling thread.
func ThreadCPU() time.Duration { return time.Duration(clock(unix.CLOCK_THREAD_CPUTIME_ID)) }

// ProcessCPU is the CPU time, user and system, of this process.
func ProcessCPU() time.Duration { return time.Duration(clock(unix.CLOCK_PROCESS_CPUTIME_ID)) }

func clock(id int32) int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts) // these clocks exist on every Linux
	return ts.Nano()
}

// Confine keeps every thread this process has, and those they start, to the given processors. Started children
// inherit it.
func Confine(cpus []int) error {
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
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH { // the thread may have ended
				return err
			}
			done[tid] = true
		}
		if len(done) == before {
			return nil
		}
	}
}

// On runs do with the calling thread kept to the given processors, which a process that do starts inherits.
func On(cpus []int, do func() error) error {
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
