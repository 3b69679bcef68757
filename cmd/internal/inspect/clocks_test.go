package inspect

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/report"
)

// The clocks follow a step of the round-trip time without overshoot.
func TestClocks(t *testing.T) {
	o := ClocksOptions{From: 40 * time.Millisecond, To: 120 * time.Millisecond,
		Duration: 12 * time.Second, Seed: 1}
	samples, resets, err := o.play()
	if err != nil || resets != 0 || len(samples) < 700 {
		t.Fatalf("%d samples, %d hard resets, %v", len(samples), resets, err)
	}
	for i, s := range samples {
		if s.Render > s.At || s.Predicted <= s.At {
			t.Fatalf("sample %d: %+v", i, s)
		}
	}
	// Settled at 40 ms, and four seconds after the step.
	before, within := samples[200], samples[470]
	if d := (within.Predicted - within.At) - (before.Predicted - before.At); d < 30*time.Millisecond ||
		d > 100*time.Millisecond {
		t.Errorf("the way there is 40 ms longer, and commands are made for %v later", d)
	}
	second := int(time.Second / (samples[1].At - samples[0].At))
	middle := samples[len(samples)/3 : 2*len(samples)/3]
	var rest report.Clocks
	for _, s := range middle[len(middle)-second:] {
		rest.Predicted += (s.Predicted - s.At) / time.Duration(second)
		rest.Render += (s.Render - s.At) / time.Duration(second)
	}
	// Neither goes further than where it comes to rest, nor the server's own anywhere.
	for i, s := range middle {
		p, r := s.Predicted-s.At-rest.Predicted, s.Render-s.At-rest.Render
		if p > 8*time.Millisecond || r < -8*time.Millisecond ||
			i > 2*second && (p.Abs() > 20*time.Millisecond || r.Abs() > 20*time.Millisecond) {
			t.Fatalf("%d samples after the step predicted is %v beyond, render %v", i, p, r)
		}
	}
	for i, s := range samples {
		// It does not jump with the path.
		if off := s.Server - s.At; off.Abs() > 5*time.Millisecond {
			t.Fatalf("sample %d: the server's clock is thought %v off", i, off)
		}
	}
}
