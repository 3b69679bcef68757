package slo

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// spareShare is the share of its processors below which a server has CPU time to spare.
const spareShare = 0.75

// cause says why a step fails that would hold the level on a better machine: ticks waited for a
// processor, or the processor was slow. "" for other steps. s.Failed is set.
func (o *Objective) cause(s measure.Step) string {
	if why := o.waited(s); why != "" {
		return why
	}
	return o.slowed(s)
}

// leastSlowdown is the p99 of the slowdown from which a failed step names it.
const leastSlowdown = 1.1

// slowed says of a step that fails by the time of its ticks on a processor that was slow at times
// whether it would hold at full speed. The time elapsed in a tick shrinks as its CPU time does: what a
// tick waits for is mostly other threads of the server, on the same processor.
func (o *Objective) slowed(s measure.Step) string {
	full, slow := s.FullSpeedMillis, s.Slowdown
	if s.Fault != "" || full.P99 == 0 || slow.P99 < leastSlowdown || s.TickCPUMillis.P99 == 0 {
		return ""
	}
	wall := s.TickWallMillis.Times(full.P99 / s.TickCPUMillis.P99)
	at := func(cpu, wall measure.Quantiles) (failed int) {
		s := s
		s.TickCPUMillis, s.TickWallMillis = cpu, wall
		return len(o.Check(s))
	}
	if at(full.Times(0.01), wall.Times(0.01)) >= len(s.Failed) {
		return "" // ticks of no length would fail, too
	}
	holds := "would fail at full speed, too"
	if at(full, wall) == 0 {
		holds = "would hold at full speed"
	}
	return fmt.Sprintf("the processor was slow at times: equal work took %.2f times as long as at full speed "+
		"at p99, %.2f times on average; the step %s, where p99 of a tick is %.1f ms of CPU and about %.1f ms elapsed",
		slow.P99, slow.Mean, holds, full.P99, wall.P99)
}

// waited says why a step fails by elapsed time although its CPU time holds the level.
func (o *Objective) waited(s measure.Step) string {
	onCPU := s
	onCPU.TickWallMillis = s.TickCPUMillis
	if s.Fault != "" || len(o.Check(onCPU)) >= len(s.Failed) {
		return ""
	}
	at, cpu, elapsed := longestWait(s)
	text := fmt.Sprintf("%s of a tick is %.1f ms elapsed and %.1f ms of CPU: ", at, elapsed, cpu)
	late, cores := s.HiccupMillis.Max, s.ServerCores
	switch {
	case cores > spareShare*float64(max(1, len(s.LoopCallMillis))):
		return text + fmt.Sprintf("the server used %.2f cores, and its own threads wait for each other", cores)
	case late >= (elapsed-cpu)/2:
		return text + fmt.Sprintf("something else took the processor, which the server used to %.2f; "+
			"a thread of it that only sleeps woke up to %.1f ms late", cores, late)
	}
	return text + fmt.Sprintf("its thread waited, though one that only sleeps woke at most %.1f ms late: "+
		"page faults, garbage collection or a system call", late)
}

// longestWait is the lowest of two quantiles at which ticks wait for a tenth of their CPU time.
func longestWait(s measure.Step) (name string, cpu, elapsed float64) {
	c, w := s.TickCPUMillis, s.TickWallMillis
	if w.P99 > 1.1*c.P99 || w.P999 == 0 {
		return "p99", c.P99, w.P99
	}
	return "p99.9", c.P999, w.P999
}
