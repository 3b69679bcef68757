package perfevent

import "errors"

// Event is something that is counted.
type Event uint8

// The events of the processor, then those of the kernel.
const (
	Instructions Event = iota
	Cycles
	BranchMisses
	CacheMisses // of the last level
	TaskClock   // ns on a processor
	PageFaults
	ContextSwitches
	NumEvents int = iota
)

// Hardware are the events of the processor.
var Hardware = []Event{Instructions, Cycles, BranchMisses, CacheMisses}

// Software are the events of the kernel, which has them on every machine.
var Software = []Event{TaskClock, PageFaults, ContextSwitches}

// String names the event.
func (e Event) String() string {
	return [...]string{"instructions", "cycles", "branch misses", "cache misses", "task clock", "page faults",
		"context switches"}[e]
}

// Counts are events since the counters were opened. Those that were not asked for are 0.
type Counts [NumEvents]float64

// Since returns what was counted after an earlier reading.
func (c Counts) Since(was Counts) Counts {
	for e := range c {
		c[e] -= was[e]
	}
	return c
}

// Least takes the smaller of each count.
func (c *Counts) Least(other Counts) {
	for e := range c {
		c[e] = min(c[e], other[e])
	}
}

// Each divides all counts.
func (c Counts) Each(by float64) Counts {
	for e := range c {
		c[e] /= by
	}
	return c
}

// Config describes counters.
type Config struct {
	Events  []Event
	Threads []int // by id; 0 is the calling thread
	Inherit bool  // threads that these start are counted, too
}

// The reasons why events are not counted.
var (
	// ErrNone says that the processor, or the virtual machine, has no counters.
	ErrNone = errors.New("this machine has no hardware counters, as many virtual machines")
	// ErrRefused says that the kernel does not let this user count.
	ErrRefused = errors.New("the kernel lets this user count no events (sysctl kernel.perf_event_paranoid: 2 or less is needed)")
	// ErrSystem says that the system has no performance events.
	ErrSystem = errors.New("this system has no performance events of Linux")
	// ErrStarved says that other counters kept these from the processor's.
	ErrStarved = errors.New("other programs hold the hardware counters of this machine")
)
