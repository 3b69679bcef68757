package perfevent

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// counters opens counters, or skips the test where the kernel does not let this user count.
func counters(t *testing.T, cfg Config) *Counters {
	t.Helper()
	c, err := Open(cfg)
	if errors.Is(err, ErrRefused) || errors.Is(err, ErrSystem) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func read(t *testing.T, c *Counters) Counts {
	t.Helper()
	n, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var spun int

// The calling thread is counted: its time on the processor, the pages that it touches first, and how
// often it waits. Another thread is not. Reading allocates nothing.
func TestCountsThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := counters(t, Config{Events: Software, Threads: []int{0}})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { // another thread, which spins all the time
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	const pages, waits = 512, 20
	before := read(t, c)
	memory, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil {
		t.Log(err) // a kernel without huge pages
	}
	for i := range pages {
		memory[i*os.Getpagesize()] = 1
	}
	for range waits {
		nap := unix.Timespec{Nsec: int64(time.Millisecond)}
		_ = unix.Nanosleep(&nap, nil)
	}
	var cpu unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &cpu); err != nil {
		t.Fatal(err)
	}
	for begun := cpu; time.Duration(cpu.Utime.Nano()-begun.Utime.Nano()) < 20*time.Millisecond; spun++ {
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &cpu)
	}
	n := read(t, c).Since(before)
	close(stop)
	<-done
	_ = unix.Munmap(memory)
	if n[PageFaults] < pages || n[PageFaults] > pages+200 {
		t.Errorf("%v page faults, want %d", n[PageFaults], pages)
	}
	if n[ContextSwitches] < waits || n[ContextSwitches] > 1000 {
		t.Errorf("%v context switches, want %d and a few", n[ContextSwitches], waits)
	}
	spent := time.Duration(cpu.Utime.Nano() + cpu.Stime.Nano())
	if got := time.Duration(n[TaskClock]); got < 15*time.Millisecond || got > spent+20*time.Millisecond {
		t.Errorf("%v on a processor, want 20 ms and a little, and at most the thread's %v", got, spent)
	}
	if n[Instructions] != 0 {
		t.Errorf("%v instructions, which were not asked for", n[Instructions])
	}
	if n := alloctest.In(10, func() { _, _ = c.Read() }); n != 0 {
		t.Errorf("reading allocates %v times", n)
	}
}

// All threads of another process are counted, and those that it starts later.
func TestCountsProcess(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		`read line; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); read line`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	threads, err := Threads(cmd.Process.Pid)
	if err != nil || len(threads) != 1 {
		t.Fatalf("threads %v: %v", threads, err)
	}
	own := counters(t, Config{Events: Software, Threads: threads})
	all := counters(t, Config{Events: Software, Threads: threads, Inherit: true})
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/wchan")
		children, errChildren := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task/" +
			strconv.Itoa(cmd.Process.Pid) + "/children")
		if err != nil || errChildren != nil || time.Now().After(end) {
			break
		}
		if strings.Contains(string(state), "pipe") && len(children) == 0 && read(t, all)[TaskClock] > 1e6 {
			break
		}
	}
	first := read(t, own)[TaskClock]
	both := read(t, all)[TaskClock]
	if first < 1e6 || both < 1.3*first {
		t.Errorf("%v ns of the first process, %v with its child, want about twice as much", first, both)
	}
	in.Close()
	_ = cmd.Wait()
	if err := syscall.Kill(cmd.Process.Pid, 0); err == nil {
		t.Error("the process has not ended")
	}
	if n := read(t, all); n[TaskClock] < both {
		t.Errorf("%v ns after its end, %v before", n[TaskClock], both)
	}
	gone, err := Open(Config{Events: Software, Threads: []int{cmd.Process.Pid}})
	if err != nil || read(t, gone) != (Counts{}) {
		t.Errorf("counters of a process that has ended: %v", err)
	}
}

// Where the kernel has no hardware counters the error says so in words; where it has, a loop takes
// instructions.
func TestHardwareOrWords(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := Open(Config{Events: Hardware, Threads: []int{0}})
	if err != nil {
		if !errors.Is(err, ErrNone) && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrSystem) {
			t.Errorf("%v, want words", err)
		}
		t.Logf("no hardware counters: %v", err)
		return
	}
	defer c.Close()
	before := read(t, c)
	for range 1_000_000 {
		spun++
	}
	if n := read(t, c).Since(before); n[Instructions] < 1e6 || n[Cycles] <= 0 {
		t.Errorf("%v", n)
	}
}

// The errors of the kernel in words.
func TestWhy(t *testing.T) {
	for i, c := range []struct{ is, want error }{
		{unix.EACCES, ErrRefused}, {unix.EPERM, ErrRefused}, {unix.ENOENT, ErrNone}, {unix.ENODEV, ErrNone},
		{unix.EOPNOTSUPP, ErrNone}, {unix.ENOSYS, ErrSystem}, {unix.EMFILE, unix.EMFILE},
	} {
		if got := why(Cycles, c.is); !errors.Is(got, c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}
