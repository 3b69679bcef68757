package perfevent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelEvent is an event as the kernel has it.
type kernelEvent struct {
	kind   uint32
	config uint64
	user   bool // counted in user space alone, which needs no privilege
}

var kernelEvents = [NumEvents]kernelEvent{
	Instructions:    {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS, true},
	Cycles:          {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, true},
	BranchMisses:    {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES, true},
	CacheMisses:     {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES, true},
	TaskClock:       {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK, false},
	PageFaults:      {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS, true},
	ContextSwitches: {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES, false},
}

// Counters count events of threads. One goroutine at a time may use them.
type Counters struct {
	events []Event
	files  [][]int // by thread, then as events
	buffer [24]byte
}

// Open begins to count. Each event of each thread has a counter of its own: the kernel inherits no
// groups. A thread that has ended meanwhile is left out.
func Open(cfg Config) (*Counters, error) {
	c := &Counters{events: cfg.Events}
	for _, thread := range cfg.Threads {
		var files []int
		for _, e := range cfg.Events {
			fd, err := open(e, thread, cfg.Inherit)
			if errors.Is(err, unix.ESRCH) {
				break
			}
			if err != nil {
				closeAll(files)
				c.Close()
				return nil, why(e, err)
			}
			files = append(files, fd)
		}
		if len(files) < len(cfg.Events) {
			closeAll(files)
			continue
		}
		c.files = append(c.files, files)
	}
	return c, nil
}

func open(e Event, thread int, inherit bool) (int, error) {
	k := kernelEvents[e]
	attr := unix.PerfEventAttr{Type: k.kind, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: k.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitExcludeHv}
	if k.user {
		attr.Bits |= unix.PerfBitExcludeKernel
	}
	if inherit {
		attr.Bits |= unix.PerfBitInherit
	}
	return unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// why puts an error of the kernel into words.
func why(e Event, err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return ErrRefused
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
		return ErrNone
	case errors.Is(err, unix.ENOSYS):
		return ErrSystem
	}
	return fmt.Errorf("count %v: %w", e, err)
}

// Read returns the counts so far, of all threads together. Where counters took turns on the processor
// they are scaled to the whole time.
func (c *Counters) Read() (n Counts, err error) {
	for _, files := range c.files {
		for i, fd := range files {
			got, err := unix.Read(fd, c.buffer[:])
			if err != nil || got != len(c.buffer) {
				return n, fmt.Errorf("read %v: %d bytes: %w", c.events[i], got, err)
			}
			field := func(i int) float64 { return float64(binary.NativeEndian.Uint64(c.buffer[8*i:])) }
			count, enabled, running := field(0), field(1), field(2)
			switch {
			case running > 0:
				n[c.events[i]] += count * enabled / running
			case enabled > 0 && kernelEvents[c.events[i]].kind == unix.PERF_TYPE_HARDWARE:
				return n, ErrStarved
			}
		}
	}
	return n, nil
}

// Close ends counting. nil Counters do nothing.
func (c *Counters) Close() {
	if c == nil {
		return
	}
	for _, files := range c.files {
		closeAll(files)
	}
	c.files = nil
}

func closeAll(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd) // nothing was written
	}
}

// Threads are the threads of a process.
func Threads(pid int) (ids []int, err error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
