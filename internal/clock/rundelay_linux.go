package clock

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RunDelay measures the run delay of the thread that made it: the time that it was ready to run
// while other processes had its processor. Threads of its own process do not count. It does not
// include time stolen by a hypervisor (see Stolen), nor interrupts.
type RunDelay struct {
	fd    int // the thread's schedstat; -1: not known
	text  [64]byte
	delay int64 // at the last look
	// CPU time of the process's other threads that may run where this one does, when the run delay
	// had last grown
	ownOthers int64
}

// NewRunDelay starts a meter of the calling thread, to which the goroutine must be bound; the
// thread may end before the meter is closed.
func NewRunDelay() *RunDelay {
	fd, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &RunDelay{fd: -1} // a kernel without CONFIG_SCHED_INFO
	}
	t := &RunDelay{fd: fd}
	if _, ok := t.read(); !ok {
		t.Close()
	}
	t.Read(0)
	return t
}

// Known reports whether the system provides run delays.
func (t *RunDelay) Known() bool { return t.fd >= 0 }

// Read returns the run delay since the last call, on the thread that made t. It takes half a
// microsecond, twice that when the run delay has grown. elsewhere is the total CPU time of threads
// of this process on other processors, which took nothing from this one.
func (t *RunDelay) Read(elsewhere time.Duration) time.Duration {
	delay, ok := t.read()
	if !ok || delay == t.delay {
		return 0
	}
	ours := int64(ProcessCPU() - ThreadCPU() - elsewhere)
	taken := otherProcesses(delay-t.delay, ours-t.ownOthers)
	t.delay, t.ownOthers = delay, ours
	return taken
}

// read returns the run delay of the thread so far.
func (t *RunDelay) read() (int64, bool) {
	if t.fd < 0 {
		return 0, false
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(t.fd), uintptr(unsafe.Pointer(&t.text)),
		uintptr(len(t.text)), 0, 0, 0)
	if errno != 0 {
		return 0, false
	}
	return runDelay(t.text[:n])
}

// Close frees what the meter holds; it then knows nothing.
func (t *RunDelay) Close() {
	if t.fd >= 0 {
		_ = unix.Close(t.fd) // it was only read
		t.fd = -1
	}
}

// Stolen is how long the hypervisor has had some processors, summed over them, since the system
// began, to 10 ms. It reports false if the system does not provide it.
func Stolen(cpus []int) (time.Duration, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	return stolen(string(text), cpus)
}

// statTick is the unit of /proc/stat, which every Linux that Go runs on has.
const statTick = 10 * time.Millisecond

// stolen sums the eighth column of the processors' lines: user nice system idle iowait irq softirq
// steal.
func stolen(text string, cpus []int) (sum time.Duration, ok bool) {
	for _, c := range cpus {
		_, line, found := strings.Cut(text, fmt.Sprintf("\ncpu%d ", c))
		line, _, _ = strings.Cut(line, "\n")
		columns := strings.Fields(line)
		if !found || len(columns) < 8 {
			return 0, false
		}
		n, err := strconv.ParseInt(columns[7], 10, 64)
		if err != nil {
			return 0, false
		}
		sum += time.Duration(n) * statTick
	}
	return sum, len(cpus) > 0
}
