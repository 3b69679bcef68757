package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
)

// The figures name the run delay of the swarm and whether it made the swarm late, and omit what
// the system does not report.
func TestPrintRunDelay(t *testing.T) {
	const (
		one = "  the machine took 12.5 ms of 30.0 s from it, 7.2 of them in 3 bursts\n" +
			"    of 0.5 ms or more, the longest 4.1;\n    without that late by "
		overslept = "  its timer was late 2 times by 0.5 ms or more, 1.6 ms in all:\n" +
			"    interrupts or a hypervisor; not corrected for\n"
		stolen = "  a hypervisor took 20 ms of the processors; not corrected for\n"
	)
	took := swarm.RunDelay{Known: true, All: 12500 * time.Microsecond, Bursts: 3,
		InBursts: 7200 * time.Microsecond, Longest: 4100 * time.Microsecond}
	woke, robbed, spared := took, took, took
	woke.LateWakes, woke.Overslept = 2, 1600*time.Microsecond
	robbed.Stolen, robbed.StolenKnown = 20*time.Millisecond, true
	spared.StolenKnown = true
	both := woke
	both.Stolen, both.StolenKnown = robbed.Stolen, true
	for i, c := range []struct {
		taken swarm.RunDelay
		own   time.Duration // how late it is by itself
		want  string
	}{
		0: {swarm.RunDelay{}, 0, "  the machine: this system does not tell the run delay of the swarm\n"},
		1: {took, time.Millisecond, one + "1.00 ms at p99.9 (kept)\n"},
		2: {took, 3 * time.Millisecond, one + "3.00 ms at p99.9 (missed by itself)\n"},
		3: {woke, time.Millisecond, one + "1.00 ms at p99.9 (kept)\n" + overslept},
		4: {robbed, time.Millisecond, one + "1.00 ms at p99.9 (kept)\n" + stolen},
		5: {spared, time.Millisecond, one + "1.00 ms at p99.9 (kept)\n"},
		6: {both, time.Millisecond, one + "1.00 ms at p99.9 (kept)\n" + overslept + stolen},
	} {
		g := swarm.Figures{Sent: swarm.Sent{Passes: 1}, StealCorrected: meter.NewHistogram(0, meter.Fine),
			Late: meter.NewHistogram(0, meter.Fine), RunDelay: c.taken}
		g.StealCorrected.Record(int64(c.own))
		g.Late.Record(int64(9 * time.Millisecond)) // with what was taken, which is said elsewhere
		var printed strings.Builder
		printRunDelay(&printed, runDelayOf(&g), 30)
		if got := printed.String(); got != c.want {
			t.Errorf("%d: said\n%swant\n%s", i, got, c.want)
		}
	}
}

// Groups fill lines up to the width and no further.
func TestFilled(t *testing.T) {
	long := strings.Repeat("x", 39)
	got := filled([]string{long, "y", long, "z"}, ", ", "  ")
	if want := long + ", y,\n  " + long + ", z"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
