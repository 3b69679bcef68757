package clock

import (
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// A busy process on the same processor shows in the run delay, by at most the time in which the
// thread did not run.
func TestTakenByAnotherProcess(t *testing.T) {
	if os.Getenv("CLOCK_BUSY_PROCESS") != "" {
		for n := 0; n >= 0; n = (n + 1) & 1023 { // until it is killed
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := NewRunDelay()
	defer m.Close()
	if !m.Known() {
		t.Skip("this kernel does not report the run delay")
	}
	on := CPUs()[:1]
	err := WithAffinity(on, func() error {
		other := exec.Command(os.Args[0], "-test.run", "^TestTakenByAnotherProcess$")
		other.Env = append(os.Environ(), "CLOCK_BUSY_PROCESS=1", "GOMAXPROCS=1")
		if err := other.Start(); err != nil {
			return err
		}
		defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
		m.Read(0)
		begin, cpu, taken := time.Now(), ThreadCPU(), time.Duration(0)
		for reads := 0; taken < 20*time.Millisecond; reads++ {
			if taken += m.Read(0); reads > 100_000_000 {
				t.Fatalf("%v in %d reads", taken, reads)
			}
		}
		if most := time.Since(begin) - (ThreadCPU() - cpu); taken > most+time.Millisecond {
			t.Errorf("%v taken of %v in which the thread did not run", taken, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Run delay that another thread of the process caused does not count.
func TestTakenNotByOurselves(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := NewRunDelay()
	defer m.Close()
	if !m.Known() {
		t.Skip("this kernel does not report the run delay")
	}
	before, _ := m.read()
	ours := ProcessCPU() - ThreadCPU()
	var taken time.Duration
	err := WithAffinity(CPUs()[:1], func() error {
		var stop atomic.Bool
		on, done := CPUs(), make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // not undone: the thread ends with its processor
			_ = SetThreadAffinity(on)
			for !stop.Load() {
			}
		}()
		defer func() { stop.Store(true); <-done }()
		for begin := ThreadCPU(); ThreadCPU()-begin < 60*time.Millisecond; {
			taken += m.Read(0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	taken += m.Read(0)
	after, _ := m.read()
	ours = ProcessCPU() - ThreadCPU() - ours
	if delay := time.Duration(after - before); taken > delay || taken < delay-ours-2*time.Millisecond {
		t.Errorf("%v taken of a delay of %v, while others of the process ran for %v", taken, delay, ours)
	} else if delay > 20*time.Millisecond && taken > delay-min(ours, delay)/2 {
		t.Errorf("%v taken of a delay of %v, which is our own: %v", taken, delay, ours)
	}
}

func TestStolen(t *testing.T) {
	const text = "cpu  5 4 9 7 6 0 7 900 0 0\ncpu0 5 4 9 7 6 0 7 21 0 0\ncpu1 5 4 9 7 6 0 7 34 0 " +
		"0\ncpu10 1 1 1 1 1 1 1 55 0 0\nintr 1 2\n"
	for i, c := range []struct {
		text string
		cpus []int
		want time.Duration
		ok   bool
	}{
		{text, []int{0}, 210 * time.Millisecond, true},
		{text, []int{1}, 340 * time.Millisecond, true},
		{text, []int{0, 10}, 760 * time.Millisecond, true},
		{text, []int{2}, 0, false},
		{text, nil, 0, false},
		{"cpu  1\ncpu0 1 2 3\n", []int{0}, 0, false},
		{"cpu  1\ncpu0 1 2 3 4 5 6 7 x\n", []int{0}, 0, false},
	} {
		if got, ok := stolen(c.text, c.cpus); ok != c.ok || ok && got != c.want {
			t.Errorf("%d: %v %v, want %v %v", i, got, ok, c.want, c.ok)
		}
	}
	if _, ok := Stolen(CPUs()); !ok {
		t.Log("this system does not tell")
	}
}

func TestLookAllocatesNothing(t *testing.T) {
	m := NewRunDelay()
	defer m.Close()
	if n := alloctest.In(100, func() { m.Read(0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRunDelay(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := NewRunDelay()
	defer m.Close()
	for b.Loop() {
		m.Read(0)
	}
}
