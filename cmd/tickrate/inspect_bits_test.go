package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/tickrate/tickrate/server/httpapi"
)

// outputAndCode runs a command and returns its output.
func outputAndCode(t *testing.T, c *exec.Cmd) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	_ = c.Run() // its code says it
	return o.String(), e.String(), c.ProcessState.ExitCode()
}

// The byte account of a simulated lobby has every bit, in text and JSON. Impossible lobbies are
// errors of use.
func TestInspectBits(t *testing.T) {
	out, errs, code :=
		outputAndCode(t, command(t, "inspect", "bits", "--players", "4", "--duration", "3s", "--json"))
	var b httpapi.Bandwidth
	if err := json.Unmarshal([]byte(out), &b); err != nil || code != 0 {
		t.Fatalf("%d %v: %s %s", code, err, out, errs)
	}
	bits, bytes := uint64(0), uint64(0)
	for _, c := range b.Cells {
		bits += c.Bits
	}
	for _, s := range b.Sections {
		bytes += s.Bytes
	}
	if bits != 8*b.Bytes || bytes != b.Bytes || b.Sampled != b.Datagrams ||
		b.Bytes == 0 || b.Snapshots < 100 {
		t.Errorf("%d bits, %d bytes: %s", bits, bytes, out)
	}
	if out, errs, code := outputAndCode(t,
		command(t, "inspect", "bits", "--players", "4", "--duration", "2s", "--codec", "range")); code != 0 ||
		!strings.Contains(out, "player") || !strings.Contains(out, "100.00") {
		t.Errorf("%d: %s %s", code, out, errs)
	}
	for _, args := range [][]string{{"bits", "--players", "0"}, {"bits", "--duration", "-1s"},
		{"bits", "--codec", "zip"}, {"why"}, {"why", "1", "2", "3"},
		{"why", "1", "chair:2"}, {"why", "1", "barrel:"}} {
		if out, errs, code := outputAndCode(t,
			command(t, append([]string{"inspect"}, args...)...)); code != 2 ||
			errs == "" {
			t.Errorf("%v: code %d, %s %s", args, code, out, errs)
		}
	}
}

// A running server returns its byte account and explanations, to requests with its secret.
func TestInspectARunningServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	cmd, r := readyServer(t, command(t, "serve", "--ready", "--players", "8",
		"--map", "arena-16", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--insecure-test-key", "--http-token", "0123456789abcdef"))
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	if out, errs, code := outputAndCode(t, command(t, "inspect", "bits", "--http", r.HTTP)); code != 0 ||
		!strings.Contains(out, "0 datagrams sent, 0 bytes in all; 0 of them, 0 bytes, accounted") {
		t.Errorf("%d: %s %s", code, out, errs)
	}
	if out, errs, code := outputAndCode(t,
		command(t, "inspect", "why", "--http", r.HTTP, "77", "78")); code != 1 ||
		!strings.Contains(errs, "401") {
		t.Errorf("without the secret %d: %s %s", code, out, errs)
	}
	if out, errs, code := outputAndCode(t, command(t, "inspect", "why", "--http", r.HTTP,
		"--http-token", "0123456789abcdef", "77", "78")); code != 1 || !strings.Contains(errs, "there is no such client") {
		t.Errorf("with the secret %d: %s %s", code, out, errs)
	}
	for _, args := range [][]string{{"77"}, {"77", "barrel:0"}, {"8.1"}, {"8.1", "3.1"}} {
		out, errs, code := outputAndCode(t,
			command(t, append([]string{"inspect", "why", "--http", r.HTTP, "--http-token", "0123456789abcdef"}, args...)...))
		if code != 1 || !strings.Contains(errs, "there is no such client") {
			t.Errorf("%v: %d: %s %s", args, code, out, errs)
		}
	}
}
