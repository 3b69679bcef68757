package clock

import (
	"runtime"
	"testing"
	"time"
)

func TestUntilIsNeverEarly(t *testing.T) {
	p := New()
	defer runtime.UnlockOSThread()
	for i := range 50 {
		due := p.Now() + time.Duration(i)*20*time.Microsecond
		if woke := p.Until(due); woke < due {
			t.Fatalf("woke %v before the instant", due-woke)
		}
	}
	if before := p.Now(); p.Until(before-time.Second) < before {
		t.Fatal("the clock went back")
	}
}

func TestThreadCPUCountsWorkNotSleep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if runtime.GOOS != "linux" {
		t.Skip("thread CPU time is elapsed time on this system")
	}
	before := ThreadCPU()
	time.Sleep(30 * time.Millisecond)
	if spent := ThreadCPU() - before; spent > 15*time.Millisecond {
		t.Fatalf("sleeping 30 ms cost %v of CPU", spent)
	}
	before = ThreadCPU()
	for ThreadCPU()-before < 2*time.Millisecond {
	}
}

func TestOnRestoresProcessors(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := CPUs()
	if len(all) == 0 {
		t.Skip("processors cannot be chosen on this system")
	}
	err := WithAffinity(all[:1], func() error {
		if now := CPUs(); len(now) != 1 || now[0] != all[0] {
			t.Errorf("running on %v, want %v", now, all[:1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if now := CPUs(); len(now) != len(all) {
		t.Fatalf("left on %v, was on %v", now, all)
	}
}

func BenchmarkThreadCPU(b *testing.B) {
	for b.Loop() {
		ThreadCPU()
	}
}
