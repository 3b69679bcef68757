package main

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
)

// A scenario is measured in the window that is asked for, whatever it says itself of how plan is to measure it: what arrives late would be measured later than what is
// predicted, when fewer are alive.
func TestSettle(t *testing.T) {
	late := lesson{12, 30, 3, "", true}.scenario(matchSeconds)
	late.Measure, late.Play.ArrivalSeconds = scenario.Measure{Seconds: 3, WarmSeconds: 8, Repeat: 3}, 6
	plain := lesson{12, 30, 3, "", true}.scenario(matchSeconds)
	for _, w := range []window{opening, longRun} {
		for _, s := range []*scenario.Scenario{&late, &plain} {
			if settle(s, w); windowOf(*s) != w {
				t.Errorf("%+v: %+v", w, s.Measure)
			}
		}
		a, b := rehearsal{s: late}, rehearsal{s: plain}
		for _, r := range []*rehearsal{&a, &b} {
			if _, err := r.lobby(); err != nil || r.facts.LongRun != (w == longRun) {
				t.Errorf("%+v: long run %v, %v", w, r.facts.LongRun, err)
			}
		}
		one, err := playedOf(t.Context(), late, w)
		if err != nil {
			t.Fatal(err)
		}
		if two, err := playedOf(t.Context(), plain, w); one != two || err != nil {
			t.Errorf("%+v: %+v and %+v, %v", w, one, two, err)
		}
	}
}

// Matches of a longer window are fewer, and never one alone, which would not tell how much they differ.
func TestWindowShare(t *testing.T) {
	if a, b, c := opening.share(600), longRun.share(600), longRun.share(3); a != 600 || b != 60 || c != 2 {
		t.Errorf("%d, %d, %d: expected 600, 60, 2", a, b, c)
	}
}

// Both windows are told apart, and said to be of what they are.
func TestPrintedLongRun(t *testing.T) {
	p := printable()
	p.Cost.Facts.Alive, p.Cost.KbpsDown, p.Money.LongRunMbps = 0.79, 48.7, 848
	p.Cost.LongRun = &capacity.Prediction{Facts: capacity.Facts{Alive: 0.46}, TickMicros: 20, KbpsDown: 32.4}
	p.Verified = []capacity.Verdict{{CPU: 24, CPUPredicted: 24, Bytes: 1, BytesPredicted: 1}, {LongRun: true, CPU: 20, CPUPredicted: 21, Bytes: 1, BytesPredicted: 1}}
	var out strings.Builder
	printPrediction(&out, p)
	for _, want := range []string{
		"\na tick of one lobby in its first seconds, when 79 % are alive: 24 µs CPU, 0.3 % of its period\n",
		"\na tick of one lobby in the long run, when 46 % are alive: 20 µs CPU, 0.3 % of its period\n",
		"\na client: 48.7 kbit/s down, 32.4 in the long run; 0.0 up; ", "6 hosts, 1272 Mbit/s out, 848 in the long run; ",
		"\nverified: CPU 24.0 µs", "\nverified in the long run: CPU 20.0 µs a tick (± 0.0 %, as matches differ), predicted 21.0 (+5.0 %)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("expected %q in:\n%s", want, out.String())
		}
	}
}
