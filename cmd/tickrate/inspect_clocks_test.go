package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestInspectClocks: the clocks of a step are what they must be, and the picture is an SVG that names them.
func TestInspectClocks(t *testing.T) {
	f := clocksFlags{from: 40 * time.Millisecond, to: 120 * time.Millisecond, seconds: 12, seed: 1}
	samples, resets, err := playClocks(f)
	if err != nil || resets != 0 || len(samples) < 700 {
		t.Fatalf("%d samples, %d hard resets, %v", len(samples), resets, err)
	}
	for i, s := range samples {
		if s.Render > s.At || s.Predicted <= s.At {
			t.Fatalf("sample %d: %+v", i, s)
		}
	}
	before, within := samples[200], samples[470] // settled at 40 ms, and four seconds after the step
	if d := (within.Predicted - within.At) - (before.Predicted - before.At); d < 30*time.Millisecond || d > 100*time.Millisecond {
		t.Errorf("the way there is 40 ms longer, and commands are made for %v later", d)
	}
	c := newInspectClocks()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"-o", "-", "--seconds", "6"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"predicted", "render", "server", "round trip"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("the picture does not say %q", word)
		}
	}
	for d := xml.NewDecoder(&out); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range [][]string{{"--seconds", "NaN"}, {"--seconds", "1"}, {"--from", "2s"}, {"--jitter", "-1ms"}} {
		c := newInspectClocks()
		c.SetArgs(append(bad, "-o", "-"))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
