package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// Output that a full disk loses fails each command.
func TestLostOutputFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"--version"}, {"--help"}, {"serve", "config"}, {"plan", "scenarios"}, {"codec", "show"},
		{"token", "--server", "127.0.0.1:1"}, {"map", "check", "--players", "0", "gen:4:1"},
		{"completion", "bash"},
	} {
		if code, _, errs := result(t, args...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		cmd := command(t, args...)
		cmd.Stdout = full
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() == 0 {
			t.Errorf("%v > /dev/full: %v", args, err)
		}
	}
}

// brokenWriter fails while it is broken.
type brokenWriter struct {
	bytes.Buffer
	broken bool
}

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.broken {
		return 0, errors.New("broken")
	}
	return w.Buffer.Write(b)
}

// A log drops and counts lines that cannot be written, and never fails.
func TestLogDropsLines(t *testing.T) {
	for _, format := range []logFormat{logText, logJSON} {
		w := &brokenWriter{broken: true}
		log := format.logger(w)
		for range 3 {
			log.Info("lost")
		}
		w.broken = false
		log.Info("kept")
		if out := w.String(); !bytes.Contains(w.Bytes(), []byte("kept")) ||
			!bytes.Contains(w.Bytes(), []byte("3 lines")) || bytes.Contains(w.Bytes(), []byte("lost")) {
			t.Errorf("%s: %q", format, out)
		}
	}
}
