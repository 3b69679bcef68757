package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The first SIGTERM begins the drain, the second one ends it; an interrupt ends at once.
func TestDrainSignals(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		ctx, drain, stop := drainSignals(t.Context())
		if err := self.Signal(first); err != nil {
			t.Skipf("this system cannot send %v: %v", first, err)
		}
		if first == syscall.SIGTERM {
			select {
			case <-drain:
			case <-time.After(waitLimit):
				t.Fatal("the first SIGTERM begins no drain")
			}
			if ctx.Err() != nil {
				t.Error("the first SIGTERM ends the server")
			}
			if err := self.Signal(first); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(waitLimit):
			t.Fatalf("%v does not end the server", first)
		}
		stop()
	}
}

// With --drain-for, SIGTERM ends a server without matches at once, with exit code 0.
func TestServeDrains(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	for _, lobbies := range []string{"0", "3:10"} {
		cmd, _ := readyServer(t, command(t, "serve", "--ready", "--players", "4", "--map", "arena-16",
			"--lobbies", lobbies, "--drain-for", "1m", "--prefault=false",
			"--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"))
		endsInTime(t, cmd, syscall.SIGTERM)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--drain-for 48h0m0s: expected at most 24h0m0s", []string{"--drain-for", "48h"}},
		{"--drain-for -1s: expected at most 24h0m0s", []string{"--drain-for", "-1s"}},
		{"leave out --echo", []string{"--drain-for", "1m", "--echo"}},
	} {
		code, _, errs := result(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--http", ""}, c.args...)...)
		if code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s", c.args, code, errs)
		}
	}
}
