package slo

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// A server that uses less than spareShare of its processors has CPU time to spare.
const spareShare = 0.75

// cause explains a failed step whose ticks waited, or ran on a slow processor. It is "" for others.
// The caller has set s.Failed.
func (o *Objective) cause(s measure.Step) string {
	if why := o.waited(s); why != "" {
		return why
	}
	return o.slowed(s)
}

// leastSlowdown is the least p99 of the slowdown that is worth naming as a cause.
const leastSlowdown = 1.1

// slowed explains a step that failed by its tick times while the processor was slow at times, and says
// whether it would hold at full speed. It assumes that elapsed time shrinks as CPU time at p99 does.
// That is so where a tick waits for other threads of the server, not where it waits for others.
func (o *Objective) slowed(s measure.Step) string {
	full, slow := s.FullSpeedMillis, s.Slowdown
	if s.Fault != "" || full.P99 == 0 || slow.P99 < leastSlowdown || s.TickCPUMillis.P99 == 0 {
		return ""
	}
	wall := s.TickWallMillis.Times(full.P99 / s.TickCPUMillis.P99)
	failures := func(cpu, wall measure.Quantiles) (failed int) {
		s := s
		s.TickCPUMillis, s.TickWallMillis = cpu, wall
		return len(o.Check(s))
	}
	if failures(full.Times(0.01), wall.Times(0.01)) >= len(s.Failed) {
		return "" // ticks a hundredth as long would fail, too: their time is not the cause
	}
	holds := "would fail, too"
	if failures(full, wall) == 0 {
		holds = "would hold"
	}
	return fmt.Sprintf("the processor was slow at times: equal work took %.2f times as long as at full speed "+
		"at p99, and %.2f times on average. At full speed the step %s: p99 of a tick would be %.1f ms of CPU, "+
		"about %.1f ms elapsed", slow.P99, slow.Mean, holds, full.P99, wall.P99)
}

// waited explains a step that would fail fewer conditions if its ticks never waited.
func (o *Objective) waited(s measure.Step) string {
	onCPU := s
	onCPU.TickWallMillis = s.TickCPUMillis
	if s.Fault != "" || len(o.Check(onCPU)) >= len(s.Failed) {
		return ""
	}
	quantile, cpu, elapsed := waitQuantile(s)
	text := fmt.Sprintf("%s of a tick is %.1f ms elapsed and %.1f ms of CPU: ", quantile, elapsed, cpu)
	late, cores := s.HiccupMillis.Max, s.ServerCores
	switch {
	case cores > spareShare*float64(max(1, len(s.LoopCallMillis))):
		return text + fmt.Sprintf("the server used %.2f cores, and its own threads probably wait for each other", cores)
	case late >= (elapsed-cpu)/2:
		return text + fmt.Sprintf("other threads, of the server or of the machine, ran on its processor: "+
			"the server used %.2f cores, and a thread of it that only sleeps woke as much as %.1f ms late", cores, late)
	}
	return text + fmt.Sprintf("the processor was free, as a thread that only sleeps woke at most %.1f ms "+
		"late: the tick probably waited for page faults, garbage collection or a system call", late)
}

// waitQuantile is p99 if the elapsed time of ticks is a tenth above their CPU time there, or if there is
// no p99.9; else it is p99.9.
func waitQuantile(s measure.Step) (name string, cpu, elapsed float64) {
	c, w := s.TickCPUMillis, s.TickWallMillis
	if w.P99 > 1.1*c.P99 || w.P999 == 0 {
		return "p99", c.P99, w.P99
	}
	return "p99.9", c.P999, w.P999
}
