package slo

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// spareShare is the share of its processors below which a server has CPU time to spare.
const spareShare = 0.75

// cause says why a step fails by elapsed time although its CPU time holds the level: ticks waited for
// a processor. "" for other steps. s.Failed is set.
func (o *Objective) cause(s measure.Step) string {
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
