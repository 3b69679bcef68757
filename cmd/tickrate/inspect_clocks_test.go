package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The drawing is an SVG that names the clocks; wrong flags are errors of use.
func TestInspectClocks(t *testing.T) {
	c := newInspectClocks()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"-o", "-", "--duration", "6s"})
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
	for _, bad := range [][]string{{"--duration", "1s"}, {"--from", "2s"}, {"--jitter", "-1ms"}} {
		c := newInspectClocks()
		c.SetArgs(append(bad, "-o", "-"))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
