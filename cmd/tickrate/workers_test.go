package main

import (
	"strings"
	"testing"
)

// Invalid numbers of workers are refused with the range.
func TestServeWorkersRefused(t *testing.T) {
	for _, n := range []string{"0", "-1", "17"} {
		code, _, errs := result(t, "serve", "--workers", n)
		if code != 2 || !strings.Contains(errs, n) || !strings.Contains(errs, "workers") ||
			!strings.Contains(errs, "expected 1 to 16") {
			t.Errorf("%s workers: code %d, %q", n, code, errs)
		}
	}
}
