package main

import (
	"strings"
	"testing"
)

// Invalid numbers of workers are refused with the range.
func TestServeWorkersRefused(t *testing.T) {
	for _, n := range []string{"0", "-1", "17"} {
		code, _, errs := result(t, "serve", "--tick-workers", n)
		if code != 2 || !strings.Contains(errs, n) || !strings.Contains(errs, "workers") ||
			!strings.Contains(errs, "expected 1 to 16") {
			t.Errorf("%s workers: code %d, %q", n, code, errs)
		}
	}
}

// Threads of lobbies and threads of a tick are told apart, and exclude each other.
func TestServeLobbyWorkersRefused(t *testing.T) {
	for i, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--lobbies", "2", "--lobby-workers", "-1"}, "expected 1 to 64, or 0 for one a processor"},
		{[]string{"--lobbies", "2", "--lobby-workers", "65"}, "expected 1 to 64, or 0 for one a processor"},
		{[]string{"--lobby-workers", "2"}, "see --lobbies"},
		{[]string{"--lobbies", "2", "--lobby-workers", "2", "--tick-workers", "2"}, "exclude each other"},
	} {
		code, _, errs := result(t, append([]string{"serve"}, c.flags...)...)
		if code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%d: code %d, %q", i, code, errs)
		}
	}
}
