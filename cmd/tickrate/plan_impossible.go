// A service level that no size can hold because of the scenario's link: plan says so at once.

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/netio/impair"
)

// impossible is an error that names the first term of the service level that the link of the scenario
// breaks at every size, and what a built-in scenario with such a link asks for; nil if there is none.
func impossible(s scenario.Scenario, o *slo.Objective) error {
	link, err := impair.ParseProfile(s.Network.Link)
	if err != nil {
		return err
	}
	best := bestStep(link)
	failed := o.Check(best)
	for _, clean := range o.Check(bestStep(impair.Profile{})) {
		failed = slices.DeleteFunc(failed, func(term string) bool { return term == clean })
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("the service level holds at no size over the link %q (network.link): at best, %s; %s",
		s.Network.Link, failed[0], example(s.Network.Link))
}

// bestStep has the figures that no server can beat over a link: a snapshot is as old as the link's
// delay, a round trip takes it twice, and a link that loses or damages datagrams loses an input.
func bestStep(link impair.Profile) measure.Step {
	all := func(delay time.Duration) measure.Quantiles {
		const least = 1e-6 // ms: a figure that was measured
		x := max(float64(delay)/float64(time.Millisecond), least)
		return measure.Quantiles{P50: x, P95: x, P99: x, P999: x, Max: x, Mean: x}
	}
	s := measure.Step{Players: 1, Duration: measure.Span{Duration: time.Hour}, TickCPUMillis: all(0),
		TickWallMillis: all(0), FullSpeedMillis: all(0), LatenessMillis: all(0), ServerCores: 1e-6,
		KbpsDownPerClient: 1e-6, KbpsUpPerClient: 1e-6, InputsExpected: 1 << 40,
		SnapshotAgeMillis: all(link.Delay), RTTMillis: all(2 * link.Delay)}
	if link.Loss+link.Burst+link.Corrupt+link.CorruptBytes+link.Truncate > 0 || link.Blackhole > 0 {
		s.InputsLost = 1
	}
	return s
}

// example names a built-in scenario with that link, or else one whose link is not clean, and its
// service level.
func example(link string) (text string) {
	for _, name := range scenario.Names() {
		s, _ := scenario.Named(name)
		if s.Network.Link == "clean" || s.Network.Link != link && text != "" {
			continue
		}
		text = fmt.Sprintf("the built-in scenario %s, over %q, uses %q", name, s.Network.Link, s.Measure.SLO)
		if s.Network.Link == link {
			break
		}
	}
	return text
}
