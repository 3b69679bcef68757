//go:build !linux

package clock

import "time"

// Pacer sleeps with the runtime's timer, which may be a millisecond late; the exact one is for
// Linux.
type Pacer struct{ start time.Time }

// New returns a pacer whose instants count from now.
func New() *Pacer { return &Pacer{time.Now()} }

// Now is the time since the pacer was made.
func (p *Pacer) Now() time.Duration { return time.Since(p.start) }

// Until waits for the instant d and returns the time it woke at; it does not wait for the past.
func (p *Pacer) Until(d time.Duration) time.Duration {
	time.Sleep(d - p.Now())
	return p.Now()
}

// Sleep waits for the instant d.
func (p *Pacer) Sleep(d time.Duration) { time.Sleep(d - p.Now()) }

// SleepInKernel is Sleep.
func (p *Pacer) SleepInKernel(d time.Duration) { p.Sleep(d) }

// Park does nothing and returns false: all of a wait is one sleep.
func (p *Pacer) Park(time.Duration) bool { return false }

// Bind does nothing here.
func (p *Pacer) Bind() {}

// Join does nothing here.
func (p *Pacer) Join() {}

// RaisePriority does nothing here, and says so: false.
func RaisePriority() bool { return false }

// CPU is not known here: -1.
func CPU() int { return -1 }

// SetThreadAffinity does nothing here.
func SetThreadAffinity([]int) error { return nil }

var processStart = time.Now()

// ThreadCPU falls back to elapsed time.
func ThreadCPU() time.Duration { return time.Since(processStart) }

// ProcessCPU falls back to elapsed time.
func ProcessCPU() time.Duration { return time.Since(processStart) }

// SetProcessAffinity does nothing here.
func SetProcessAffinity([]int) error { return nil }

// WithAffinity runs do; processors cannot be chosen here.
func WithAffinity(_ []int, do func() error) error { return do() }

// CPUs is unknown here: none are listed.
func CPUs() []int { return nil }
