//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// endsBySignals sends signals until a command has ended.
func endsBySignals(t *testing.T, cmd *exec.Cmd, sig os.Signal, atMost int) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	for end := time.Now().Add(waitLimit); time.Now().Before(end); atMost-- {
		if atMost > 0 {
			_ = cmd.Process.Signal(sig)
		}
		select {
		case <-done:
			return
		case <-time.After(3 * oneSignal):
		}
	}
	t.Errorf("%v does not end %v", sig, cmd.Args[1:])
	_ = cmd.Process.Kill()
	<-done
}

// The second signal ends a command that waits for a file without its context.
func TestSecondSignalEnds(t *testing.T) {
	for _, args := range [][]string{{"replay"}, {"serve", "--config"}} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, append(args, fifo)...)
		hold, err := os.OpenFile(fifo, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(oneSignal)
		endsBySignals(t, cmd, os.Interrupt, 2)
		if how, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !how.Signaled() {
			t.Errorf("%v: %v, expected the end by a signal", args, cmd.ProcessState)
		}
		hold.Close()
	}
}

// One SIGTERM ends a server that is still making its map, without the minute that the map takes.
func TestSignalEndsStart(t *testing.T) {
	cmd := command(t, "serve", "--map", "town:4096:7", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(oneSignal)
	endsBySignals(t, cmd, syscall.SIGTERM, 1)
	if used := cmd.ProcessState.UserTime(); used > 10*time.Second {
		t.Errorf("the start went on for %v of processor time", used)
	}
}

// A server outlives the reader of its log.
func TestServerOutlivesItsLogReader(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "serve", "--ready", "--log", "json", "--console", "--map", "gen:4:1", "--players", "2",
		"--prefault=false", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	read.Close()
	for range 3 {
		if _, err := io.WriteString(in, "status\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	endsInTime(t, cmd, syscall.SIGTERM)
}
