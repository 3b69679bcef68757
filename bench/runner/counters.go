package runner

import (
	"errors"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/internal/perfevent"
)

// countProcess begins to count events of all threads of a process, and of those that they start. The
// kernel counts; the server does nothing for it.
func countProcess(pid int, events []perfevent.Event) (*perfevent.Counters, error) {
	threads, err := perfevent.Threads(pid)
	if err != nil {
		return nil, err
	}
	return perfevent.Open(perfevent.Config{Events: events, Threads: threads, Inherit: true})
}

// uncounted is the error of counters, but for those that say why there are none: a step does without.
func uncounted(err error) error {
	for _, why := range []error{perfevent.ErrNone, perfevent.ErrRefused, perfevent.ErrSystem, perfevent.ErrStarved} {
		if errors.Is(err, why) {
			return nil
		}
	}
	return err
}

// events adds up what all server processes counted, and divides it by player and tick; nil: not all
// were counted.
func events(hosts []hostFigures, players int, ticks float64) *measure.Events {
	var sum perfevent.Counts
	for _, h := range hosts {
		if h.events == nil {
			return nil
		}
		for e, n := range h.events {
			sum[e] += n
		}
	}
	n := sum.Each(float64(players) * ticks)
	return &measure.Events{Instructions: n[perfevent.Instructions], Cycles: n[perfevent.Cycles],
		BranchMisses: n[perfevent.BranchMisses], CacheMisses: n[perfevent.CacheMisses]}
}

// counting says whether this machine counts the events of processors, in words.
func counting() string {
	c, err := perfevent.Open(perfevent.Config{Events: perfevent.Hardware, Threads: []int{0}})
	if err != nil {
		return "not read: " + err.Error()
	}
	c.Close()
	return "read of all threads of the server, in user space"
}
